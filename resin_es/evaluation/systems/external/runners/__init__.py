"""Scripts that the environments of other packages run. Nothing here is imported by resin-es, and
nothing here may import it: their Python does not have it."""
