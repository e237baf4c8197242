"""Graph kernels."""
