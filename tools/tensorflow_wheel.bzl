"""The installed TensorFlow as a Bazel repository.

Its targets: `headers`, the include folder with the flags the wheel was built
with; `framework`, the library that an op library links to; and `kernels`, the rest,
which a program without Python links to as well.

The Python to ask is PYTHON_BIN_PATH, or python3:
    bazel test --repo_env=PYTHON_BIN_PATH=$PWD/.venv/bin/python //:all
"""

_QUESTION = """
import tensorflow as tf
print(tf.sysconfig.get_include())
print(tf.sysconfig.get_lib())
print(" ".join(f for f in tf.sysconfig.get_compile_flags() if f.startswith("-D")))
"""

_FRAMEWORK = "libtensorflow_framework.so.2"
_KERNELS = "libtensorflow_cc.so.2"

_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    defines = {defines},
    # System headers to the compiler: they would print thousands of warnings.
    includes = ["include"],
)

cc_import(
    name = "framework",
    shared_library = "{framework}",
)

cc_import(
    name = "kernels",
    shared_library = "{kernels}",
)
"""

def _tensorflow_wheel_impl(ctx):
    python = ctx.os.environ.get("PYTHON_BIN_PATH", "python3")
    answer = ctx.execute([python, "-c", _QUESTION])
    if answer.return_code:
        fail("%s cannot import tensorflow: %s" % (python, answer.stderr))
    include, lib, flags = answer.stdout.strip().split("\n")
    ctx.symlink(include, "include")
    for library in [_FRAMEWORK, _KERNELS]:
        ctx.symlink(lib + "/" + library, library)
    # As the wheel was built: Abseil's containers have another layout without it.
    defines = [flag[len("-D"):] for flag in flags.split(" ")] + ["NDEBUG"]
    ctx.file("BUILD", _BUILD.format(
        defines = repr(defines),
        framework = _FRAMEWORK,
        kernels = _KERNELS,
    ))

tensorflow_wheel = repository_rule(
    implementation = _tensorflow_wheel_impl,
    doc = "The headers and the libraries of the installed TensorFlow.",
    environ = ["PYTHON_BIN_PATH"],
    local = True,
)
