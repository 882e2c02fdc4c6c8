"""The messages of the library's errors, read off its sources."""

import ast
import pathlib
import re
from typing import NamedTuple

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "recursive_tf"
GAP = "…"  # Stands for a name or a number.
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CC_RAISED = re.compile(r"absl::(\w+)Error\((.*?)\);", re.S)


class Message(NamedTuple):
    """A message of the sources.

    Attributes:
        file: Where it stands.
        kind: The class of the error.
        text: With "…" for what is filled in.
    """

    file: str
    kind: str
    text: str


def plain(text):
    """Returns a text without backticks, on one line."""
    return " ".join(text.replace("`", "").split())


def pieces(text):
    """Returns what stands between the gaps of a message."""
    return [one for one in (part.strip() for part in plain(text).split(GAP)) if one]


def has(text, wanted):
    """Says whether a text has all pieces, in their order."""
    position = 0
    for piece in wanted:
        position = text.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return True


def _text_of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part) or GAP for part in node.values)
    return None


def python_texts():
    """Returns every text in each Python file of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = (_text_of(node) for node in ast.walk(tree))
        yield path.name, [plain(text) for text in found if text]


def cc_texts():
    """Returns all texts of each C++ file of the package, one behind the other."""
    for path in sorted(PACKAGE.rglob("*.[ch]*")):
        if path.suffix in (".cc", ".h") and "testing" not in path.parts:
            source = re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8"))
            literals = (one.replace('\\"', '"') for one in _LITERAL.findall(source))
            yield path.name, [plain(GAP.join(literals))]


def raised_in_python():
    """Returns the messages of all `raise` statements that show them."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
                continue
            texts = [_text_of(argument) for argument in node.exc.args]
            text = next((one for one in texts if one), None)
            if text:
                kind = ast.unparse(node.exc.func).rpartition(".")[2]
                yield Message(path.name, kind, plain(text))


def raised_in_cc():
    """Returns the messages of errors that C++ makes."""
    for path in sorted(PACKAGE.rglob("*.cc")):
        source = re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8"))
        for kind, arguments in _CC_RAISED.findall(source):
            literals = [one.replace('\\"', '"') for one in _LITERAL.findall(arguments)]
            if literals:
                yield Message(path.name, f"{kind}Error", plain(GAP.join(literals)))
