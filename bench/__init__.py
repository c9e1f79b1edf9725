"""The scripts behind the figures in docs/figures.md. The docstring of each describes what it measures and its usage."""
