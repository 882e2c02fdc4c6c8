"""Learns a policy: records runs as launch graphs, and makes trials on these.

In: a function that makes root calls, and arguments for it. Out: a learned policy.
Nothing else depends on this folder.
"""
