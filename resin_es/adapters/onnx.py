"""all-MiniLM-L6-v2, or an encoder of one's own, by ONNX Runtime: light, no torch.

The graph gives one vector per word piece; pooled over the pieces of a text as the model's own files
lay down (see ``encoder``; for MiniLM their mean), and brought to length 1, they make the text's
vector. onnxruntime and tokenizers are imported at first use.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resin_es.adapters import minilm
from resin_es.adapters.encoder import Encoder, described, extra_modules
from resin_es.errors import ModelError, ModelUnavailable
from resin_es.ports import ModelIdentity

if TYPE_CHECKING:
    from resin_es.ports import Vectors

RUNTIME = "onnx"
POOLINGS = ("mean", "cls", "lasttoken")
_PIP = "Install it with: pip install 'resin-es[local]'"


class OnnxEmbedder:
    """Embedder over an ONNX graph and its ``tokenizer.json``.

    ``model_path``: None for the default copy (see ``minilm``), the hub name
    ``sentence-transformers/all-MiniLM-L6-v2`` for the hub's, a folder (``model.onnx`` or
    ``onnx/model.onnx``, with ``tokenizer.json`` and the configuration files that say how texts
    are treated) or a graph file. ``threads``: batches worked on at a time, None for as many as
    this process has cores. ``max_tokens_per_batch`` and ``max_length`` (None: as the model's files
    say) count word pieces. ``name``: the identity of a model of one's own; by default its folder's
    name.
    """

    def __init__(
        self,
        model_path: str | Path | None = None,
        tokenizer_path: str | Path | None = None,
        threads: int | None = None,
        max_tokens_per_batch: int = 256,
        max_length: int | None = None,
        name: str = "",
    ) -> None:
        self._model_path = model_path
        self._tokenizer_path = tokenizer_path
        self._threads = threads or _cores()
        self._max_tokens = max_tokens_per_batch
        self._max_length = max_length
        self._name = name

    @cached_property
    def identity(self) -> ModelIdentity:
        """Costs nothing for the default model; a model of one's own is loaded for its dims.

        Raises ModelUnavailable.
        """
        if self._is_default:
            return ModelIdentity(name=minilm.MODEL_NAME, dims=minilm.DIMS, runtime=RUNTIME)
        name = self._encoder.named(self._own_name)
        return ModelIdentity(name=name, dims=self._session_dims(), runtime=RUNTIME)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dims), float32, rows of length 1. Texts beyond the model's length
        in word pieces are cut there, as the original does.

        Raises ModelUnavailable, ModelError.
        """
        return self._embed(self._encoder.passage_prefix, texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As ``embed``, for questions. Raises ModelUnavailable, ModelError."""
        return self._embed(self._encoder.query_prefix, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        import numpy as np

        out = np.zeros((len(texts), self.identity.dims), dtype=np.float32)
        if not texts:
            return out
        ids = self._tokenize([prefix + text for text in texts])
        batches = minilm.token_batches([len(row) for row in ids], self._max_tokens)
        session = self._session

        def work(batch: list[int]) -> None:
            out[batch] = self._run(session, [ids[position] for position in batch])

        # One thread per batch and one core per thread: measured faster than several cores
        # within each small batch, which spend their time waiting for each other.
        with ThreadPoolExecutor(min(self._threads, len(batches))) as pool:
            for _ in pool.map(work, batches):
                pass
        return out

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        try:
            encodings = self._tokenizer.encode_batch_fast([minilm.readable(t) for t in texts])
        except Exception as error:
            raise ModelError(f"The tokenizer of {self.identity.name} failed: {error}") from error
        return [encoding.ids for encoding in encodings]

    def _run(self, session: Any, rows: Sequence[list[int]]) -> Vectors:
        import numpy as np

        width = max(len(row) for row in rows)
        ids = np.zeros((len(rows), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for position, row in enumerate(rows):
            ids[position, : len(row)] = row
            mask[position, : len(row)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            (states, *_) = session.run(None, {name: feeds[name] for name in self._inputs})
        except Exception as error:
            raise ModelError(f"ONNX Runtime failed on {len(rows)} texts: {error}") from error
        return pooled(states, mask, self._encoder.pooling)

    @property
    def _is_default(self) -> bool:
        return self._model_path is None or str(self._model_path) == minilm.HUB_NAME

    @cached_property
    def _own_name(self) -> str:
        return self._name or self._files[1].parent.resolve().name

    @cached_property
    def _encoder(self) -> Encoder:
        """How the model wants its texts. Raises ModelUnavailable where this runtime can't."""
        found = Encoder() if self._is_default else readable_here(self._files[0], self._own_name)
        length = self._max_length or found.max_length
        return found.model_copy(update={"max_length": length})

    @cached_property
    def _inputs(self) -> tuple[str, ...]:
        return tuple(node.name for node in self._session.get_inputs())

    def _session_dims(self) -> int:
        return int(self._session.get_outputs()[0].shape[-1])

    @cached_property
    def _files(self) -> tuple[Path, Path]:
        if self._model_path is None:
            graph, tokenizer = minilm.onnx_files()
        elif str(self._model_path) == minilm.HUB_NAME:
            graph, tokenizer = minilm.onnx_files_from_hub()
        else:
            graph, tokenizer = own_files(Path(self._model_path))
        return graph, Path(self._tokenizer_path) if self._tokenizer_path else tokenizer

    @cached_property
    def _session(self) -> Any:
        graph = self._files[0]
        try:
            import onnxruntime
        except ImportError as error:
            raise ModelUnavailable("onnxruntime is not installed.", hint=_PIP) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # Batches differ in shape each time: a plan of memory per shape only costs.
        options.enable_mem_pattern = False
        try:
            return onnxruntime.InferenceSession(
                str(graph), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ModelUnavailable(
                f"ONNX Runtime cannot load {graph}: {error}", hint=minilm.HINT
            ) from error

    @cached_property
    def _tokenizer(self) -> Any:
        path = self._files[1]
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise ModelUnavailable("tokenizers is not installed.", hint=_PIP) from error
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:
            raise ModelUnavailable(
                f"The tokenizer {path} cannot be loaded: {error}", hint=minilm.HINT
            ) from error
        # MiniLM's file asks for 128 pieces and fixed padding; it was made to read 256.
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._encoder.max_length)
        return tokenizer


def pooled(states: Any, mask: Any, pooling: str = "mean") -> Vectors:
    """The word pieces' vectors (n, pieces, dims), under ``mask`` (n, pieces), made one of length
    1 a text: their mean, the first one (``cls``) or the last one (``lasttoken``). A graph that
    pools by itself gives (n, dims), which is only normalised."""
    import numpy as np

    if states.ndim == 3 and pooling == "cls":
        states = states[:, 0, :]
    elif states.ndim == 3 and pooling == "lasttoken":
        states = states[np.arange(len(states)), mask.sum(axis=1) - 1, :]
    elif states.ndim == 3:
        weights = mask[:, None, :].astype(states.dtype)
        states = np.matmul(weights, states)[:, 0, :] / mask.sum(axis=1, keepdims=True)
    norms = np.linalg.norm(states, axis=1, keepdims=True)
    result: Vectors = (states / np.maximum(norms, 1e-12)).astype(np.float32)
    return result


def readable_here(graph: Path, name: str) -> Encoder:
    """The description of the model around ``graph``: in its folder, or in the one above where
    the graph has a folder to itself.

    Raises ModelUnavailable where this runtime can't do what the model asks for.
    """
    folder = graph.parent.parent if graph.parent.name == "onnx" else graph.parent
    found = described(folder, name)
    lacking = [*extra_modules(folder)]
    if found.pooling not in POOLINGS:
        lacking.append(f"pooling by {found.pooling}")
    if lacking:
        raise ModelUnavailable(
            f"The model {name} needs what the ONNX runtime lacks: {', '.join(lacking)}.",
            hint="Use RESIN_EMBEDDER=sentence-transformers for it.",
        )
    return found


def own_files(path: Path) -> tuple[Path, Path]:
    """(graph, tokenizer) of a folder or a graph file of the user's own.

    Raises ModelUnavailable.
    """
    candidates = [path] if path.is_file() else [path / "model.onnx", path / "onnx" / "model.onnx"]
    graph = next((candidate for candidate in candidates if candidate.is_file()), None)
    if graph is None:
        raise ModelUnavailable(
            f"No ONNX model at {path}.",
            hint="Name a .onnx file, or a folder with model.onnx and tokenizer.json.",
        )
    beside = [graph.parent / minilm.TOKENIZER, graph.parent.parent / minilm.TOKENIZER]
    tokenizer = next((candidate for candidate in beside if candidate.is_file()), beside[0])
    return graph, tokenizer


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
