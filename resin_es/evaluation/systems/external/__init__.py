"""Other people's systems as rows, each through its own package in an environment of its own.

``packages`` says what is installed, ``environment`` installs it, ``jobs`` is what a runner (a
script that the environment's Python runs; ``runners/``) reads and writes, ``running`` starts and
watches it, ``embedding`` lends it our encoder, ``mapping`` finds what it returned in the
documents, ``systems`` makes a row of it.
"""
