"""Third pass: each block for many rows, and what no row changes for all of them.

In: a `Block`, op by op. Out: a graph of rows, made by a rule for each type of op, and
the prologue that it takes tensors of.
"""
