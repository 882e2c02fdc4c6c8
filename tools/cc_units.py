"""Groups sources into units, so that what all of them include is compiled once.

Headers take most of the time that a source of the library takes to compile, above all
TensorFlow's: they are the same for each of them. A unit is a generated file that
includes some sources, one after the other. A source still has to make sense by itself:
Bazel and clang-tidy compile each one alone.
"""

import dataclasses
import pathlib

from cc_build import ROOT

# More make a change of one of them slower to compile; less, a build from nothing.
SOURCES_A_UNIT = 24


@dataclasses.dataclass(frozen=True)
class Unit:
    """Sources of one folder that are compiled together; paths are relative to ROOT."""

    sources: tuple[pathlib.Path, ...]

    @property
    def name(self) -> pathlib.Path:
        """A path without a suffix, e.g. `recursive_tf/cc/tf/call-guards`."""
        first, last = self.sources[0], self.sources[-1]
        stem = first.stem if first == last else f"{first.stem}-{last.stem}"
        return first.with_name(stem)

    def write(self, folder: pathlib.Path) -> pathlib.Path:
        """Writes what the compiler reads, unless it is there.

        Args:
            folder: Where generated files go, e.g. `build/library`.

        Returns:
            The file, relative to ROOT: the source itself, if it is alone.
        """
        if len(self.sources) == 1:
            return self.sources[0]
        path = folder / self.name.with_suffix(".cc")
        text = "".join(f'#include "{source}"\n' for source in self.sources)
        # A file that is written again is newer, and would be compiled again.
        if not (ROOT / path).exists() or (ROOT / path).read_text() != text:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text)
        return path


def units(sources: list[str]) -> list[Unit]:
    """Returns units of about SOURCES_A_UNIT neighbors each, all of one folder."""
    folders: dict[pathlib.Path, list[pathlib.Path]] = {}
    for source in map(pathlib.Path, sources):
        folders.setdefault(source.parent, []).append(source)
    return [Unit(tuple(part)) for paths in folders.values() for part in parts(paths)]


def parts(paths: list[pathlib.Path]) -> list[list[pathlib.Path]]:
    """Returns `paths`, in order, in parts that differ by one path at most in size."""
    number = max(1, round(len(paths) / SOURCES_A_UNIT))
    bounds = [len(paths) * part // number for part in range(number + 1)]
    return [paths[bounds[i] : bounds[i + 1]] for i in range(number)]
