"""How operations are given to threads: schedules, and what profiles say of them.

In: a function of TensorFlow, and arguments for it. Out: the same function on teams of
threads, the times of its operations, and how long it would take on other teams. It
knows nothing of programs.
"""
