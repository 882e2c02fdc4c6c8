"""Coverage-guided fuzzing of the readers of trees, with Atheris.

Usage: python -m tests.hostile.fuzz_readers SECONDS. It needs Atheris: `pip install -e
'.[fuzz]'`. It changes bytes of the files in tests/data/test_damage.py, and keeps what
reaches new lines of the readers. A reader may raise its own error, and nothing else;
what it reads are trees.
"""

import contextlib
import logging
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import atheris

with atheris.instrument_imports(include=["recursive_tf.data"]):
    from recursive_tf.data import ForestError, ReadError

from tests.data.test_damage import SAMPLES

READERS = list(SAMPLES)
FOLDER = pathlib.Path(tempfile.mkdtemp())


def read(data: bytes) -> None:
    """Reads bytes with the reader that the first of them chooses."""
    if not data:
        return
    reader = READERS[data[0] % len(READERS)]
    path = FOLDER / "trees"
    path.write_bytes(data[1:])
    on_error = "skip" if data[0] >= 128 else "raise"
    with contextlib.suppress(ReadError, ForestError):
        reader(path, on_error=on_error).load().validate(dag=True)


def main(seconds: int) -> None:
    logging.disable()  # Readers say what they leave out.
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for number, reader in enumerate(READERS):
        for first in (number, number + 125):
            sample = bytes([first]) + SAMPLES[reader].encode()
            (corpus / f"{first}").write_bytes(sample)
    options = [f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=8000"]
    options += ["-verbosity=0", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], read)
    atheris.Fuzz()


if __name__ == "__main__":
    main(int(sys.argv[1]))
