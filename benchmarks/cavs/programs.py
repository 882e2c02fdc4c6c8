"""All programs, in the order of the paper."""

from benchmarks.cavs import fixed_lstm, tree_fc, tree_lstm, var_lstm

PROGRAMS = [module.PROGRAM for module in (fixed_lstm, var_lstm, tree_fc, tree_lstm)]
