"""A learned policy of one program: a finite state machine."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

ENCODINGS = ("base", "max", "sort")

# Numbers of blocks, as an encoding has them.
State = tuple[int, ...]
Step = tuple[State, int, State]


@dataclasses.dataclass(frozen=True)
class Automaton:
    """Which block of a program is launched in which state of the frontier.

    Source: ED-Batch (Chen et al. 2023), section 2.2, algorithm 1.

    Attributes:
        subgraph: The name of the SubGraph that root calls invoke.
        blocks: The program's blocks: of each its procedure, and the stage of it.
        encoding: What a state is, of the blocks of the lowest rank that calls wait for.
            "base": these blocks; "max": these, and then the one that most wait for;
            "sort": these, from the one that most wait for down.
        choices: By state, the block to launch. In other states the block is that of
            the policy "critical_path".
        steps: What the recorded runs do with these choices, in order: a state, the
            block that is launched, and the state that follows, where the empty one is
            the end; by these, how often.
        launches: How many the recorded runs take, by policy; "least" is what no policy
            needs fewer than.
    """

    subgraph: str
    blocks: tuple[str, ...]
    encoding: str
    choices: Mapping[State, int]
    steps: Mapping[Step, int]
    launches: Mapping[str, int]

    def table(self) -> str:
        """Returns the choices as the batched executor's ops take them."""
        entries = (f"{_joined(s)}:{b}" for s, b in sorted(self.choices.items()))
        return " ".join(["fsm", self.encoding, *entries])

    def launched(self) -> dict[State, list[int]]:
        """Returns the states that the recorded runs are in, and what they launch there.

        That is one block, or in a state that is not among the choices maybe several.
        """
        found: dict[State, list[int]] = {}
        for state, block, _ in self.steps:
            blocks = found.setdefault(state, [])
            if block not in blocks:
                blocks.append(block)
        return found

    def name_of(self, state: Sequence[int]) -> str:
        """Returns the blocks of a state, e.g. "tree/leaf 0, tree/node 1"."""
        return ", ".join(self.blocks[block] for block in state)

    def config(self) -> dict[str, Any]:
        """Returns all of it as values that JSON has."""
        return {
            "subgraph": self.subgraph,
            "blocks": list(self.blocks),
            "encoding": self.encoding,
            "choices": [[list(s), block] for s, block in self.choices.items()],
            "steps": [
                [list(state), block, list(after), count]
                for (state, block, after), count in self.steps.items()
            ],
            "launches": dict(self.launches),
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Automaton":
        """Returns what `config` returned these values of.

        Raises:
            ValueError: If it is not that.
        """
        try:
            found = cls(
                subgraph=config["subgraph"],
                blocks=tuple(config["blocks"]),
                encoding=config["encoding"],
                choices={tuple(state): block for state, block in config["choices"]},
                steps={(tuple(s), b, tuple(a)): n for s, b, a, n in config["steps"]},
                launches=dict(config["launches"]),
            )
            is_sound = found._is_sound()
        except (KeyError, TypeError, ValueError):
            is_sound = False
        if not is_sound:
            raise damaged(config)
        return found

    def _is_sound(self) -> bool:
        """Whether all numbers are of blocks, and all choices are of what waits."""
        launched = [*self.choices.items(), *((s, block) for s, block, _ in self.steps)]
        numbers = {n for state, _ in launched for n in state}
        numbers |= {n for _, _, after in self.steps for n in after}
        names = (self.subgraph, *self.blocks, *self.launches)
        return (
            self.encoding in ENCODINGS
            and "fsm" in self.launches
            and all(isinstance(name, str) for name in names)
            and all(type(n) is int and 0 <= n < len(self.blocks) for n in numbers)
            and all(block in state for state, block in launched)
        )

    def __str__(self) -> str:
        """Returns the automaton as a text of some lines."""
        return "\n".join(_lines(self))


def damaged(config: Any) -> ValueError:
    """Returns the error of a part of a policy that `config` never returns."""
    return ValueError(
        "This learned policy is damaged: `save` does not write states, blocks or "
        f"numbers as they are in {config!r:.80}. Learn it again."
    )


def encode(waiting: Sequence[int], ranks: Sequence[int], encoding: str) -> State:
    """Returns the state of a frontier.

    >>> [encode([2, 0, 5, 9], [1, 1, 1, 2], name) for name in ENCODINGS]
    [(0, 2), (0, 2, 2), (2, 0)]

    Args:
        waiting: For each block, how many activations wait for it.
        ranks: Of each block.
        encoding: One of ENCODINGS.
    """
    rank = min(r for r, count in zip(ranks, waiting, strict=True) if count > 0)
    there = [b for b, count in enumerate(waiting) if count > 0 and ranks[b] == rank]
    by_count = sorted(there, key=lambda block: -waiting[block])
    if encoding == "sort":
        return tuple(by_count)
    return (*there, *by_count[:1]) if encoding == "max" else tuple(there)


def _joined(state: State) -> str:
    return ",".join(map(str, state))


def _lines(automaton: Automaton) -> Iterator[str]:
    yield f"SubGraph '{automaton.subgraph}': {_counts(automaton.launches)}"
    if not automaton.choices:
        yield "  Does as the policy 'critical_path' does: no trial saved more."
        return
    rows = [
        (automaton.name_of(blocks), automaton.name_of(state))
        for state, blocks in automaton.launched().items()
        if state in automaton.choices
    ]
    width = max(len("launch"), *(len(launched) for launched, _ in rows))
    yield f"  {'launch':{width}}  when calls wait for"
    yield from (f"  {launched:{width}}  {waiting}" for launched, waiting in rows)
    others = len(automaton.choices) - len(rows)
    if others:
        yield f"  and in {others} states that only trials were in"


def _counts(launches: Mapping[str, int]) -> str:
    """Returns e.g. "44 launches; agenda 61, depth 77, least 40"."""
    others = ", ".join(f"{name} {n}" for name, n in launches.items() if name != "fsm")
    return f"{launches['fsm']} launches; {others}"
