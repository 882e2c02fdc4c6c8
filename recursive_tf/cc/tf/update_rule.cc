#include "recursive_tf/cc/tf/update_rule.h"

#include <cmath>
#include <cstdint>

#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {

template <typename T>
UpdateRule<T> AdagradRule() {
  enum : int32_t { kVariable, kSum, kGradient, kRate, kStep };
  UpdateRule<T> rule;
  rule.num_slots = 1;
  rule.code = {
      {.opcode = Opcode::kMulAdd,
       .out = kSum,
       .in = {kGradient, kGradient, kSum}},
      {.opcode = Opcode::kSqrt, .out = kStep, .in = {kSum}},
      {.opcode = Opcode::kDiv, .out = kStep, .in = {kGradient, kStep}},
      {.opcode = Opcode::kMulSubFrom,
       .out = kVariable,
       .in = {kStep, kRate, kVariable}},
  };
  return rule;
}

template <typename T>
UpdateRule<T> AdamRule(T beta_1, T beta_2, T epsilon, int64_t step) {
  enum : int32_t {
    kVariable,
    kMean,
    kSquare,
    kGradient,
    kRate,
    kOfMean,
    kOfSquare,
    kEpsilon,
    kStep,
  };
  UpdateRule<T> rule;
  rule.num_slots = 2;
  rule.numbers = {1 - beta_1, 1 - beta_2, epsilon};
  rule.code = {
      {.opcode = Opcode::kSub, .out = kStep, .in = {kGradient, kMean}},
      {.opcode = Opcode::kMulAdd, .out = kMean, .in = {kStep, kOfMean, kMean}},
      {.opcode = Opcode::kSquare, .out = kStep, .in = {kGradient}},
      {.opcode = Opcode::kSub, .out = kStep, .in = {kStep, kSquare}},
      {.opcode = Opcode::kMulAdd,
       .out = kSquare,
       .in = {kStep, kOfSquare, kSquare}},
      {.opcode = Opcode::kSqrt, .out = kStep, .in = {kSquare}},
      {.opcode = Opcode::kAdd, .out = kStep, .in = {kStep, kEpsilon}},
      {.opcode = Opcode::kDiv, .out = kStep, .in = {kMean, kStep}},
      {.opcode = Opcode::kMulSubFrom,
       .out = kVariable,
       .in = {kStep, kRate, kVariable}},
  };
  const auto power = static_cast<double>(step);
  rule.rate_factor = static_cast<T>(std::sqrt(1 - std::pow(beta_2, power)) /
                                    (1 - std::pow(beta_1, power)));
  return rule;
}

template UpdateRule<float> AdagradRule<float>();
template UpdateRule<double> AdagradRule<double>();
template UpdateRule<float> AdamRule<float>(float, float, float, int64_t);
template UpdateRule<double> AdamRule<double>(double, double, double, int64_t);

}  // namespace recursive_tf
