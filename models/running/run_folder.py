"""The folder of a run, and what is in it."""

import dataclasses
import pathlib

import keras


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """Where a run keeps its files."""

    path: pathlib.Path

    @property
    def settings(self) -> pathlib.Path:
        """All settings of the run."""
        return self.path / "settings.json"

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
    def logs(self) -> pathlib.Path:
        """The folder of what each process says, if there are several here."""
        return self.path / "logs"

    @property
    def _words(self) -> pathlib.Path:
        return self.path / "words.txt"

    def save_words(self, words: keras.layers.StringLookup) -> None:
        """Writes a vocabulary, a word a line."""
        known = words.get_vocabulary(include_special_tokens=False)
        text = "".join(f"{word}\n" for word in known)
        self._words.write_text(text, encoding="utf-8")

    def load_words(self) -> keras.layers.StringLookup:
        """Returns the vocabulary that was written."""
        # Words may hold any space but this one.
        words = self._words.read_text(encoding="utf-8").split("\n")[:-1]
        return keras.layers.StringLookup(vocabulary=words, mask_token="")
