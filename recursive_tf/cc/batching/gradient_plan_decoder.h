#ifndef RECURSIVE_TF_CC_BATCHING_GRADIENT_PLAN_DECODER_H_
#define RECURSIVE_TF_CC_BATCHING_GRADIENT_PLAN_DECODER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/code_reader.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Reads the gradient plan that goes with a plan.
class GradientPlanDecoder {
 public:
  // Both must outlive this.
  GradientPlanDecoder(const Plan* plan, const std::vector<int64_t>* code);

  // Returns whether `*plan` was read; if not, error() says why.
  bool Decode(GradientPlan* plan);

  const std::string& error() const { return reader_.error(); }

 private:
  void Read(BlockGradient* gradient);
  void Check(const BlockGradient& gradient, int32_t num_inputs,
             int32_t num_outputs);
  void CheckBelow(const std::vector<int32_t>& indices, int32_t end);

  // By block.
  std::vector<int32_t> num_inputs_;
  std::vector<int32_t> num_outputs_;
  CodeReader reader_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_GRADIENT_PLAN_DECODER_H_
