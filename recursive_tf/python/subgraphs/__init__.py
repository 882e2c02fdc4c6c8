"""What a user writes: `SubGraph`, `@subgraph`, memoized ones.

In: bodies, and arguments of calls. Out: while a body is traced, an op that stands for
the call; elsewhere what a root call of the closed program gives.
"""
