// Tells ThreadSanitizer what TensorFlow's executor guarantees. Included in
// every file of the library by tools/sanitize_python.py, with
// -finstrument-functions.
//
// TensorFlow is not instrumented, so how it hands a value from one thread to
// another is not seen, and each value would be reported as a race. Here, what
// enters the library from outside of it happens after whatever functions of the
// library have ended by then. So two accesses are a race if their threads were
// in the library at the same time, with nothing of ours to order them; what
// TensorFlow orders is not one.
#ifndef RECURSIVE_TF_TOOLS_TSAN_EDGES_H_
#define RECURSIVE_TF_TOOLS_TSAN_EDGES_H_

// Hidden, so that this library calls its own: the C library has empty ones.
#define RECURSIVE_TF_HOOK                                                 \
  extern "C" inline                                                       \
      __attribute__((used, no_instrument_function, no_sanitize("thread"), \
                     visibility("hidden"))) void

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
// The linker's: where the library begins, and where its code ends.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
}

namespace recursive_tf_tsan {

inline char edge __attribute__((visibility("hidden"))) = 0;

inline __attribute__((no_instrument_function, always_inline)) bool IsOutside(
    const void* caller) {
  return caller < __ehdr_start || caller >= etext;
}

}  // namespace recursive_tf_tsan

RECURSIVE_TF_HOOK __cyg_profile_func_enter(void* /*function*/, void* caller) {
  if (recursive_tf_tsan::IsOutside(caller)) {
    __tsan_acquire(&recursive_tf_tsan::edge);
  }
}

RECURSIVE_TF_HOOK __cyg_profile_func_exit(void* /*function*/,
                                          void* /*caller*/) {
  __tsan_release(&recursive_tf_tsan::edge);
}

#endif  // RECURSIVE_TF_TOOLS_TSAN_EDGES_H_
