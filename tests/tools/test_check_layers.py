"""check_layers catches the include that would end the separation of the core."""

import pathlib

import pytest

from check_layers import violations

REPOSITORY = pathlib.Path(__file__).parents[2]


def write(root: pathlib.Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_the_repository_keeps_its_layers():
    assert violations(REPOSITORY) == []


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("recursive_tf/cc/base/mutex.h", "absl/base/thread_annotations.h"),
        ("recursive_tf/cc/runtime/path.h", "recursive_tf/cc/base/mutex.h"),
        ("recursive_tf/cc/backprop/cache.h", "recursive_tf/cc/runtime/path.h"),
        ("recursive_tf/cc/backprop/cache.h", "recursive_tf/cc/backprop/key.h"),
        ("recursive_tf/cc/tf/call.cc", "tensorflow/core/common_runtime/device.h"),
        ("recursive_tf/cc/kernels/invoke.cc", "tensorflow/core/framework/op_kernel.h"),
        ("recursive_tf/ops/invoke_ops.cc", "tensorflow/core/framework/op.h"),
    ],
)
def test_an_include_that_points_down_is_allowed(tmp_path, path, header):
    write(tmp_path, path, f'#include <vector>\n\n#include "{header}"\n')
    assert violations(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("recursive_tf/cc/base/mutex.h", "recursive_tf/cc/runtime/path.h"),
        ("recursive_tf/cc/base/mutex.h", "absl/synchronization/mutex.h"),
        ("recursive_tf/cc/runtime/path.h", "recursive_tf/cc/backprop/cache.h"),
        ("recursive_tf/cc/backprop/cache.h", "tensorflow/core/framework/tensor.h"),
        (
            "recursive_tf/cc/kernels/invoke.cc",
            "tensorflow/core/common_runtime/device.h",
        ),
        ("recursive_tf/ops/invoke_ops.cc", "recursive_tf/cc/tf/call.h"),
    ],
)
def test_an_include_that_points_up_is_named(tmp_path, path, header):
    write(tmp_path, path, f'#include "{header}"\n')
    (line,) = violations(tmp_path)
    assert line.startswith(f"{path}: ")
    assert line.endswith(f"may not include {header}")


def test_angle_brackets_are_no_way_round(tmp_path):
    write(
        tmp_path,
        "recursive_tf/cc/runtime/path.h",
        "#include <tensorflow/core/framework/tensor.h>\n",
    )
    assert len(violations(tmp_path)) == 1


def test_a_folder_without_a_rule_is_named(tmp_path):
    write(tmp_path, "recursive_tf/cc/misc/helpers.h", "#include <vector>\n")
    (line,) = violations(tmp_path)
    assert "recursive_tf/cc/misc has no rule" in line
