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

// Returns the error of the first row that fails by itself, with that row.
// `status` is what so many rows gave together, of which TensorFlow's kernels do
// not say whose it is: it is returned if no row fails like that, or if it is
// not of what rows hold. `run` runs rows [begin, end): all of them about twice.
absl::Status OfFirstFailedRow(
    int64_t num_rows, absl::Status status,
    const std::function<absl::Status(int64_t begin, int64_t end)>& run);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_FAILED_ROW_H_
