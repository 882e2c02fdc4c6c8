#ifndef RECURSIVE_TF_CC_KERNELS_ROOT_RESULTS_H_
#define RECURSIVE_TF_CC_KERNELS_ROOT_RESULTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/returned.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

using PushTables = std::vector<std::unique_ptr<PushTable>>;

// What a forward root op returns beside its handle, whichever executor runs it:
// outputs and tables.
class RootResults {
 public:
  absl::Status Read(tensorflow::OpKernelConstruction* ctx);

  // Makes the tables, of the sizes that the op got.
  absl::Status MakePushTables(tensorflow::OpKernelContext* ctx,
                              PushTables* tables) const;

  // Sets the outputs of a map over no rows.
  absl::Status SetOutputsOfNoRows(tensorflow::OpKernelContext* ctx) const;

  static absl::Status SetPushed(tensorflow::OpKernelContext* ctx,
                                const PushTables& tables);

  // Returns what was set, for the gradient.
  absl::Status Describe(tensorflow::OpKernelContext* ctx,
                        Returned* returned) const;

 private:
  std::shared_ptr<const std::string> entry_;
  std::vector<tensorflow::PartialTensorShape> output_shapes_;
  std::shared_ptr<const std::vector<std::string>> push_names_;
  std::vector<tensorflow::PartialTensorShape> pushed_shapes_;
  tensorflow::DataTypeVector pushed_types_;
};

// Returns what errors call an output of a root call of the SubGraph `entry`.
std::string NameOfOutput(const std::string& entry, int index);

// Sets `*num_rows` to the number of rows of a map over `arguments`.
absl::Status CountRows(const std::vector<tensorflow::Tensor>& arguments,
                       int64_t* num_rows);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_KERNELS_ROOT_RESULTS_H_
