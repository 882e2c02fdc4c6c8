"""Lists what the project uses of TensorFlow and Keras that is not public.

Usage: python -m tools.private_symbols [--write]

Prints how what is installed differs from private_symbols.txt, which has each name with
its parameters. A new minor version is begun with this: it says what broke before
anything is built. `--write` writes the list anew. Nothing here imports recursive_tf,
which may fail on the version that is looked at.
"""

import ast
import importlib
import inspect
import pathlib
import re
import sys
import types
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tools/private_symbols.txt"
# The one package that may use what is private in TensorFlow.
TF_COMPAT = ROOT / "recursive_tf/python/tf_compat"
# Those that know Keras.
KERAS_FOLDERS = ("layers", "optimizers", "distribute", "training")

# What is used of objects, by the module whose source has it: no import names it.
OF_OBJECTS = {
    "tensorflow.python.framework.ops": (
        *("_add_control_inputs", "_add_function_recursive", "_as_tf_output"),
        *("_c_graph", "_create_op_internal", "_get_function", "_gradient_function"),
        *("_set_attr", "_set_func_attr", "_set_func_list_attr"),
        *("_collections", "_is_stateful", "_unfeedable_tensors"),
    ),
    "tensorflow.python.framework.func_graph": (
        *("_create_placeholder_helper", "_function_captures", "_watched_variables"),
    ),
    "tensorflow.python.framework.registry": ("_registry",),
    "tensorflow.python.eager.polymorphic_function.polymorphic_function": (
        *("_concrete_variable_creation_fn", "_list_all_concrete_functions"),
    ),
    "tensorflow.python.eager.context": ("_config",),
    "tensorflow.python.ops.while_v2": ("_body_graph", "_cond_graph"),
    "tensorflow.python.ops.array_ops": ("_is_zeros_tensor",),
    "tensorflow.python.ops.handle_data_util": ("_handle_data",),
    "tensorflow.python.ops.script_ops": ("_func",),
    "tensorflow.python.ops.variable_scope": ("_caching_device",),
    "tensorflow.python.distribute.cross_device_ops": ("_launchers",),
    "tensorflow.python.distribute.cross_device_utils": ("_all_gather",),
    "tensorflow.python.distribute.mirrored_strategy": ("_cross_device_ops",),
    "tensorflow.python.distribute.distribute_lib": ("_replica_id",),
    "tensorflow.python.distribute.values": ("_get", "_value_specs"),
    "keras.src.backend.tensorflow.optimizer": ("_all_reduce_sum_gradients",),
    "keras.src.backend.tensorflow.layer": ("_default_save_signature",),
    "keras.src.backend.tensorflow.trainer": (
        *("_distribute_strategy", "_maybe_symbolic_build"),
    ),
    "keras.src.backend.common.variables": ("_value",),
    "keras.src.layers.layer": ("_flatten_layers", "_get_own_losses"),
    "keras.src.optimizers.base_optimizer": (
        *("_accumulated_gradients", "_apply_weight_decay", "_iterations"),
        *("_backend_apply_gradients", "_backend_increment_gradient_accumulators"),
        *("_backend_reset_gradient_accumulators", "_backend_update_step"),
        *("_clip_gradients", "_get_variable_index", "_trainable_variables"),
        "_update_model_variables_moving_average",
    ),
    "keras.src.trainers.trainer": (
        *("_compile_loss", "_compile_metrics", "_post_build"),
    ),
}
# By the path of the file and the name of the function, tf_compat knows what made an op.
KERAS_CODE = (
    "keras.src.random.seed_generator.SeedGenerator.next",
    "keras.src.layers.normalization.batch_normalization.BatchNormalization",
)
# Python's own, and what tf_compat hangs onto TensorFlow's graphs and ops.
NOT_OF_THEM = {
    *("_exit", "_getframe", "_recursive_kept"),
    *("_recursive_line", "_recursive_line_around", "_recursive_origin"),
}


