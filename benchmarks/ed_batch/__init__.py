"""The workloads of ED-Batch (Chen et al. 2023, table 1), written as a user would.

A workload is a file with a model in it, which knows nothing of batching: `workloads.py`
lists them. `launches.py` counts launches by policy (figure 7), `times.py` measures
(figures 6 and 9), and `page.py` says what was found. `latency.py` has the settings of
table 3, `layout.py` plans where rows would stand in memory, `row_order.py` measures
what that would bring, and `peers` has the workloads in other systems.
"""
