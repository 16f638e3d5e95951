"""Without second vectors, an evaluation's row does not even ask for them."""

from __future__ import annotations

from resin_es.index.filters import Filters
from resin_es.model import Principal
from resin_es.query.planner import one_hop
from resin_es.query.searching import Searching
from resin_es.query.settings import QuerySettings
from resin_es.testing.hash_embedder import HashEmbedder
from resin_es.testing.scripted_store import ScriptedStore


class Asked(ScriptedStore):
    """A store that would have them."""

    looked = 0

    def second_encoder(self, principal: Principal) -> HashEmbedder:
        self.looked += 1
        return HashEmbedder(8)


def clauses(store: Asked, *, on: bool) -> object:
    settings = QuerySettings(second_vectors=on)
    run = Searching(store, HashEmbedder(16), settings, Principal(), Filters())
    question = "Where does Line B end?"
    return run.first(question, one_hop(question))[0].body["knn"]


def test_the_switch_leaves_one_clause_and_no_look() -> None:
    store = Asked()
    assert isinstance(clauses(store, on=False), dict)
    assert store.looked == 0
    assert isinstance(clauses(store, on=True), list)
    assert store.looked == 1
