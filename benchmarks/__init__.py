"""Measurements: every benchmark checks the answer that it times."""
