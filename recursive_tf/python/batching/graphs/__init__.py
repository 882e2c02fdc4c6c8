"""Small rewrites of one graph, which know nothing of programs.

In: a function graph, some of its shapes counted by primes. Out: drafts that compute the
same with fewer ops, or for any number of rows, and a graph of these.
"""
