"""What SubGraphs of a random program are made with: executors, and choices of them."""

from __future__ import annotations

# Each program runs with these. Not every program can be batched.
ALWAYS = {
    "dataflow": '{"executor": "dataflow"}',
    "batched": '{"executor": "auto"}',
}

_TEAMS = "schedule=rtf.Schedule(executors=2, threads=1, pinned=False)"


def _made_with(executor: str, options: str) -> str:
    return f'{{"executor": "{executor}", "options": rtf.Options({options})}}'


def _batched(options: str) -> str:
    return _made_with("auto", options)


# And with one of these.
FURTHER = {
    "batched by depth": _batched('policy="depth"'),
    "batched by agenda": _batched('policy="agenda"'),
    "batched by what is learned": _batched('policy="fsm"'),
    "batched, each row by itself": _batched("share_rows=False"),
    "batched, equal rows together": _batched("share_rows=True"),
    "batched, by TensorFlow's kernels": _batched('blocks="tensorflow"'),
    "batched, by teams": _batched(f'blocks="tensorflow", {_TEAMS}'),
    "dataflow, by teams": _made_with("dataflow", _TEAMS),
}
EXECUTORS = {**ALWAYS, **FURTHER}
LEARNED = "batched by what is learned"


def chosen(number: int) -> list[str]:
    """Returns the names of those that programs of some number run with.

    >>> chosen(0), chosen(8) == chosen(0)
    (['dataflow', 'batched', 'batched by depth'], True)
    """
    return [*ALWAYS, [*FURTHER][number % len(FURTHER)]]
