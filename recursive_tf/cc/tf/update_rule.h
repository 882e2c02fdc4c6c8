#ifndef RECURSIVE_TF_CC_TF_UPDATE_RULE_H_
#define RECURSIVE_TF_CC_TF_UPDATE_RULE_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/kernels.h"

namespace recursive_tf {

// How an optimizer changes the numbers of a variable and of its slots, which
// have its shape. Operands of the code are, in this order, the variable, the
// slots, the gradient, the learning rate, the rule's own numbers, and one that
// holds what comes between.
template <typename T>
struct UpdateRule {
  int num_slots = 0;
  std::vector<T> numbers;
  std::vector<Instruction> code;
  // What learning rates are multiplied by.
  T rate_factor = 1;
};

// Duchi, Hazan, Singer. Adaptive Subgradient Methods for Online Learning and
// Stochastic Optimization. JMLR 2011, the diagonal form. The slot is the sum of
// the squares of gradients.
template <typename T>
UpdateRule<T> AdagradRule();

// Kingma, Ba. Adam: A Method for Stochastic Optimization. ICLR 2015, algorithm
// 1 in the order of its section 2. The slots are the means of gradients and of
// their squares; `step` counts from 1.
template <typename T>
UpdateRule<T> AdamRule(T beta_1, T beta_2, T epsilon, int64_t step);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_UPDATE_RULE_H_
