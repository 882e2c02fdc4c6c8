"""Fails if a C++ file includes what its folder may not know of.

Usage: python tools/check_layers.py [root]
"""

import pathlib
import re
import sys

# Folder -> the includes it may have, by prefix. Each folder may also include
# itself; the standard library is free to all. The core (base, runtime, backprop,
# batching, blocks, layout, scheduling) knows no TensorFlow, and only cc/tf knows more
# of it than its public framework. Blocks take their vectors from Eigen, and base takes
# large pages from the system.
MAY_INCLUDE = {
    "recursive_tf/cc/base": ["absl/base/", "sys/mman.h"],
    "recursive_tf/cc/runtime": ["absl/base/", "recursive_tf/cc/base/"],
    "recursive_tf/cc/backprop": [
        "absl/base/",
        "recursive_tf/cc/base/",
        "recursive_tf/cc/runtime/",
    ],
    "recursive_tf/cc/batching": [
        "absl/base/",
        "recursive_tf/cc/base/",
        "recursive_tf/cc/runtime/",
    ],
    "recursive_tf/cc/blocks": [
        "absl/base/",
        "Eigen/",
        "recursive_tf/cc/base/",
        "unsupported/Eigen/",
    ],
    "recursive_tf/cc/layout": ["recursive_tf/cc/base/", "recursive_tf/cc/batching/"],
    "recursive_tf/cc/scheduling": [],
    "recursive_tf/cc/tf": ["absl/", "Eigen/", "tensorflow/core/", "recursive_tf/cc/"],
    "recursive_tf/cc/kernels": [
        "absl/",
        "tensorflow/core/framework/",
        "tensorflow/core/platform/errors.h",
        "recursive_tf/cc/",
    ],
    "recursive_tf/cc/testing": [
        "recursive_tf/cc/base/",
        "recursive_tf/cc/batching/",
        "recursive_tf/cc/runtime/",
    ],
    "recursive_tf/ops": [
        "absl/",
        "tensorflow/core/framework/",
        "tensorflow/core/platform/errors.h",
    ],
}
# Quoted includes, and angled ones that have a folder and so are not the standard
# library's: `#include <tensorflow/...>` is no way round.
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+/[^>]+)>)', re.MULTILINE)


def violations(root: pathlib.Path) -> list[str]:
    """Returns one line for each include that breaks MAY_INCLUDE."""
    found = []
    for path in sorted((root / "recursive_tf").rglob("*")):
        if path.suffix not in {".h", ".cc"}:
            continue
        folder = path.parent.relative_to(root).as_posix()
        if folder not in MAY_INCLUDE:
            found.append(
                f"{path.relative_to(root)}: {folder} has no rule in {__file__}"
            )
            continue
        allowed = (*MAY_INCLUDE[folder], folder + "/")
        found += [
            f"{path.relative_to(root)}: {folder} may not include {header}"
            for header in includes(path.read_text())
            if not header.startswith(allowed)
        ]
    return found


def includes(text: str) -> list[str]:
    """Returns the headers that a C++ file includes, the standard library's left out.

    >>> includes('#include <vector>\\n#include "absl/base/macros.h"')
    ['absl/base/macros.h']
    """
    return [quoted or angled for quoted, angled in INCLUDE.findall(text)]


if __name__ == "__main__":
    problems = violations(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(bool(problems))
