"""Training shared among machines: what one and two workers take here.

See docs/distributed.md, section "Scaling".
"""
