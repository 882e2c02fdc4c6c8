#ifndef RECURSIVE_TF_CC_BATCHING_PLAN_DECODER_H_
#define RECURSIVE_TF_CC_BATCHING_PLAN_DECODER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/code_reader.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Reads a plan. One that is read can be run: whatever it names is there.
class PlanDecoder {
 public:
  // `code` must outlive this.
  explicit PlanDecoder(const std::vector<int64_t>* code)
      : reader_("plan", code) {}

  // Returns whether `*plan` was read; if not, error() says why.
  bool Decode(Plan* plan);

  const std::string& error() const { return reader_.error(); }

 private:
  // What decides of a call: nothing, or one of these.
  static constexpr int64_t kSelector = 1;
  static constexpr int64_t kKey = 2;

  Source ReadSource() { return Source{reader_.Index()}; }

  std::vector<Source> ReadSources();
  void Read(PlannedProcedure* procedure);
  void Read(Stage* stage);
  void Read(CallSite* call);
  Branch ReadBranch();
  void Check(const Plan& plan);

  // What is shared runs in place, and is all that its front waits for.
  void CheckShared(const Plan& plan);

  // What begins a loop again is a branch of it, in the same activation.
  void CheckLoops(const Plan& plan);

  // Only a call of a SubGraph may close a cycle: it is what limits count.
  void CheckBranches(const Plan& plan);

  // Who takes a branch is not in it.
  void CheckNesting(const std::vector<int32_t>& takers);
  static std::vector<int32_t> TakenBy(const PlannedProcedure& procedure);

  // Follows a procedure, to see that it reads only what it has by then.
  void Check(const PlannedProcedure& procedure, const Plan& plan);
  void Check(const Stage& stage, const Plan& plan);
  void Check(const CallSite& call, const Plan& plan);
  void Check(const Branch& branch, const Plan& plan);
  static int64_t NumResults(const CallSite& call, const Plan& plan);
  void Check(const std::vector<Source>& sources, const Plan& plan);
  void Fill(int64_t first, int64_t count);

  // Of the procedure that is checked.
  std::vector<bool> is_filled_;
  // Of those that were.
  int64_t num_slots_ = 0;
  CodeReader reader_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_PLAN_DECODER_H_
