"""The four networks of Graphi (Tang et al. 2018): independent branches, no recursion."""
