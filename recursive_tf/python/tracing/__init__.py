"""Tracing: what a user writes becomes graphs of bodies.

In: Python code that is run once, in a `with` block or as a function. Out: a function
graph for each body, in which calls, maps and pushes are ops without kernels, and the
signature of its SubGraph.
"""
