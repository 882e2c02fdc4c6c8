"""The four networks, by name."""

from benchmarks.graphi import google_net, lstm, path_net, phased_lstm

KINDS = {
    each.KIND.name: each.KIND for each in (lstm, phased_lstm, path_net, google_net)
}
