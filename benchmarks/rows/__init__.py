"""Rows of `python -m benchmarks.calls`: each a file with `measure(effort)`."""