def sources() -> list[pathlib.Path]:
    """Returns the files that may use what is private."""
    folders = [ROOT / "recursive_tf" / folder for folder in KERAS_FOLDERS]
    return [path for folder in (TF_COMPAT, *folders) for path in folder.glob("*.py")]


def imported() -> set[str]:
    """Returns each private name that is imported, or taken of a module."""
    return {name for path in sources() for name in _imported_by(path)}


def _imported_by(path: pathlib.Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            ("tensorflow.python", "tensorflow.core", "keras.src")
        ):
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        if node.value.id in modules and not node.attr.startswith("__"):
            yield f"{modules[node.value.id]}.{node.attr}"


def of_objects_used() -> set[str]:
    """Returns each name with an underscore that is used of an object of others.

    What the project itself defines under such a name, it does not take from others.
    """
    used, own = set(), set()
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                used.add(node.attr)
                if isinstance(node.ctx, ast.Store) and _is_self(node.value):
                    own.add(node.attr)
            elif isinstance(node, ast.FunctionDef):
                own.add(node.name)
    # A method of Keras that is overridden is Keras's.
    of_keras = {name for names in OF_OBJECTS.values() for name in names}
    own -= of_keras
    in_imports = {part for name in imported() for part in name.split(".")}
    used = {name for name in used if name.startswith("_") and name[1:2] != "_"}
    return used - own - in_imports - NOT_OF_THEM


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def find(name: str) -> object:
    """Returns what a dotted name stands for.

    Raises:
        AttributeError: If a part of it is not there.
    """
    parts = name.split(".")
    found: object = importlib.import_module(parts[0])
    for number, part in enumerate(parts[1:], start=2):
        if isinstance(found, types.ModuleType) and not hasattr(found, part):
            try:
                found = importlib.import_module(".".join(parts[:number]))
                continue
            except ModuleNotFoundError as error:
                raise AttributeError(str(error)) from error
        found = getattr(found, part)
    return found


def described(name: str) -> str:
    """Returns the parameters of a function, the kind of anything else, or `missing`."""
    try:
        found = find(name)
    except AttributeError:
        return "missing"
    if inspect.isroutine(found):
        try:
            return f"({', '.join(inspect.signature(found).parameters)})"
        except ValueError:  # A function of C++.
            return "function"
    return "class" if inspect.isclass(found) else "value"


def described_of_object(module: str, name: str) -> str:
    """Returns `there` if the source of a module has a name, or `missing`."""
    try:
        source = inspect.getsource(importlib.import_module(module))
    except ModuleNotFoundError:
        return "missing"
    return "there" if re.search(rf"\b{name}\b", source) else "missing"


def symbols() -> dict[str, str]:
    """Returns all that is private, as it is in what is installed."""
    found = {name: described(name) for name in imported() | set(KERAS_CODE)}
    for module, names in OF_OBJECTS.items():
        for name in names:
            found[f"{module}: {name}"] = described_of_object(module, name)
    return dict(sorted(found.items()))


def listed() -> dict[str, str]:
    """Returns what private_symbols.txt holds."""
    lines = LIST.read_text().splitlines()
    return dict(line.split(" = ", 1) for line in lines)


def differences(there: dict[str, str], known: dict[str, str]) -> list[str]:
    """Returns a line for each symbol that is not as it is known to be.

    >>> differences({"a.f": "(x, y)"}, {"a.f": "(x)"})
    ['a.f was (x) and is (x, y)']

    Args:
        there: Of what is installed.
        known: Of private_symbols.txt.
    """
    return [
        f"{name} was {known.get(name, 'not used')} and is {there.get(name, 'not used')}"
        for name in sorted(there.keys() | known.keys())
        if there.get(name) != known.get(name)
    ]


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    found = symbols()
    if arguments == ["--write"]:
        lines = [f"{name} = {what}\n" for name, what in found.items()]
        LIST.write_text("".join(lines))
        return 0
    lines = differences(found, listed())
    print("\n".join(lines) or f"All {len(found)} symbols are as they were.")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
