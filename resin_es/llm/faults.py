"""Short names of what a model does wrong, as reports count them."""

from __future__ import annotations

TRUNCATED = "truncated"
"""The output ran into its room."""
SPLIT = "split"
"""An input was halved, since its output did not fit. A departure from one passage, one input:
the parts keep the passage's id."""
REFUSED = "refused"
EMPTY = "empty"
"""Nothing came back."""
NOT_JSON = "not-json"
REPAIRED_JSON = "repaired-json"
"""Broken JSON that could be mended."""
WRONG_SHAPE = "wrong-shape"
"""JSON, but not of the stage's form."""
FAILED = "call-failed"
"""The call itself failed, after its retries."""
UNKNOWN_SENTENCE = "unknown-sentence"
"""A label that no sentence has."""
NO_PASSAGES = "no-passages"
"""A window without a single passage that could be used."""
UNKNOWN_ROLE = "unknown-role"
"""A passage with a role that there is not; it stands as ``other``."""

SAID = {
    TRUNCATED: "the answer did not fit into {room} tokens, and a single sentence cannot be split; "
    "this model is not asked for it again",
    REFUSED: "the model declined to answer",
    EMPTY: "the model answered nothing",
    NOT_JSON: "the model's answer was not JSON",
    WRONG_SHAPE: "the model's answer had another form than asked for",
    NO_PASSAGES: "the model named no passage that there is",
}
"""What people are told where it could not be put right."""
