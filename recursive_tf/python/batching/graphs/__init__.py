"""Small rewrites of one graph, which know nothing of programs.

In: a function graph, some of its shapes counted by primes. Out: one that computes the
same with fewer ops, or for any number of rows.
"""
