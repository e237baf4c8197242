"""What every package shares: compiling, checks, files, threads, locks and small array helpers."""
