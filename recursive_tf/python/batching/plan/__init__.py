"""Second pass: what is computed together, and where each value stands.

In: a `FlatProgram`. Out: its ops, cut into stages and blocks, and a `Plan` without a
tensor in it, which C++ runs.
"""
