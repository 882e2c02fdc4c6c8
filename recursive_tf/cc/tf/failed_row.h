#ifndef RECURSIVE_TF_CC_TF_FAILED_ROW_H_
#define RECURSIVE_TF_CC_TF_FAILED_ROW_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace recursive_tf {

// Returns the error of a kernel that checks rows, with the row that it is of:
// what launched the rows knows whose that is.
absl::Status WithFailedRow(absl::Status status, int64_t row);

// Takes from an error the row that it is of, if the kernel said so.
std::optional<int64_t> TakeFailedRow(absl::Status* status);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_FAILED_ROW_H_
