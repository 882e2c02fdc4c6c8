"""Libraries that only pictures need, and that need not be installed."""

import importlib
from typing import Any


def optional_module(name: str, what: str) -> Any:
    """Returns a module.

    Raises:
        ImportError: If it is not installed, with the way to install it.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        library = name.partition(".")[0]
        raise ImportError(
            f"{what} needs {library}, which is not installed. Run: "
            "pip install 'recursive_tf[data]'"
        ) from error
