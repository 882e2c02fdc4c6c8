"""What a user may set for a program beside its executor."""

import dataclasses
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
    """Limits and choices of a program; the root SubGraph's hold for all of it.

    Attributes:
        max_depth: The longest chain of calls, in calls. A recursion that misses its
            base case ends with an error when it gets there. None is no limit.
        max_activations: The most calls alive at once in one root call; for the
            dataflow executor in training, all its calls. A recursion of several calls
            a level that misses its base case gets there before it is deep in the
            batched executor, which runs level by level. None is no limit.
        max_bytes: The most that the calls of one root call hold at once, in bytes, by
            estimate: the state of calls in flight, and what they keep for a gradient,
            but no tensor twice and nothing that is captured. "auto" is a tenth of the
            memory of the machine, or of the container, where the root call runs. A
            cycle in child indices ends there at the latest. None is no limit.
        policy: What decides which block the batched executor launches next.
            "critical_path" takes the block for which the most calls wait that are the
            deepest in other calls, and so have the farthest to go. An
            `rtf.LearnedPolicy` takes what trials found best, and "fsm" what
            `rtf.learn_policy` learned last in this process for this program; until
            then it is "critical_path". Two are there to compare with: "agenda" (DyNet)
            takes the block whose waiting calls come after the fewest launches on
            average, "depth" (TensorFlow Fold) only those that come after the fewest.
            Results are the same, but for rounding.
        blocks: What the batched executor runs blocks with: "compiled" makes block
            programs of those that it can, with packed products and fused element-wise
            code; "tensorflow" runs TensorFlow's kernels, op by op. "auto" takes what is
            faster, which is "compiled" today. Results differ by rounding.
        share_rows: Whether calls that compute the same of equal whole numbers, e.g.
            leaves with the same word, are computed once in each launch of a block
            program. "auto" is where that pays: in blocks with a product. Values are
            the same; gradients differ by rounding.
        schedule: Which threads run the operations of calls in the dataflow executor,
            and of blocks that are not compiled in the batched one. `rtf.Schedule()` is
            TensorFlow's own.
    """

    max_depth: int | None = 100_000
    max_activations: int | None = 10_000_000
    max_bytes: int | Literal["auto"] | None = "auto"
    policy: str | LearnedPolicy = "critical_path"
    blocks: Literal["auto", "compiled", "tensorflow"] = "auto"
    share_rows: bool | Literal["auto"] = "auto"
    schedule: Schedule = TENSORFLOWS

    def __post_init__(self) -> None:
        for name in ("max_depth", "max_activations", "max_bytes"):
            limit = getattr(self, name)
            if name == "max_bytes" and limit == "auto":
                continue
            if limit is not None and limit < 1:
                raise ValueError(
                    f"{name}={limit}: a limit is at least 1; None is no limit."
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
        if self.share_rows not in _SHARE_ROWS:
            raise ValueError(
                f"share_rows={self.share_rows!r}: choose True, False or 'auto'."
            )

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


def policy_in_words(policy: str | LearnedPolicy) -> str:
    """Returns a policy, or the attribute of a root op that is one, for people.

    >>> policy_in_words("depth"), policy_in_words("fsm sort 0:0")
    ('depth', 'learned')
    """
    return policy if isinstance(policy, str) and policy in POLICIES else "learned"
