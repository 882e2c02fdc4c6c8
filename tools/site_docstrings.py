"""Shows the examples of docstrings as code on the site, and not as quotations."""

import re

import griffe

# A doctest, up to an empty line: prompts, and what they print.
_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Examples(griffe.Extension):
    """Puts each doctest of a docstring between fences."""

    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        """Changes the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """Returns a text whose doctests are blocks of code."""
    return _EXAMPLE.sub(lambda example: f"```pycon\n{example[0]}\n```", text)
