#ifndef RECURSIVE_TF_CC_KERNELS_RECORDED_LAUNCH_TENSORS_H_
#define RECURSIVE_TF_CC_KERNELS_RECORDED_LAUNCH_TENSORS_H_

#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/batching/launch_reads.h"
#include "recursive_tf/cc/batching/recording.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// Sets four outputs of an op, from one on, to the launches of runs:
// num_launches, launches, reads, read_rows.
void SetRecordedLaunches(const std::vector<RecordedRun>& runs, int first_output,
                         tensorflow::OpKernelContext* ctx);

// Sets `*runs` to what the first four inputs of an op say, if they say launches
// with all numbers in range.
absl::Status GetRecordedLaunches(
    tensorflow::OpKernelContext* ctx,
    std::vector<std::vector<RecordedLaunch>>* runs);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_KERNELS_RECORDED_LAUNCH_TENSORS_H_
