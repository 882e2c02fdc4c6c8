#include "recursive_tf/cc/tf/read_lists.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status ReadLists(tf::OpKernelConstruction* ctx, const std::string& counts,
                       const std::string& numbers,
                       std::vector<std::vector<int32_t>>* lists) {
  std::vector<int32_t> all_counts;
  std::vector<int32_t> all_numbers;
  TF_RETURN_IF_ERROR(ctx->GetAttr(counts, &all_counts));
  TF_RETURN_IF_ERROR(ctx->GetAttr(numbers, &all_numbers));
  auto next = all_numbers.begin();
  for (const int32_t count : all_counts) {
    if (count < 0 || count > all_numbers.end() - next) break;
    lists->emplace_back(next, next + count);
    next += count;
  }
  if (lists->size() == all_counts.size() && next == all_numbers.end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(counts, " do not fit ", numbers, "."));
}

}  // namespace recursive_tf
