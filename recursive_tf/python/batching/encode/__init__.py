"""Last pass: plans and functions as attributes of a root op.

In: plans, blocks and their gradients. Out: numbers and names of functions, which C++
decodes.
"""
