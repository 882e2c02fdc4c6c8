#ifndef RECURSIVE_TF_CC_BATCHING_IN_PLACE_H_
#define RECURSIVE_TF_CC_BATCHING_IN_PLACE_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

constexpr int32_t kNoProcedure = -1;

// Which branches run in place: in the activation that takes them, with slots
// behind its own. That is a branch of a conditional that its procedure waits
// for alone. Beside another call it is an activation of its own, because it
// must not wait for that.
class InPlace {
 public:
  // Where a branch that runs in place returns to.
  struct Home {
    int32_t procedure = kNoProcedure;
    int32_t stage = 0;
    int32_t first_result = 0;
    // Whether who waits there may take what another activation's run gave.
    bool is_shared = false;
  };

  explicit InPlace(const Plan& plan);

  bool RunsInPlace(int32_t procedure) const {
    return homes_[procedure].procedure != kNoProcedure;
  }

  // REQUIRES: `branch` runs in place.
  const Home& HomeOf(int32_t branch) const { return homes_[branch]; }

  // Returns by procedure how many slots an activation of it has, those of
  // branches that run in place included.
  const std::vector<int32_t>& sizes() const { return sizes_; }

  // Returns the procedure that an activation that is in `procedure` is of.
  int32_t Outermost(int32_t procedure) const {
    while (RunsInPlace(procedure)) procedure = homes_[procedure].procedure;
    return procedure;
  }

 private:
  void FindHomes(const Plan& plan);

  // By procedure.
  std::vector<Home> homes_;
  std::vector<int32_t> sizes_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_IN_PLACE_H_
