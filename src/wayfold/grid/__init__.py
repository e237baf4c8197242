"""Grid maps."""
