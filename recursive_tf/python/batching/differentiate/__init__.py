"""Fourth pass: the gradient of each block.

In: a vectorized block. Out: a `TrainingBlock`: the block with what it keeps, the part
that runs for each launch, and the part that is deferred to the end.
"""
