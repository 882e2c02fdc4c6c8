"""What a user may set for a program beside its executor."""

import dataclasses
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from recursive_tf.python.learned.learned_policy import LearnedPolicy
from recursive_tf.python.scheduling.schedule import TENSORFLOWS, Schedule

EXECUTORS = ("auto", "batched", "dataflow")
# The first is the default.
POLICIES = ("critical_path", "agenda", "depth", "fsm")
BLOCKS = ("auto", "compiled", "tensorflow")
# What the batched executor's ops call the choices of it.
BATCHED_ATTRIBUTES = ("policy", "block_kind", "share_rows")
_SHARE_ROWS = {"auto": "auto", True: "always", False: "never"}


@dataclasses.dataclass(frozen=True)
class Options:
    """Limits and choices of a program.

    Those of the SubGraph that the root call invokes hold for the whole program.

    Attributes:
        max_depth: The longest chain of calls. A recursion without a base case ends with
            an error when it reaches this depth. None is no limit.
        max_activations: The most calls that are alive at once in one root call. In the
            dataflow executor, in training, these are all of its calls. The batched
            executor runs level by level. There, a recursion that makes several calls
            and has no base case reaches this limit before `max_depth`. None is no
            limit.
        max_bytes: The most bytes that the calls of one root call hold at once, by
            estimate. It counts the state of running calls, and what they keep for a
            gradient. It counts no tensor twice, and no tensor from outside. "auto" is a
            tenth of the memory of the machine, or of the container, where the root call
            runs. A cycle in child indices ends there at the latest. None is no limit.
        policy: What decides which block the batched executor launches next. Results are
            the same under any policy, except for rounding. "critical_path" takes the
            block for which the most calls wait that are deepest in other calls, because
            these have the longest way to go. An `rtf.LearnedPolicy` takes what trials
            found best. "fsm" takes what `rtf.learn_policy` learned last in this process
            for this program, and "critical_path" until then. Two more are for
            comparison. "agenda" (DyNet) takes the block whose waiting calls come after
            the fewest launches on average. "depth" (TensorFlow Fold) takes only the
            calls that come after the fewest launches.
        blocks: What runs the blocks in the batched executor. "compiled" makes block
            programs where it can, with packed products and fused element-wise code.
            "tensorflow" runs TensorFlow's kernels, op by op. "auto" takes what is
            faster, which is "compiled" today. Results differ by rounding.
        share_rows: Whether a launch of a block program computes equal calls once. Calls
            are equal if the whole numbers that they compute from are, e.g. leaves with
            the same word. "auto" does so where it pays: in blocks whose products
            multiply 8,192 numbers or more for a call, or that look up 256 numbers or
            more. What reads such rows multiplies each of them once, too. Results differ
            by rounding.
        lazy_pushes: Whether a product that only a push needs, e.g. `f.push("logits",
            dense(h), ...)`, is made once, of all rows, after the call. It pays where
            the matrix is larger than a cache: others are left where they are. Values
            differ by rounding. The dataflow executor always leaves it where it is.
        schedule: Which threads run operations: those of calls in the dataflow executor,
            and those of blocks that are not compiled in the batched executor.
            `rtf.Schedule()` is TensorFlow's own.
    """

    max_depth: int | None = 100_000
    max_activations: int | None = 10_000_000
    max_bytes: int | Literal["auto"] | None = "auto"
    policy: str | LearnedPolicy = "critical_path"
    blocks: Literal["auto", "compiled", "tensorflow"] = "auto"
    share_rows: bool | Literal["auto"] = "auto"
    lazy_pushes: bool = True
    schedule: Schedule = TENSORFLOWS

    def __post_init__(self) -> None:
        for name in ("max_depth", "max_activations", "max_bytes"):
            limit = getattr(self, name)
            if name == "max_bytes" and limit == "auto":
                continue
            if limit is not None and not _is_limit(limit):
                raise ValueError(
                    f"{name}={limit!r}: a limit is a whole number, from 1 to 2^63 - 1; "
                    "None is no limit."
                )
        if not isinstance(self.policy, LearnedPolicy) and self.policy not in POLICIES:
            raise ValueError(
                f"policy={self.policy!r}: choose one of {POLICIES}, or give what "
                "rtf.learn_policy returned."
            )
        if self.blocks not in BLOCKS:
            raise ValueError(f"blocks={self.blocks!r}: choose one of {BLOCKS}.")
        if not isinstance(self.schedule, Schedule):
            raise ValueError(
                f"schedule={self.schedule!r}: give an rtf.Schedule, or the "
                "`schedule` of what rtf.profile returned."
            )
        if self.share_rows not in tuple(_SHARE_ROWS):
            raise ValueError(
                f"share_rows={self.share_rows!r}: choose True, False or 'auto'."
            )
        if self.lazy_pushes not in (True, False):
            raise ValueError(f"lazy_pushes={self.lazy_pushes!r}: choose True or False.")

    def batched_attributes(
        self, subgraph: str, block_places: Sequence[str]
    ) -> dict[str, str]:
        """Returns what the batched executor's ops take of a program, by name.

        Args:
            subgraph: The name of the SubGraph that root calls invoke.
            block_places: Of each block of the program, its procedure and its stage.

        Raises:
            SubGraphError: If the policy was learned from other programs.
        """
        policy = self.policy
        if isinstance(policy, LearnedPolicy):
            policy = policy.table_for(subgraph, block_places)
        choices = (policy, self.blocks, _SHARE_ROWS[self.share_rows])
        return dict(zip(BATCHED_ATTRIBUTES, choices, strict=True))

    def config(self) -> dict[str, Any]:
        """Returns the options as values that JSON has."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if isinstance(self.policy, LearnedPolicy):
            values["policy"] = self.policy.config()
        values["schedule"] = self.schedule.config()
        return values

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Options":
        """Returns what `config` returned these values of."""
        policy = config.get("policy")
        if isinstance(policy, Mapping):
            config = {**config, "policy": LearnedPolicy.from_config(policy)}
        schedule = config.get("schedule")
        if isinstance(schedule, Mapping):
            config = {**config, "schedule": Schedule.from_config(schedule)}
        return cls(**config)


def _is_limit(value: Any) -> bool:
    """Returns whether a value is a limit that ops can take; 1e9 is one.

    >>> list(map(_is_limit, [1, 1e9, 2.5, float("inf"), True, "5", 2**63]))
    [True, True, False, False, False, False, False]
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return bool(is_number and 1 <= value < 2**63 and value == int(value))


def policy_in_words(policy: str | LearnedPolicy) -> str:
    """Returns a policy, or the attribute of a root op that is one, for people.

    >>> policy_in_words("depth"), policy_in_words("fsm sort 0:0")
    ('depth', 'learned')
    """
    return policy if isinstance(policy, str) and policy in POLICIES else "learned"
