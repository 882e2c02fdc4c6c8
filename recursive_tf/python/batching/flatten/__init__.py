"""First pass: a closed program without nesting.

In: the graphs of a program's procedures. Out: a `FlatProgram`, in which everything that
may wait is a procedure, and it is known which values are rows, and which lists.
"""
