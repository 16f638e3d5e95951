"""Names the packages; everything else stands in pyproject.toml.

``workers/``, ``api/`` and ``mappings/`` stand at the top of the repository but install below
``resin_es``, since bare names like ``api`` would collide with users' own packages.
"""

from __future__ import annotations

from setuptools import find_packages, setup

MAPPED = {
    "resin_es.workers": "workers",
    "resin_es.api": "api",
    "resin_es.mappings": "mappings",
}

packages = find_packages(include=["resin_es", "resin_es.*"])
for name, folder in MAPPED.items():
    packages += [name, *(f"{name}.{below}" for below in find_packages(folder))]

setup(packages=packages, package_dir={"": ".", **MAPPED})
