// What libFuzzer calls with any bytes, which say the numbers of a plan or of a
// gradient plan: it is refused, or read. A plan that is read can be run, in any
// order of launches; tools/fuzz_plans.py builds this.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/gradient_plan_decoder.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/plan_decoder.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/testing/integer_program.h"

namespace recursive_tf {
namespace {

using Code = std::vector<int64_t>;

// As tools/fuzz_plans.py writes them: numbers from -32 to 221 are a byte, and
// others are kLong and eight bytes. The gradient plan begins after kNext.
constexpr uint8_t kNext = 254;
constexpr uint8_t kLong = 255;
constexpr int64_t kLeast = -32;

std::array<Code, 2> Codes(const uint8_t* data, size_t size) {
  std::array<Code, 2> codes;
  size_t which = 0;
  for (size_t i = 0; i < size; ++i) {
    int64_t number = data[i] + kLeast;
    if (data[i] == kNext) {
      which = 1;
      continue;
    }
    if (data[i] == kLong) {
      if (size - i <= sizeof(number)) break;
      std::memcpy(&number, data + i + 1, sizeof(number));
      i += sizeof(number);
    }
    codes[which].push_back(number);
  }
  return codes;
}

// A loop may have no end: a block throws this after so many rows.
struct IsEndless {};
constexpr int kMostRows = 1000;

// Each block gives zeros or ones.
std::vector<IntegerProgram::Block> SomeBlocks(const Plan& plan, int* num_rows) {
  std::vector<IntegerProgram::Block> blocks(plan.num_blocks);
  for (const PlannedProcedure& procedure : plan.procedures) {
    for (const Stage& stage : procedure.stages) {
      if (stage.block == kNoBlock) continue;
      blocks[stage.block] = [count = stage.num_outputs,
                             num_rows](const Column& in) {
        if (++*num_rows > kMostRows) throw IsEndless();
        return Column(count, in.empty() ? 0 : in.front() % 2);
      };
    }
  }
  return blocks;
}

bool HasLists(const Plan& plan) {
  for (const PlannedProcedure& procedure : plan.procedures) {
    if (!procedure.lists.empty()) return true;
  }
  return false;
}

void Run(const Plan& plan, const std::string& policy) {
  int num_rows = 0;
  IntegerProgram program;
  program.plan = plan;
  program.prologue = Column(plan.num_prologue_outputs, 1);
  program.blocks = SomeBlocks(plan, &num_rows);
  IntegerRun run(&program, policy, ActivationLimits{20, 100, 0});
  // Nor has one of no blocks.
  run.set_is_cancelled([] { return true; });
  const std::vector<Column> arguments(plan.procedures.front().num_arguments,
                                      Column{1, 2, 3});
  try {
    run.Run(arguments, 3);
  } catch (const IsEndless&) {
    return;
  }
}

void Check(const Code& code, const Code& gradient_code) {
  Plan plan;
  PlanDecoder decoder(&code);
  if (decoder.Decode(&plan) != decoder.error().empty()) std::abort();
  if (!decoder.error().empty()) return;
  GradientPlan gradients;
  GradientPlanDecoder gradient_decoder(&plan, &gradient_code);
  if (gradient_decoder.Decode(&gradients)) {
    if (gradients.size() != static_cast<size_t>(plan.num_blocks)) std::abort();
  }
  // What a block does with items is not known of a plan alone.
  if (HasLists(plan)) return;
  Run(plan, "agenda");
  Run(plan, "critical_path");
}

}  // namespace
}  // namespace recursive_tf

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [code, gradient_code] = recursive_tf::Codes(data, size);
  recursive_tf::Check(code, gradient_code);
  return 0;
}
