#ifndef RECURSIVE_TF_CC_BATCHING_LIST_CHECKER_H_
#define RECURSIVE_TF_CC_BATCHING_LIST_CHECKER_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/code_reader.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Checks of a plan that was read that lists are only where lists are expected,
// and that who needs to know how many items there are finds that.
class ListChecker {
 public:
  // Both must outlive this. REQUIRES: the plan is right but for lists.
  ListChecker(const Plan* plan, CodeReader* reader)
      : plan_(*plan), reader_(*reader) {}

  void Check() const;

 private:
  void Expect(bool is_right) const;
  void ExpectRows(const PlannedProcedure& procedure,
                  const std::vector<Source>& sources) const;
  void Check(const PlannedProcedure& procedure) const;

  // What is counted by is a row, and there when the block has run.
  void CheckCount(const PlannedProcedure& procedure,
                  const std::vector<bool>& is_filled, int32_t slot) const;
  void Check(const CallSite& call, const PlannedProcedure& caller) const;
  void CheckArguments(const Branch& branch, int32_t num_mapped,
                      const PlannedProcedure& caller) const;
  void CheckResults(const CallSite& call, const PlannedProcedure& callee,
                    const PlannedProcedure& caller) const;
  int64_t NumResults(const CallSite& call) const;

  const Plan& plan_;
  CodeReader& reader_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LIST_CHECKER_H_
