"""`python -m benchmarks`: our programs, their peers and the machine's limit, in one run.

`systems` says what is compared; `served` is one of them in a process of its own;
`machine` measures what the machine could do, and `bounds` what a work needs of that;
`session` measures all of it in turn; `breakdown` says where a step of ours spends its
time; `pages` and `chart` show the result.
"""
