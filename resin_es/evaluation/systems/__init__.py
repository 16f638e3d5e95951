"""The systems that an evaluation compares, a row each."""
