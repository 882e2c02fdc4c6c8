"""What the site has beside docs/: a hook of MkDocs.

- The home page and the changelog, which are README.md and CHANGELOG.md.
- A page for each file or folder outside of docs/ that a page names: its text.
- A page for each notebook, which is run: its texts, code and pictures.
- The list of decisions.
- The API: a page for each public module, with what its `__all__` has.

Links between all of these are rewritten, so that pages read the same in a checkout.
"""

from __future__ import annotations

import ast
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Where a file of the project is on the site, if its name is not kept.
MOVED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "docs/decisions": "decisions/index.md",
}
MODULES = ("", ".data", ".layers", ".distribute", ".optimizers", ".training")
# What most readers look for comes first; the rest follows by name.
FIRST = (
    "subgraph",
    "SubGraph",
    "vertex",
    "Options",
    "explain",
    "Forest",
    "TreeEncoder",
)
LANGUAGES = {".py": "python", ".sh": "sh", ".c": "c", ".cc": "cpp", ".h": "cpp"}
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Adds pages that nobody has put into the navigation yet."""
    listed = str(config.nav)
    names = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    left = [name for name in names if f"'{name}'" not in listed]
    if left:
        config.nav.append({"More": left})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that docs/ does not have."""
    pages = [file for file in files if file.src_uri.endswith(".md")]
    wanted = {target for target in MOVED if not target.startswith("docs/")}
    for page in pages:
        wanted |= _outside(page.content_string, _origin(page.src_uri))
    done: set[str] = set()
    while wanted - done:
        target = min(wanted - done)
        done.add(target)
        text = page_of(target)
        files.append(File.generated(config, place_of(target), content=text))
        if target.endswith(".md"):
            wanted |= _outside(text, target)
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        text = notebook_page(notebook)
        files.append(
            File.generated(config, f"notebooks/{notebook.stem}.md", content=text)
        )
    decisions = decisions_page(ROOT / "docs" / "decisions")
    files.append(File.generated(config, "decisions/index.md", content=decisions))
    for module in MODULES:
        name = f"recursive_tf{module}"
        text = api_page(name)
        files.append(File.generated(config, f"api/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Makes links to files of the project links to their pages."""
    return with_links(markdown, page.file.src_uri)


def with_links(markdown: str, uri: str) -> str:
    """Returns the text of a page whose links are those of the site."""
    origin = _origin(uri)

    def link(match: re.Match[str]) -> str:
        target = _target(origin, match[1])
        if target is None:
            return match[0]
        there = os.path.relpath(place_of(target), os.path.dirname(uri) or ".")
        return f"]({there}{match[2] or ''})"

    return _LINK.sub(link, markdown)


def place_of(target: str) -> str:
    """Returns where a file or a folder of the project is on the site."""
    if target in MOVED:
        return MOVED[target]
    if target.startswith("docs/notebooks/"):
        target = target.removesuffix(".ipynb").removesuffix(".md") + ".md"
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    return f"source/{target}" if target.endswith(".md") else f"source/{target}.md"


def page_of(target: str) -> str:
    """Returns the page of a file or a folder of the project."""
    path = ROOT / target
    if path.is_dir():
        names = sorted(one.name for one in path.iterdir() if one.suffix == ".py")
        return f"# {target}\n\n" + "".join(f"- `{name}`\n" for name in names)
    text = path.read_text(encoding="utf-8")
    if target.endswith(".md"):
        return text
    return f"# {target}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n````\n"


def notebook_page(path: pathlib.Path) -> str:
    """Returns the page of a notebook that has run, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.notebooks", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PluginError(f"{path.name} does not run:\n{done.stderr[-3000:]}")
    return done.stdout


def decisions_page(folder: pathlib.Path) -> str:
    """Returns the list of decisions, by number."""
    lines = ["# Decisions\n", "Choices that could have gone another way, and why.\n"]
    for path in sorted(folder.glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        lines.append(f"- [{title}]({path.name})")
    return "\n".join(lines) + "\n"


def api_page(module: str) -> str:
    """Returns the reference of a module: all that its `__all__` has, but modules."""
    blocks = [f"::: {where_defined(module, n)}\n" for n in public_names(module)]
    short = module.replace("recursive_tf", "rtf", 1)
    return f"# {short}\n\n" + "\n".join(blocks)


def where_defined(module: str, name: str) -> str:
    """Returns the full name of what a module imports, where it is defined.

    A module may have the name of what it defines, e.g. `vertex`, so that the reference
    would show the module.
    """
    for node in _parsed(module).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return where_defined(node.module, alias.name)
    return f"{module}.{name}"


def public_names(module: str) -> list[str]:
    """Returns what a module has for users, read without importing it."""
    path = ROOT / module.replace(".", "/") / "__init__.py"
    tree = _parsed(module)
    (listed,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    folders = {one.parent.name for one in path.parent.glob("*/__init__.py")}
    names = [name for name in listed if name not in {*folders, "__version__"}]
    return [*(n for n in FIRST if n in names), *(n for n in names if n not in FIRST)]


def _parsed(module: str) -> ast.Module:
    path = ROOT / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _outside(text: str, origin: str) -> set[str]:
    """Returns the files and folders outside of docs/ that a page links to."""
    found: Iterable[str | None] = (
        _target(origin, match[1]) for match in _LINK.finditer(text)
    )
    return {one for one in found if one is not None and not one.startswith("docs/")}


def _target(origin: str, link: str) -> str | None:
    """Returns the file of the project that a link means, if there is one."""
    if "://" in link:
        return None
    target = os.path.normpath(os.path.join(os.path.dirname(origin), link))
    return target if (ROOT / target).exists() and target != "." else None


def _origin(uri: str) -> str:
    """Returns the file of the project that a page was made of."""
    for target, place in MOVED.items():
        if uri == place:
            return target
    if uri.startswith("source/"):
        return uri.removeprefix("source/")
    return f"docs/{uri}"
