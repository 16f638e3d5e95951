"""All network and model I/O. Only ``bootstrap`` imports from here."""
