"""The packages: what is installed, how it is proved, which rows it gives."""

from __future__ import annotations

from collections.abc import Mapping

from resin_es.model.base import Frozen


class ExternalPackage(Frozen):
    """A package to install. ``steps`` are argument lists of ``pip install``, in order;
    ``proof`` is code that its Python must run for the installation to count; ``megabytes`` what
    the environment takes on disk, about."""

    name: str
    version: str
    steps: tuple[tuple[str, ...], ...]
    proof: str
    runner: str
    megabytes: int


class ExternalRow(Frozen):
    """A row of an evaluation by one of the packages. ``options`` go to its runner."""

    name: str
    label: str
    about: str
    package: str
    options: Mapping[str, str] = {}


PACKAGES: Mapping[str, ExternalPackage] = {
    package.name: package
    for package in (
        ExternalPackage(
            name="lightrag",
            version="1.5.7",
            # its OpenAI binding installs `openai` by itself on import if it is not there
            steps=(("lightrag-hku==1.5.7", "openai>=2,<4"),),
            proof="import lightrag, lightrag.llm.openai",
            runner="run_lightrag.py",
            megabytes=400,
        ),
        ExternalPackage(
            name="graphrag",
            version="3.3.0",
            steps=(("graphrag==3.3.0",),),
            proof="import graphrag.api",
            runner="run_graphrag.py",
            megabytes=1600,
        ),
        ExternalPackage(
            name="hipporag",
            version="2.0.0a4",
            # All that it declares (vllm, torch with CUDA, gritlm) serves models on a GPU of
            # one's own. With an endpoint it needs these; decision 0043.
            steps=(
                ("--no-deps", "hipporag==2.0.0a4"),
                (
                    "openai==1.109.1",
                    "litellm==1.80.0",
                    "networkx==3.4.2",
                    "python-igraph==0.11.8",
                    "tiktoken>=0.7",
                    "tenacity==8.5.0",
                    "transformers==4.45.2",
                    "boto3",
                    "filelock",
                    "numpy>=2,<3",
                    "pandas>=2.2,<3",
                    "pyarrow",
                    "scipy",
                    "tqdm",
                ),
            ),
            proof="import igraph, openai, transformers",
            runner="run_hipporag.py",
            megabytes=900,
        ),
    )
}

ROWS: Mapping[str, ExternalRow] = {
    row.name: row
    for row in (
        ExternalRow(
            name="graphrag-local",
            label="GraphRAG local",
            about="Entities near the question, and the text units of their neighbourhood.",
            package="graphrag",
            options={"mode": "local"},
        ),
        ExternalRow(
            name="graphrag-global",
            label="GraphRAG global",
            about="Points that a model draws from the reports on all communities of the graph.",
            package="graphrag",
            options={"mode": "global"},
        ),
        ExternalRow(
            name="lightrag",
            label="LightRAG",
            about="Entities and relations by keywords of two levels, joined with dense chunks.",
            package="lightrag",
            options={"mode": "mix"},
        ),
        ExternalRow(
            name="hipporag2",
            label="HippoRAG 2",
            about="Passages by personalised PageRank from the facts that a model lets pass.",
            package="hipporag",
        ),
    )
}
