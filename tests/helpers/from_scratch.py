"""The oracle docs/from_scratch.py, which is in no package, as a module: `fs`."""

import importlib.util
import pathlib

SOURCE = pathlib.Path(__file__).parents[2] / "docs" / "from_scratch.py"


def _load():
    spec = importlib.util.spec_from_file_location("from_scratch", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fs = _load()
