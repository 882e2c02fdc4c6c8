"""`rtf.LearnedPolicy`: what `rtf.learn_policy` returns."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from recursive_tf.python.config_files import read_config, write_config
from recursive_tf.python.errors import SubGraphError
from recursive_tf.python.learned.automaton import Automaton, damaged
from recursive_tf.python.learned.picture import picture

_VERSION = 1


@dataclasses.dataclass(frozen=True)
class LearnedPolicy:
    """Which block is launched in which state of a program, as trials have found.

    It is a value for `rtf.Options(policy=...)`. It is for the program from which it was
    learned, or for another definition of this program. It knows blocks by their
    procedures and stages, and not by the names of SubGraphs. A SavedModel has it with
    the program.

    Print it to see the automaton. In a state that it does not know, the batched
    executor follows the policy "critical_path". Results are the same under any policy,
    except for rounding.

    Source: ED-Batch (Chen et al. 2023), section 2.

    Attributes:
        automata: One for each program; different programs have different blocks.
    """

    automata: tuple[Automaton, ...]

    def table_for(self, subgraph: str, blocks: Sequence[str]) -> str:
        """Returns the table of a program as the batched executor's ops take it.

        Args:
            subgraph: The name of the SubGraph that root calls invoke.
            blocks: The procedure and the stage of each of its blocks.

        Raises:
            SubGraphError: If it was learned from other programs.
        """
        # Keras numbers the layers of a process, so a second one has another name.
        for form in (tuple, _without_names):
            for automaton in self.automata:
                if form(automaton.blocks) == form(blocks):
                    return automaton.table()
        known = "; ".join(f"'{a.subgraph}': {_listed(a.blocks)}" for a in self.automata)
        raise SubGraphError(
            f"SubGraph '{subgraph}' has other blocks than the programs from which its "
            f"policy was learned. It has {_listed(blocks)}; the policy knows {known}. "
            "Learn a policy from runs of this SubGraph: rtf.learn_policy(step, "
            "batches)."
        )

    def config(self) -> dict[str, Any]:
        """Returns the policy as values that JSON has."""
        automata = [automaton.config() for automaton in self.automata]
        return {"version": _VERSION, "automata": automata}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "LearnedPolicy":
        """Returns what `config` returned these values of.

        Raises:
            ValueError: If it is not that, or of a later version.
        """
        version = config.get("version")
        if version != _VERSION:
            raise ValueError(
                f"This is a learned policy of version {version}, or none; this version "
                f"of recursive_tf reads version {_VERSION}."
            )
        automata = config.get("automata")
        if not isinstance(automata, Sequence):
            raise damaged(config)
        return cls(tuple(map(Automaton.from_config, automata)))

    def save(self, path: str | pathlib.Path) -> None:
        """Writes the policy to a file, as JSON."""
        write_config(path, self.config())

    @classmethod
    def load(cls, path: str | pathlib.Path) -> "LearnedPolicy":
        """Returns the policy that `save` wrote.

        Raises:
            ValueError: If the file has none, or one of a later version.
        """
        return cls.from_config(read_config(path, "learned policy", key="automata"))

    def picture(self) -> Any:
        """Returns a figure of matplotlib with the automata (figure 2 of the paper).

        A circle is a state that the recorded runs were in: the blocks that calls wait
        for, and below the block that is launched. An arrow is as thick as often the
        state at its end came next. Save it: `policy.picture().savefig("policy.svg")`.

        Raises:
            ImportError: If matplotlib is not installed.
        """
        return picture(self.automata)

    def __str__(self) -> str:
        """Returns the automata as text."""
        return "\n\n".join(map(str, self.automata))


def _without_names(blocks: Sequence[str]) -> tuple[str, ...]:
    """Returns blocks with numbers for the names of SubGraphs.

    >>> _without_names(["tree_3 0", "tree_3/leaf 1", "word 0"])
    ('0 0', '0/leaf 1', '1 0')
    """
    names: dict[str, int] = {}
    found = []
    for block in blocks:
        procedure, stage = block.rsplit(" ", 1)
        name, slash, branch = procedure.partition("/")
        number = names.setdefault(name, len(names))
        found.append(f"{number}{slash}{branch} {stage}")
    return tuple(found)


def _listed(blocks: Sequence[str]) -> str:
    return "[" + ", ".join(blocks) + "]"
