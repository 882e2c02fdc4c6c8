"""The C++ files of the library and their warnings, for setup.py and for Bazel.

Only list literals here, so that the file means the same in Python and Starlark.
Headers are found by their folders; tests/tools/test_sources.py holds this list
to the files on disk.
"""

# Compiled into recursive_tf/ops/_recursive_tf.so, with CORE_SOURCES; all of these see
# TensorFlow.
LIBRARY_SOURCES = [
    "recursive_tf/cc/kernels/backprop_kernels.cc",
    "recursive_tf/cc/kernels/batched_gradient_kernels.cc",
    "recursive_tf/cc/kernels/batched_kernels.cc",
    "recursive_tf/cc/kernels/check_kernels.cc",
    "recursive_tf/cc/kernels/gradient_kernels.cc",
    "recursive_tf/cc/kernels/invoke_kernels.cc",
    "recursive_tf/cc/kernels/map_kernels.cc",
    "recursive_tf/cc/kernels/optimizer_kernels.cc",
    "recursive_tf/cc/kernels/random_kernels.cc",
    "recursive_tf/cc/kernels/report_kernels.cc",
    "recursive_tf/cc/kernels/root_kernel.cc",
    "recursive_tf/cc/kernels/root_results.cc",
    "recursive_tf/cc/kernels/row_results.cc",
    "recursive_tf/cc/kernels/second_order_kernels.cc",
    "recursive_tf/cc/kernels/shared_kernels.cc",
    "recursive_tf/cc/kernels/slices_kernels.cc",
    "recursive_tf/cc/kernels/xla_kernels.cc",
    "recursive_tf/cc/tf/adagrad_update.cc",
    "recursive_tf/cc/tf/backward_run.cc",
    "recursive_tf/cc/tf/batched_backward.cc",
    "recursive_tf/cc/tf/batched_errors.cc",
    "recursive_tf/cc/tf/batched_forward.cc",
    "recursive_tf/cc/tf/batched_host.cc",
    "recursive_tf/cc/tf/batched_program.cc",
    "recursive_tf/cc/tf/batched_pushes.cc",
    "recursive_tf/cc/tf/batched_tape.cc",
    "recursive_tf/cc/tf/bind_batched.cc",
    "recursive_tf/cc/tf/bind_program.cc",
    "recursive_tf/cc/tf/block_reader.cc",
    "recursive_tf/cc/tf/block_reader_elementwise.cc",
    "recursive_tf/cc/tf/block_reader_numbers.cc",
    "recursive_tf/cc/tf/block_reader_products.cc",
    "recursive_tf/cc/tf/block_reader_shapes.cc",
    "recursive_tf/cc/tf/block_run.cc",
    "recursive_tf/cc/tf/call.cc",
    "recursive_tf/cc/tf/chosen_kernels.cc",
    "recursive_tf/cc/tf/compiled_block.cc",
    "recursive_tf/cc/tf/cycle_error.cc",
    "recursive_tf/cc/tf/failed_row.cc",
    "recursive_tf/cc/tf/forward_run.cc",
    "recursive_tf/cc/tf/guards.cc",
    "recursive_tf/cc/tf/handles.cc",
    "recursive_tf/cc/tf/inline_function.cc",
    "recursive_tf/cc/tf/invariants.cc",
    "recursive_tf/cc/tf/kept_bytes.cc",
    "recursive_tf/cc/tf/late_parts.cc",
    "recursive_tf/cc/tf/limit_error.cc",
    "recursive_tf/cc/tf/make_executor.cc",
    "recursive_tf/cc/tf/narrow_graph.cc",
    "recursive_tf/cc/tf/procedure_graph.cc",
    "recursive_tf/cc/tf/procedures.cc",
    "recursive_tf/cc/tf/program_run.cc",
    "recursive_tf/cc/tf/push_table.cc",
    "recursive_tf/cc/tf/read_lists.cc",
    "recursive_tf/cc/tf/returned.cc",
    "recursive_tf/cc/tf/row_batch.cc",
    "recursive_tf/cc/tf/row_numbers.cc",
    "recursive_tf/cc/tf/row_ops.cc",
    "recursive_tf/cc/tf/row_values.cc",
    "recursive_tf/cc/tf/shared_backward.cc",
    "recursive_tf/cc/tf/signature.cc",
    "recursive_tf/cc/tf/simplify_graph.cc",
    "recursive_tf/cc/tf/stack_rows.cc",
    "recursive_tf/ops/batched_ops.cc",
    "recursive_tf/ops/check_ops.cc",
    "recursive_tf/ops/gradient_ops.cc",
    "recursive_tf/ops/invoke_ops.cc",
    "recursive_tf/ops/map_ops.cc",
    "recursive_tf/ops/optimizer_ops.cc",
    "recursive_tf/ops/random_ops.cc",
    "recursive_tf/ops/report_ops.cc",
    "recursive_tf/ops/second_order_ops.cc",
    "recursive_tf/ops/shapes.cc",
    "recursive_tf/ops/shared_ops.cc",
    "recursive_tf/ops/traced_ops.cc",
]

# None of these sees TensorFlow.
CORE_SOURCES = [
    "recursive_tf/cc/batching/block_order.cc",
    "recursive_tf/cc/batching/calls.cc",
    "recursive_tf/cc/batching/gradient_plan_decoder.cc",
    "recursive_tf/cc/batching/in_place.cc",
    "recursive_tf/cc/batching/launch_bound.cc",
    "recursive_tf/cc/batching/list_checker.cc",
    "recursive_tf/cc/batching/lock_step.cc",
    "recursive_tf/cc/batching/plan_decoder.cc",
    "recursive_tf/cc/batching/plan_types.cc",
    "recursive_tf/cc/blocks/block_graph.cc",
    "recursive_tf/cc/blocks/block_runner.cc",
    "recursive_tf/cc/blocks/kernels.cc",
    "recursive_tf/cc/blocks/kernels_avx2.cc",
    "recursive_tf/cc/blocks/kernels_avx512.cc",
    "recursive_tf/cc/blocks/kernels_portable.cc",
    "recursive_tf/cc/blocks/lower.cc",
    "recursive_tf/cc/blocks/placement.cc",
    "recursive_tf/cc/blocks/packed_matrix.cc",
    "recursive_tf/cc/blocks/panels.cc",
    "recursive_tf/cc/blocks/team.cc",
    "recursive_tf/cc/runtime/wait_graph.cc",
]

# Where they are, and headers beside them.
CORE_FOLDERS = [
    "recursive_tf/cc/backprop",
    "recursive_tf/cc/base",
    "recursive_tf/cc/batching",
    "recursive_tf/cc/blocks",
    "recursive_tf/cc/runtime",
    "recursive_tf/cc/testing",
]

WARNINGS = ["-Wall", "-Wextra"]

# What one source is compiled with beside these, on x86-64: the instructions that it
# is there for. GCC 12 warns of its own headers for AVX-512.
X86_FLAGS = {
    "recursive_tf/cc/blocks/kernels_avx2.cc": ["-mavx2", "-mfma"],
    "recursive_tf/cc/blocks/kernels_avx512.cc": [
        "-mavx512f",
        "-mavx512dq",
        "-mavx512bw",
        "-mavx512vl",
        "-mavx2",
        "-mfma",
        "-Wno-uninitialized",
        "-Wno-maybe-uninitialized",
    ],
}
