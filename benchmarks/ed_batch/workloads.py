"""All workloads, in the order of the tables."""

from benchmarks.ed_batch import (
    bilstm_char_tagger,
    bilstm_tagger,
    lattice_gru,
    lattice_lstm,
    lstm_nmt,
    mv_rnn,
    tree_gru,
    tree_lstm,
    tree_lstm_two_kinds,
)

WORKLOADS = [
    module.WORKLOAD
    for module in (
        bilstm_tagger,
        bilstm_char_tagger,
        lstm_nmt,
        tree_lstm,
        tree_gru,
        mv_rnn,
        tree_lstm_two_kinds,
        lattice_lstm,
        lattice_gru,
    )
]
