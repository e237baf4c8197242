"""Procedural worlds: the same place for the same seed."""
