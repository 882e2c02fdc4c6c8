"""What the README and the design say is so."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_readme_example_runs_and_has_gradients():
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert all(gradient is not None for gradient in names["gradients"])


def test_files_that_the_design_names_exist():
    text = (ROOT / "docs" / "design.md").read_text()
    paths = re.findall(r"`(recursive_tf/[\w/]+\.\w+)`", text)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []
