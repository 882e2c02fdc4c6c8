"""All workloads, in the order of the tables."""

from benchmarks.ed_batch import (
    lattice_lstm,
    mv_rnn,
    tree_gru,
    tree_lstm,
    tree_lstm_two_kinds,
)

WORKLOADS = [
    module.WORKLOAD
    for module in (
        tree_lstm,
        tree_gru,
        mv_rnn,
        tree_lstm_two_kinds,
        lattice_lstm,
    )
]
