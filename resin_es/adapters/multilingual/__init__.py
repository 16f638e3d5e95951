"""multilingual-e5-small out of a package's weights (docs/decisions/0069-second-encoder-weights.md).

``python -m resin_es.adapters.multilingual`` prints the folder that it is loaded from.
"""

from resin_es.adapters.multilingual.encoder import IDENTITY, MultilingualE5, installed

__all__ = ["IDENTITY", "MultilingualE5", "installed"]
