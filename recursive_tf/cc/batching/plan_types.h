#ifndef RECURSIVE_TF_CC_BATCHING_PLAN_TYPES_H_
#define RECURSIVE_TF_CC_BATCHING_PLAN_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Types of values, as numbers: those of TensorFlow, or others.
using Types = std::vector<int32_t>;

// What a block takes, without outputs of the prologue, and what it gives.
struct BlockTypes {
  Types inputs;
  Types outputs;
};

// What a program looks like from outside: its functions, and its root call.
struct ProgramTypes {
  // By block; with what it gives for its gradient, if that is kept.
  std::vector<BlockTypes> blocks;
  Types prologue;
  Types arguments;
  Types results;
  // Of the values that are pushed.
  Types tables;
};

// Follows the values of a plan, and finds whether each is of the type that who
// reads it expects. A slot of which nobody says a type belongs to a procedure
// that is never invoked, or is the result of one that never returns.
//
// Time is linear in the plan for each call within a call within a call.
class TypeChecker {
 public:
  static constexpr int32_t kUnknown = 0;

  // What the plan itself reads.
  struct Readable {
    int32_t boolean;
    int32_t int32;
    int32_t int64;
  };

  // Both must outlive this. REQUIRES: the plan was read by PlanDecoder.
  TypeChecker(const Plan* plan, const ProgramTypes* types, Readable readable);

  // Returns what is wrong, or nothing.
  std::string Check();

 private:
  bool CountsFit();
  void CheckCounts(const Stage& stage);

  // Gives each slot the type of what is put there.
  void FindTypes();
  void Follow(size_t p);
  void Follow(size_t p, const CallSite& call, const Branch& branch);
  void PutArguments(size_t p, const Branch& branch);
  void CheckReads(size_t p);
  void CheckReads(size_t p, const Stage& stage);
  int32_t TypeOf(size_t p, Source source) const;
  void Put(size_t p, int32_t slot, int32_t type);
  void ExpectType(size_t p, Source source,
                  std::initializer_list<int32_t> types);
  void Expect(bool is_right, const char* what);

  const Plan& plan_;
  const ProgramTypes& types_;
  const Readable readable_;
  // By procedure and slot.
  std::vector<Types> slots_;
  bool changed_ = false;
  std::string error_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_PLAN_TYPES_H_
