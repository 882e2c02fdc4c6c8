"""Checks that the running Keras is one whose private parts are known.

Layers, optimizers and `fit` under a strategy override parts of Keras that are not
public. On a Keras in which these are other parts, models would be trained wrongly, or
fail where nothing says why: so the version is compared first.
"""

import keras

# The first minor that was tried, and the first that was not.
FIRST, END = (3, 12), (3, 16)


def check_version(version: str) -> None:
    """Raises ImportError if a version of Keras is not one that was tried.

    >>> check_version("3.15.1")

    Args:
        version: Of the Keras that is imported.
    """
    if not FIRST <= minor(version) < END:
        first, end = (".".join(map(str, bound)) for bound in (FIRST, END))
        raise ImportError(
            f"recursive_tf works with Keras {first} or newer, before {end}, but Keras "
            f"{version} is running. It overrides parts of Keras that change from "
            f'version to version. Run `pip install "keras>={first},<{end}"`, or '
            "install a recursive_tf that is for this Keras."
        )


def minor(version: str) -> tuple[int, int]:
    """Returns the first two numbers of a version.

    >>> minor("3.15.0.dev1")
    (3, 15)
    """
    major, second = version.split(".")[:2]
    return int(major), int(second)


check_version(keras.__version__)
