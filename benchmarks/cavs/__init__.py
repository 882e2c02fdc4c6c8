"""The programs of Cavs (Xu et al. 2018, section 5), each in two forms.

A program is a file with a vertex function, and with a SubGraph that computes the same
with the same weights: `programs.py` lists them. `times.py` measures both in turn, and
`page.py` says what was found.
"""
