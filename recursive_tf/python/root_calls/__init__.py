"""Root calls: a closed program becomes one op of the graph around it.

In: a closed program, what the user chose, and arguments. Out: the outputs of a
`RecursiveInvoke` or `RecursiveInvokeBatched` op, which carries the program.
"""
