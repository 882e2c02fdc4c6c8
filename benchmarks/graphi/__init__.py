"""The four networks of Graphi (Tang et al. 2018): many branches, no recursion."""
