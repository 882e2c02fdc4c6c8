#ifndef RECURSIVE_TF_CC_TF_READ_LISTS_H_
#define RECURSIVE_TF_CC_TF_READ_LISTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// Sets `*lists` to the lists of numbers that two attributes of an op hold,
// since an attribute is no list of lists: `counts` says how many of `numbers`
// belong to each, and all of them belong to one.
absl::Status ReadLists(tensorflow::OpKernelConstruction* ctx,
                       const std::string& counts, const std::string& numbers,
                       std::vector<std::vector<int32_t>>* lists);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_READ_LISTS_H_
