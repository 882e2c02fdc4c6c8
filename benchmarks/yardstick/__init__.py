"""What `python -m benchmarks` is made of.

`systems` says what is compared, and `agreement` whether it computes the same; `machine`
measures what the machine could do, and `bounds` what a work needs of that; `session`
measures all systems in turn; `breakdown` says where a step of ours spends its time;
`tables`, `chart` and `yardstick_page` show the result.
"""
