"""Question → plan → hops → evidence → answer, with a trace of every step."""
