"""The settings of a model of dependency trees."""

import dataclasses

from models.running.settings import Settings, setting


@dataclasses.dataclass(frozen=True, kw_only=True)
class DependencySettings(Settings):
    """What can be chosen besides what all models have."""

    learning_rate: float = setting(float, "Of Adam.", minimum=0)
    dropout: float = setting(
        float, "Share of h and of words' vectors that is hidden.", minimum=0, maximum=1
    )
    left_dependents: bool = setting(
        bool,
        "Whether dependents on the right follow from those on the left: LdTreeLSTM.",
        default=False,
    )
