#ifndef RECURSIVE_TF_CC_TF_FAILED_ROW_H_
#define RECURSIVE_TF_CC_TF_FAILED_ROW_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"

namespace recursive_tf {

// Returns the error of a kernel that checks rows, with the row that it is of:
// what launched the rows knows whose that is.
absl::Status WithFailedRow(absl::Status status, int64_t row);

// Takes from an error the row that it is of, if the kernel said so.
std::optional<int64_t> TakeFailedRow(absl::Status* status);

// Returns the first row that fails by itself, of so many that gave `*status`
// together, and sets that to its error: TensorFlow's kernels do not say whose
// an error is. None, if no row fails like that, or if it is not of what rows
// hold. `run` runs rows [begin, end): all together about as many as there are.
std::optional<int64_t> FindFailedRow(
    int64_t num_rows,
    const std::function<absl::Status(int64_t begin, int64_t end)>& run,
    absl::Status* status);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_FAILED_ROW_H_
