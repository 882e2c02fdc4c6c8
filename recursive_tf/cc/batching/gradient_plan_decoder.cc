#include "recursive_tf/cc/batching/gradient_plan_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/code_reader.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

GradientPlanDecoder::GradientPlanDecoder(const Plan* plan,
                                         const std::vector<int64_t>* code)
    : num_inputs_(plan->num_blocks),
      num_outputs_(plan->num_blocks),
      reader_("gradient plan", code) {
  for (const PlannedProcedure& procedure : plan->procedures) {
    for (const Stage& stage : procedure.stages) {
      if (stage.block == kNoBlock) continue;
      num_inputs_[stage.block] = static_cast<int32_t>(stage.inputs.size());
      num_outputs_[stage.block] = stage.num_outputs;
    }
  }
}

bool GradientPlanDecoder::Decode(GradientPlan* plan) {
  if (!reader_.ReadVersion()) return false;
  plan->resize(reader_.Count());
  if (plan->size() != num_inputs_.size()) {
    reader_.Fail("has another number of blocks than the plan");
    return false;
  }
  for (size_t block = 0; block < plan->size(); ++block) {
    Read(&(*plan)[block]);
    Check((*plan)[block], num_inputs_[block], num_outputs_[block]);
  }
  reader_.ReadEnd();
  return reader_.ok();
}

void GradientPlanDecoder::Read(BlockGradient* gradient) {
  gradient->num_extras = reader_.Count();
  gradient->kept = reader_.Indices();
  gradient->has_backward = reader_.Flag();
  gradient->has_deferred = reader_.Flag();
  gradient->tape = reader_.Indices();
  gradient->cotangents = reader_.Indices();
  gradient->input_gradients = reader_.Indices();
  gradient->deferred.resize(reader_.Count());
  for (Replayed& input : gradient->deferred) {
    const int32_t kind = reader_.Index();
    if (kind < 0 || kind > static_cast<int32_t>(Replayed::Kind::kBackward)) {
      return reader_.Fail("defers something unknown");
    }
    input.kind = static_cast<Replayed::Kind>(kind);
    input.index = reader_.Index();
  }
}

void GradientPlanDecoder::Check(const BlockGradient& gradient,
                                int32_t num_inputs, int32_t num_outputs) {
  const auto num_kept = static_cast<int32_t>(gradient.kept.size());
  const auto num_cotangents = static_cast<int32_t>(gradient.cotangents.size());
  CheckBelow(gradient.kept, num_inputs + num_outputs + gradient.num_extras);
  CheckBelow(gradient.tape, num_kept);
  CheckBelow(gradient.cotangents, num_outputs);
  CheckBelow(gradient.input_gradients, num_inputs);
  if (!gradient.has_backward &&
      !(gradient.tape.empty() && gradient.input_gradients.empty())) {
    reader_.Fail("has gradients of no backward part");
  }
  if (!gradient.has_deferred && !gradient.deferred.empty()) {
    reader_.Fail("defers something for no deferred part");
  }
  for (const Replayed& input : gradient.deferred) {
    if (input.kind == Replayed::Kind::kKept) {
      CheckBelow({input.index}, num_kept);
    } else if (input.kind == Replayed::Kind::kCotangent) {
      CheckBelow({input.index}, num_cotangents);
    } else {
      CheckBelow({input.index}, gradient.has_backward ? INT32_MAX : 0);
    }
  }
}

void GradientPlanDecoder::CheckBelow(const std::vector<int32_t>& indices,
                                     int32_t end) {
  if (std::any_of(indices.begin(), indices.end(),
                  [end](int32_t i) { return i < 0 || i >= end; })) {
    reader_.Fail("names a value that is not there");
  }
}

}  // namespace recursive_tf
