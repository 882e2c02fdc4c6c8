"""ED-Batch's workloads by other systems, with the same weights.

A file is a system, with the command line of `benchmarks.peers.command`; DyNet's takes
its programs from others. What they compute is in `benchmarks.works`;
`python -m benchmarks.ed_batch.peers` measures them in turn. TreeLSTM's peers are those
of the yardstick. By hand there are sequences alone.
"""
