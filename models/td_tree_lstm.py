"""TD-TreeLSTM, which gives dependency trees a probability, and makes new ones.

    python -m models.td_tree_lstm                # on sentences that it generates
    python -m models.td_tree_lstm --data=ud      # on ud/train.conllu, ud/dev.conllu
    python -m models.td_tree_lstm --data=sst     # on sst/train.txt, converted
    python -m models.td_tree_lstm --mode=predict --checkpoint_dir=... 3 sings

The last line makes three new trees, and one with the root "sings"; a file *.conllu has
trees that it goes on with. `--mode=evaluate` also prints the perplexities of a unigram
and of a bigram, a word after its head.

Zhang, Lu, Lapata. Top-down Tree Long Short-Term Memory Networks. NAACL 2016; with
`--left_dependents` their LdTreeLSTM. docs/models.md has what it reaches.
"""

import dataclasses

from models.dependency.settings import DependencySettings
from models.dependency.task import Dependencies
from models.running import script

# The batch size is the paper's, which trains on far more text; the rest is ours.
TREEBANK = DependencySettings(
    epochs=12,
    batch_size=64,
    learning_rate=0.002,
    hidden=150,
    dropout=0.4,
)
GENERATED = dataclasses.replace(
    TREEBANK, epochs=8, batch_size=25, learning_rate=0.005, hidden=64, dropout=0.0
)

TASK = Dependencies("td_tree_lstm", GENERATED, TREEBANK)

if __name__ == "__main__":
    script.run(TASK)
