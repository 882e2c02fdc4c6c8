"""What people read of a program and its runs: `explain` and `trace`.

In: a SubGraph, or the op of a root call, and what runs report to C++. Out: words and
figures. Nothing else depends on this folder.
"""
