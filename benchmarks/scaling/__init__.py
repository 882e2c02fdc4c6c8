"""Training shared among machines: what is measured here, and what a model says of more.

See docs/distributed.md, section "Scaling".
"""
