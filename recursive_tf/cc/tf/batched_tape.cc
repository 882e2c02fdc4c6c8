#include "recursive_tf/cc/tf/batched_tape.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

namespace tf = tensorflow;

void BatchedTape::AddValue(const tf::Tensor& rows, bool are_shared) {
  record_.are_shared.push_back(are_shared);
  record_.values.push_back({rows.dtype(), rows.shape()});
  record_.tape.num_rows.push_back(NumRows(rows));
}

void BatchedTape::AddLaunch(Launch* launch, const std::vector<RowBatch>& inputs,
                            const std::vector<tf::Tensor>& outputs) {
  TapedLaunch<RowBatch> taped;
  taped.block = launch->block;
  taped.first_value = launch->first_value;
  taped.num_rows = launch->num_rows();
  const std::vector<int32_t>& kept = plan_[launch->block].kept;
  taped.kept.reserve(kept.size());
  for (const int32_t index : kept) {
    const auto i = static_cast<size_t>(index);
    taped.kept.push_back(
        i < inputs.size() ? inputs[i] : RowBatch(outputs[i - inputs.size()]));
    num_bytes_ += taped.kept.back().TotalBytes();
  }
  taped.inputs = std::move(launch->inputs);
  record_.num_kept.Add(static_cast<int64_t>(taped.kept.size()));
  record_.tape.launches.push_back(std::move(taped));
}

}  // namespace recursive_tf
