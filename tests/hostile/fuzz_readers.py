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


def reading(samples, errors, folder):
    """Returns what reads bytes, with the reader that the first of them chooses."""
    readers = list(samples)
    path = folder / "trees"

    def read(data):
        if not data:
            return
        path.write_bytes(data[1:])
        on_error = "skip" if data[0] >= 128 else "raise"
        with contextlib.suppress(*errors):
            reader = readers[data[0] % len(readers)]
            reader(path, on_error=on_error).load().validate(dag=True)

    return read


def write_corpus(samples, folder):
    folder.mkdir()
    for number, text in enumerate(samples.values()):
        for first in (number, number + 25 * len(samples)):
            (folder / f"{first}").write_bytes(bytes([first]) + text.encode())


def main(seconds):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import atheris

    with atheris.instrument_imports(include=["recursive_tf.data"]):
        from recursive_tf.data import ForestError, ReadError
    from tests.data.test_damage import SAMPLES

    logging.disable()  # Readers say what they leave out.
    folder = pathlib.Path(tempfile.mkdtemp())
    write_corpus(SAMPLES, folder / "corpus")
    options = [f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=8000"]
    options += ["-verbosity=0", "-print_final_stats=1", str(folder / "corpus")]
    read = reading(SAMPLES, (ReadError, ForestError), folder)
    atheris.Setup([sys.argv[0], *options], read)
    atheris.Fuzz()


if __name__ == "__main__":
    main(int(sys.argv[1]))
