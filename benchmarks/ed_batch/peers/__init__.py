"""ED-Batch's workloads by other systems, with the same weights.

A file is a system, with the command line of `benchmarks.peers.command`. What they
compute is in `benchmarks.works`; `python -m benchmarks.ed_batch.peers` measures them in
turn. TreeLSTM's peers are those of the yardstick. MV-RNN, two kinds of node and
lattices have none.
"""
