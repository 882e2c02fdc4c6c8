"""Pretrained vectors of a treebank's words, from a package that ships some: wordllama.

    pip install wordllama
    python -m benchmarks.accuracy.packaged_vectors sst vectors.txt
    python -m benchmarks.accuracy --data sst --models tree_lstm --vectors vectors.txt

It is for those who cannot download GloVe's. The package has a vector of 256 numbers for
each of 32,000 pieces of words. The vector of a word, in lower case, is the mean of
those of its pieces.
"""

from __future__ import annotations

import importlib.util
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Sequence

import numpy as np

TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
WEIGHTS = "weights/l2_supercat_256.safetensors"
_LEAF = re.compile(r" ([^()\s]+)\)")

Pieces = Callable[[str], Sequence[int]]


def words_of(folder: pathlib.Path) -> list[str]:
    """Returns the words of all splits that a folder has, in lower case."""
    texts = (file.read_text(encoding="utf-8") for file in folder.glob("*.txt"))
    return sorted({word.lower() for text in texts for word in _LEAF.findall(text)})


def lines_of(words: Iterable[str], pieces: Pieces, table: np.ndarray) -> list[str]:
    """Returns a word and its vector a line, as GloVe's files have them.

    Args:
        words: Without spaces.
        pieces: Returns the rows of a word's pieces; words without any are left out.
        table: float[pieces, dimension].
    """
    rows = ((word, list(pieces(word))) for word in words)
    vectors = ((word, table[found].mean(0)) for word, found in rows if found)
    return [" ".join([word, *(f"{x:.4f}" for x in v)]) for word, v in vectors]


def main(arguments: Sequence[str]) -> None:
    """Writes the file."""
    folder, file = map(pathlib.Path, arguments)
    pieces, table = _packaged()
    lines = lines_of(words_of(folder), pieces, table)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{file}: {len(lines)} vectors of {table.shape[1]} numbers")


def _packaged() -> tuple[Pieces, np.ndarray]:
    found = importlib.util.find_spec("wordllama")
    if found is None or found.origin is None:
        sys.exit("Install what has the vectors: pip install wordllama")
    # Packages that it brings with it. It is not imported: it would ask the network.
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    package = pathlib.Path(found.origin).parent
    tokenizer = Tokenizer.from_file(str(package / TOKENIZER))
    (table,) = load_file(package / WEIGHTS).values()

    def pieces(word: str) -> Sequence[int]:
        return tokenizer.encode(word, add_special_tokens=False).ids

    return pieces, table.astype(np.float32)


if __name__ == "__main__":
    main(sys.argv[1:])
