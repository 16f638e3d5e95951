"""The reader that needs no key."""
