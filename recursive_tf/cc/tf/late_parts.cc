#include "recursive_tf/cc/tf/late_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/read_lists.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Reads lists of numbers that are not negative: `name`s, with `name`_counts.
absl::Status ReadIndices(tf::OpKernelConstruction* ctx, const std::string& name,
                         std::vector<std::vector<int32_t>>* lists) {
  TF_RETURN_IF_ERROR(ReadLists(ctx, absl::StrCat(name, "_counts"),
                               absl::StrCat(name, "s"), lists));
  for (const std::vector<int32_t>& list : *lists) {
    if (std::any_of(list.begin(), list.end(),
                    [](int32_t number) { return number < 0; })) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, "s has a number below 0."));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LateParts::Read(tf::OpKernelConstruction* ctx, int32_t num_blocks,
                             LateParts* parts, std::vector<BlockSpec>* blocks) {
  // They run once, and take no rows.
  std::vector<BlockSpec> functions;
  TF_RETURN_IF_ERROR(BatchedSpec::ReadBlocks(
      ctx, "late", /*num_rows_to_transpose=*/1, &functions));
  TF_RETURN_IF_ERROR(ReadIndices(ctx, "late_output", &parts->outputs));
  std::vector<std::vector<int32_t>> takers;
  TF_RETURN_IF_ERROR(ReadIndices(ctx, "late_taker", &takers));
  if (parts->outputs.size() != functions.size() ||
      takers.size() != functions.size()) {
    return absl::InvalidArgumentError(
        "late_output_counts and late_taker_counts do not fit late.");
  }
  parts->of_block.resize(num_blocks);
  for (size_t part = 0; part < takers.size(); ++part) {
    const auto number = static_cast<int32_t>(part);
    bool is_at_start = false;
    for (const int32_t taker : takers[part]) {
      if (taker < num_blocks) parts->of_block[taker].push_back(number);
      is_at_start = is_at_start || taker >= num_blocks;
    }
    if (is_at_start) parts->at_start.push_back(number);
  }
  for (BlockSpec& function : functions) blocks->push_back(std::move(function));
  return absl::OkStatus();
}

void LateParts::MakeRoom(std::vector<tf::Tensor>* all) const {
  if (outputs.empty()) return;
  size_t num_outputs = all->size();
  for (const std::vector<int32_t>& own : outputs) num_outputs += own.size();
  std::vector<bool> is_late(num_outputs, false);
  for (const std::vector<int32_t>& own : outputs) {
    for (const int32_t output : own) is_late[output] = true;
  }
  std::vector<tf::Tensor> first = std::move(*all);
  all->assign(num_outputs, tf::Tensor());
  size_t next = 0;
  for (size_t i = 0; i < num_outputs; ++i) {
    if (!is_late[i]) (*all)[i] = std::move(first[next++]);
  }
}

}  // namespace recursive_tf
