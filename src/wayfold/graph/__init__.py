"""Graphs in flat arrays, and the searches that the whole package shares."""
