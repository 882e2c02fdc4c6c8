#ifndef RECURSIVE_TF_CC_TF_OUT_OF_MEMORY_H_
#define RECURSIVE_TF_CC_TF_OUT_OF_MEMORY_H_

#include <string>

#include "absl/status/status.h"

namespace recursive_tf {

// Returns what the exception that is being handled says: of memory that there
// was not RESOURCE_EXHAUSTED, of others INTERNAL. Throws what is none of the
// standard library's. A `subgraph` is named.
absl::Status StatusOfException(const std::string* subgraph);

// Returns `status`, which is of no call of a SubGraph: of memory that there was
// not, with the SubGraph that it was for.
absl::Status OfSubGraph(const absl::Status& status,
                        const std::string& subgraph);

// Returns what `run` returns, or throws. TensorFlow's threads catch nothing: an
// exception that a kernel lets through ends the process.
template <typename Run>
absl::Status CatchExceptions(const Run& run,
                             const std::string* subgraph = nullptr) {
  try {
    return run();
  } catch (...) {
    return StatusOfException(subgraph);
  }
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_OUT_OF_MEMORY_H_
