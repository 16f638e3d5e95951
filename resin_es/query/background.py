"""How near a question lies to anything at all, by the encoder of second vectors.

A hit of the second vectors is told near or far by the others that it was found with. Of few there
is nothing to tell: the only document of its language is the nearest one for every question. Then
sentences stand in for them that have nothing to do with any question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resin_es.ports import Embedder
from resin_es.query.hop import LEXICAL

if TYPE_CHECKING:
    from resin_es.ports import Vectors

Elsewhere = Callable[[], Sequence[float]]
"""Cosines of a question with sentences that are about nothing that anybody asks, in [0, 1] as
Elasticsearch maps them; worked out when they are asked for."""

SENTENCES: tuple[str, ...] = (
    "Gestern hat es den ganzen Tag geregnet, und niemand ging aus dem Haus.",
    "Der Schlüssel liegt unter dem dritten Blumentopf.",
    "Für den Umzug haben wir einen kleinen Lastwagen gemietet.",
    "El tren salió con veinte minutos de retraso.",
    "A mi vecina le gusta pintar las puertas de azul en primavera.",
    "La reunión del comité se aplazó hasta el jueves.",
    "Il a oublié son parapluie dans le bus.",
    "Cette recette demande trois œufs et un peu de farine.",
    "Les élèves ont visité le musée avant les vacances.",
    "A biblioteca fecha mais cedo aos sábados.",
    "O preço do aluguel subiu duas vezes este ano.",
    "As crianças jogam bola na praça depois da escola.",
    "Kardeşim yeni bir bisiklet almak istiyor.",
    "Toplantı salonunun anahtarı kapıcıda duruyor.",
    "Dün akşam televizyonda eski bir film vardı.",
    "Магазин на углу закрыт до понедельника.",
    "Она написала длинное письмо своему брату.",
    "Зимой дорога к деревне часто бывает занесена снегом.",
    "Dia lupa mematikan lampu sebelum tidur.",
    "Harga beras di pasar naik lagi minggu ini.",
    "Kami menunggu bus di depan kantor pos.",
    "他每天早上在公园里散步半个小时。",
    "会议室在三楼，电梯右边。",
    "这家商店卖便宜的鞋子和雨伞。",
    "نسي المعلم نظارته على الطاولة.",
    "وصلت الرسالة بعد أسبوعين من إرسالها.",
)

_kept: dict[tuple[str, int], Vectors] = {}


def elsewhere(body: Mapping[str, Any], second: Embedder | None) -> Elsewhere | None:
    """The cosines of the question that a hop's ``body`` asks by a second vector. None where it asks
    by none, and for a hop that was narrowed to what names lead to: all of that is related."""
    knn = body["knn"]
    narrowed = body["query"]["bool"]["must"][0]["bool"].get("_name") != LEXICAL
    if second is None or isinstance(knn, Mapping) or narrowed:
        return None
    return lambda: _cosines(second, knn[1]["query_vector"])


def _cosines(encoder: Embedder, vector: Sequence[float]) -> list[float]:
    """Raises ModelError, ModelUnavailable."""
    key = (encoder.identity.name, encoder.identity.dims)
    if key not in _kept:  # two at once make the same
        _kept[key] = encoder.embed(SENTENCES)
    return [float((1.0 + cosine) / 2.0) for cosine in _kept[key] @ vector]
