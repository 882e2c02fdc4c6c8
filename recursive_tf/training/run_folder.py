"""The folder of a run, and what is in it."""

import contextlib
import dataclasses
import pathlib

import keras

from recursive_tf.training import best, record
from recursive_tf.training.files import RunError, replaced
from recursive_tf.training.record import Line


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """Where a run keeps its files.

    >>> RunFolder("runs/a").metrics
    PosixPath('runs/a/metrics.jsonl')

    Attributes:
        path: Of the folder; a str is made a path.
    """

    path: pathlib.Path

    def __post_init__(self) -> None:
        """Makes a path of a str."""
        object.__setattr__(self, "path", pathlib.Path(self.path))

    @property
    def settings(self) -> pathlib.Path:
        """All settings of the run."""
        return self.path / "settings.json"

    @property
    def order(self) -> pathlib.Path:
        """Of how many trees in which order the run is."""
        return self.path / "order.json"

    @property
    def metrics(self) -> pathlib.Path:
        """A line an epoch."""
        return self.path / "metrics.jsonl"

    @property
    def best(self) -> pathlib.Path:
        """The model of the best epoch, as Keras saves it."""
        return self.path / "best.keras"

    @property
    def last(self) -> pathlib.Path:
        """The folder of what training goes on from."""
        return self.path / "last"

    @property
    def curve(self) -> pathlib.Path:
        """The picture."""
        return self.path / "curve.png"

    @property
    def tensorboard(self) -> pathlib.Path:
        """The folder of what TensorBoard shows."""
        return self.path / "tensorboard"

    @property
    def lock(self) -> pathlib.Path:
        """What the process that writes all this holds as long as it runs."""
        return self.path / "lock"

    @property
    def logs(self) -> pathlib.Path:
        """The folder of what each process says, if there are several here."""
        return self.path / "logs"

    @property
    def words(self) -> pathlib.Path:
        """The vocabulary, a word a line."""
        return self.path / "words.txt"

    def remove_if_empty(self) -> None:
        """Removes the folder, if nothing is in it."""
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def epochs(self) -> list[Line]:
        """Returns what the record says of each epoch that is done."""
        return record.read(self.metrics)

    def load_best(self) -> keras.Model:
        """Returns the model of the best epoch.

        Raises:
            RunError: If the file is damaged or not there.
        """
        return best.load(self.best)

    def save_words(self, words: keras.layers.StringLookup) -> None:
        """Writes a vocabulary.

        Args:
            words: Numbered as `rtf.data.vocabulary` does: with 0 for `""`, and 1 for
                all words that are not known.

        Raises:
            ValueError: If it numbers them in another way, or a word has a line break:
                then `load_words` would give others.
        """
        known = words.get_vocabulary(include_special_tokens=False)
        if words.mask_token != "" or words.num_oov_indices != 1:
            raise ValueError(
                "save_words keeps a vocabulary in which 0 stands for no word and 1 for "
                "an unknown one. Make it with rtf.data.vocabulary, or with "
                'StringLookup(mask_token=""). Got '
                f"mask_token={words.mask_token!r}, "
                f"num_oov_indices={words.num_oov_indices}."
            )
        broken = [str(word) for word in known if "\n" in word]
        if broken:
            raise ValueError(
                f"save_words writes a word a line, and {broken[0]!r} has a line break. "
                "Replace line breaks in the tokens before you make the vocabulary."
            )
        with replaced(self.words) as new:
            new.write_text("".join(f"{word}\n" for word in known), encoding="utf-8")

    def load_words(self) -> keras.layers.StringLookup:
        """Returns the vocabulary that was written.

        Raises:
            RunError: If the file is damaged or not there.
        """
        cure = "write it again with save_words: scripts do so when the run goes on"
        try:
            text = self.words.read_bytes().decode()
        except FileNotFoundError:
            raise RunError(
                f"{self.words} is not there. Put back a copy of it, or {cure}."
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise RunError.damaged(self.words, error, cure) from None
        # Words may hold any space but this one.
        *words, rest = text.split("\n")
        if rest or not words or len(set(words)) < len(words):
            raise RunError.damaged(
                self.words, "it is cut, or not what was written", cure
            )
        return keras.layers.StringLookup(vocabulary=words, mask_token="")
