// Marks what of the library runs. Included in every file of the library by
// tools/fuzz_graphs.py, with -fsanitize-coverage=trace-pc: GCC then calls the
// function below wherever code may have come from elsewhere.
//
// A mark is the place of such a call in the library's code. Threads write marks
// without order: all write the same byte.
#ifndef RECURSIVE_TF_TOOLS_COVERAGE_MARKS_H_
#define RECURSIVE_TF_TOOLS_COVERAGE_MARKS_H_

extern "C" {
// The linker's: where the library begins.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
// tests/hostile/marks.py reads it, and knows its size.
inline unsigned char recursive_tf_marks[1 << 24]
    __attribute__((visibility("default"))) = {};

inline __attribute__((used, no_sanitize_coverage, no_sanitize("address"),
                      visibility("hidden"))) void
__sanitizer_cov_trace_pc() {
  const char* place = static_cast<const char*>(__builtin_return_address(0));
  recursive_tf_marks[(place - __ehdr_start) % sizeof(recursive_tf_marks)] = 1;
}
}

#endif  // RECURSIVE_TF_TOOLS_COVERAGE_MARKS_H_
