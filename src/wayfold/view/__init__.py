"""Pictures of maps and paths."""
