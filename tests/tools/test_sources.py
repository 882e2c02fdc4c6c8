"""The list of C++ sources is the files on disk, for setup.py and Bazel alike."""

import pathlib
from typing import Any

ROOT = pathlib.Path(__file__).parents[2]


def lists() -> dict[str, list[str]]:
    found: dict[str, Any] = {}
    exec((ROOT / "recursive_tf/cc/sources.bzl").read_text(), found)
    return found


def files(*patterns: str) -> list[str]:
    paths = (path for pattern in patterns for path in ROOT.glob(pattern))
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


def glob(patterns: list[str], exclude: list[str] | None = None) -> list[str]:
    left_out = files(*(exclude or []))
    return [path for path in files(*patterns) if path not in left_out]


def bazel_targets(**other_lists: list[str]) -> list[dict[str, Any]]:
    """What BUILD compiles; it is plain enough to be run as Python.

    Args:
        **other_lists: In place of those of sources.bzl.
    """
    targets: list[dict[str, Any]] = []

    def rule(**attributes: Any) -> None:
        if "srcs" in attributes:  # Others hand on files alone.
            targets.append(attributes)

    names = {
        "load": lambda *args: None,
        "package": lambda **attributes: None,
        "exports_files": lambda names: None,
        "glob": glob,
        **dict.fromkeys(("cc_library", "cc_binary", "cc_test"), rule),
        **lists(),
        **other_lists,
    }
    exec((ROOT / "BUILD").read_text(), names)
    return targets


def test_the_list_holds_every_source_of_the_library_in_order():
    listed = lists()["CORE_SOURCES"] + lists()["LIBRARY_SOURCES"]
    assert sorted(listed) == files("recursive_tf/**/*.cc")
    assert lists()["CORE_SOURCES"] == sorted(lists()["CORE_SOURCES"])
    assert lists()["LIBRARY_SOURCES"] == sorted(lists()["LIBRARY_SOURCES"])


def test_every_folder_of_the_core_is_listed():
    folders = {
        str(pathlib.Path(path).parent) for path in files("recursive_tf/cc/*/*.h")
    }
    known = {*lists()["CORE_FOLDERS"], "recursive_tf/cc/kernels", "recursive_tf/cc/tf"}
    assert folders <= known


def test_sources_of_the_core_are_those_in_its_folders():
    patterns = [f"{folder}/*.cc" for folder in lists()["CORE_FOLDERS"]]
    assert lists()["CORE_SOURCES"] == files(*patterns)


def test_bazel_builds_every_file_that_is_there():
    named = {
        path
        for target in bazel_targets()
        for key in ("srcs", "hdrs")
        for path in target.get(key, [])
    }
    assert named == set(
        files(
            "recursive_tf/**/*.cc",
            "recursive_tf/**/*.h",
            "tests/cc/**/*.cc",
            "tests/cc/**/*.h",
        )
    )


def test_bazel_takes_the_library_the_core_and_the_warnings_from_the_lists():
    listed = ["recursive_tf/cc/kernels/listed.cc", "recursive_tf/cc/tf/listed.cc"]
    core, *others, library_test, library = bazel_targets(
        LIBRARY_SOURCES=listed,
        CORE_FOLDERS=["recursive_tf/cc/base"],
        CORE_SOURCES=["recursive_tf/cc/base/listed.cc"],
        WARNINGS=["-Wlisted"],
    )
    assert [path for path in library["srcs"] if path.endswith(".cc")] == listed
    assert listed[1] in library_test["srcs"]
    assert listed[0] not in library_test["srcs"]
    assert core["hdrs"] == files("recursive_tf/cc/base/*.h")
    assert core["srcs"] == ["recursive_tf/cc/base/listed.cc"]
    targets = (core, *others, library_test, library)
    assert all("-Wlisted" in target["copts"] for target in targets)


def test_a_core_test_is_built_without_tensorflow():
    core, *others, _, _ = bazel_targets()
    tests = [target for target in others if f":{target['name']}" not in core["deps"]]
    assert tests
    assert all(target["deps"] == [":core", ":core_sources"] for target in tests)
    assert not [x for target in tests for x in target["srcs"] if "/tf/" in x]


def test_bazel_compiles_a_source_with_its_own_flags_alone():
    flags = lists()["X86_FLAGS"]
    assert set(flags) <= set(lists()["CORE_SOURCES"])
    targets = {tuple(target["srcs"]): target for target in bazel_targets()}
    for source, own in flags.items():
        assert targets[(source,)]["copts"][-len(own) :] == own
    plain = [t for sources, t in targets.items() if not set(flags) & set(sources)]
    assert not [x for target in plain for x in target["copts"] if x.startswith("-m")]
