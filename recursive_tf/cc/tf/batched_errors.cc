#include "recursive_tf/cc/tf/batched_errors.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/tf/cycle_error.h"
#include "recursive_tf/cc/tf/failed_row.h"
#include "recursive_tf/cc/tf/limit_error.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

absl::Status BatchedErrors::FailedAt(int32_t subgraph, const std::string& where,
                                     const absl::Status& status) const {
  return tensorflow::errors::CreateWithUpdatedMessage(
      status, absl::StrCat("SubGraph '", program_.names[subgraph],
                           "' failed at ", where, ": ", status.message()));
}

absl::Status BatchedErrors::FailedLaunch(const Launch& launch,
                                         std::optional<int64_t> failed_row,
                                         absl::Status status) const {
  if (absl::IsCancelled(status)) return status;
  const std::optional<int64_t> row = TakeFailedRow(&status);
  if (row.has_value() && *row < launch.num_activations()) {
    return FailedIn(launch.activations[*row], status);
  }
  const int32_t named = launch.activations[failed_row.value_or(0)];
  return FailedAt(
      steps_.SubGraphOf(named),
      absl::StrCat(failed_row.has_value() ? PathOf(named) : PathsOf(launch),
                   " in block '", program_.block_names[launch.block], "'"),
      status);
}

std::string BatchedErrors::PathsOf(const Launch& launch) const {
  constexpr size_t kShown = 3;
  std::string paths;
  for (size_t i = 0; i < launch.activations.size() && i < kShown; ++i) {
    absl::StrAppend(&paths, i == 0 ? "" : ", ", PathOf(launch.activations[i]));
  }
  if (launch.activations.size() > kShown) {
    absl::StrAppend(&paths, ", … (", launch.activations.size(),
                    " invocations at once)");
  }
  return paths;
}

absl::Status BatchedErrors::FailedBlock(int32_t block,
                                        const absl::Status& status) const {
  if (absl::IsCancelled(status)) return status;
  return FailedAt(0, absl::StrCat("block '", program_.block_names[block], "'"),
                  status);
}

absl::Status BatchedErrors::Refusal(const ActivationLimits& limits,
                                    const absl::Status& push_status) const {
  if (steps_.refused_push().has_value()) {
    return FailedIn(*steps_.refused_push(), push_status);
  }
  if (const auto& refused = steps_.refused_call(); refused.has_value()) {
    return FailedAt(refused->procedure,
                    steps_.PathOf(*refused, mapped_, program_.names),
                    LimitError(refused->verdict, limits));
  }
  if (const auto cycle = steps_.FindCycle(); cycle.has_value()) {
    return FailedAt(steps_.SubGraphOf(cycle->wait.runner),
                    steps_.PathOf(cycle->wait, mapped_, program_.names),
                    CycleError(cycle->keys));
  }
  return absl::OkStatus();
}

absl::Status BatchedErrors::FailedIn(int32_t activation,
                                     const absl::Status& status) const {
  return FailedAt(steps_.SubGraphOf(activation), PathOf(activation), status);
}

std::string BatchedErrors::PathOf(int32_t activation) const {
  return steps_.PathOf(activation, mapped_, program_.names);
}

}  // namespace recursive_tf
