#include "recursive_tf/cc/tf/bind_batched.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/plan_types.h"
#include "recursive_tf/cc/tf/batched_backward.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/bind_program.h"
#include "recursive_tf/cc/tf/late_parts.h"
#include "recursive_tf/cc/tf/signature.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

Types AsNumbers(const tf::DataTypeVector& types) {
  return {types.begin(), types.end()};
}

class ForwardBinder {
 public:
  ForwardBinder(const BatchedSpec& program,
                const std::vector<BlockSpec>& functions, const LateParts& late,
                const RootTypes& types,
                const tf::FunctionLibraryDefinition& library)
      : program_(program),
        functions_(functions),
        num_blocks_(static_cast<size_t>(program.plan.num_blocks)),
        late_(late),
        types_(types),
        library_(library) {}

  absl::Status Bind(const std::vector<int32_t>& prologue_captures, bool keep) {
    TF_RETURN_IF_ERROR(BindNames());
    TF_RETURN_IF_ERROR(BindPrologue(prologue_captures));
    TF_RETURN_IF_ERROR(BindLate());
    ProgramTypes found;
    for (size_t block = 0; block < num_blocks_; ++block) {
      TF_RETURN_IF_ERROR(BindBlock(block, &found.blocks.emplace_back()));
      TF_RETURN_IF_ERROR(
          BindOrder(late_.of_block[block], functions_[block].invariants));
    }
    TF_RETURN_IF_ERROR(BindOrder(late_.at_start, PlannedOutputs()));
    found.prologue = AsNumbers(prologue_);
    found.arguments = AsNumbers(types_.arguments);
    found.results = AsNumbers(types_.results);
    found.tables = AsNumbers(types_.tables);
    const std::string wrong =
        TypeChecker(&program_.plan, &found,
                    {tf::DT_BOOL, tf::DT_INT32, tf::DT_INT64})
            .Check();
    if (!wrong.empty()) return absl::InvalidArgumentError(wrong);
    return keep ? BindExtras(found) : absl::OkStatus();
  }

 private:
  // Errors name procedures that are no branches.
  absl::Status BindNames() const {
    const std::vector<PlannedProcedure>& procedures = program_.plan.procedures;
    for (size_t p = program_.names.size(); p < procedures.size(); ++p) {
      if (!procedures[p].is_branch) return Wrong("a procedure has no name");
    }
    return absl::OkStatus();
  }

  absl::Status BindPrologue(const std::vector<int32_t>& captures) {
    Signature signature;
    TF_RETURN_IF_ERROR(
        Signature::Of(functions_[num_blocks_].function, library_, &signature));
    tf::DataTypeVector taken;
    for (const int32_t capture : captures) {
      if (static_cast<size_t>(capture) >= types_.captures.size()) {
        return Wrong("its prologue takes a capture that is not there");
      }
      taken.push_back(types_.captures[capture]);
    }
    prologue_ = signature.results;
    if (signature.arguments == taken) return absl::OkStatus();
    return Wrong("its prologue takes other captures");
  }

  // Puts what late parts give into its places among what is computed first.
  absl::Status BindLate() {
    const tf::DataTypeVector first = prologue_;
    size_t num_outputs = first.size();
    for (const std::vector<int32_t>& own : late_.outputs) {
      num_outputs += own.size();
    }
    prologue_.assign(num_outputs, tf::DT_INVALID);
    part_of_.assign(num_outputs, kFirst);
    std::vector<Signature> signatures(late_.outputs.size());
    for (size_t part = 0; part < late_.outputs.size(); ++part) {
      TF_RETURN_IF_ERROR(PlaceLate(part, &signatures[part]));
    }
    size_t next = 0;
    for (size_t i = 0; i < num_outputs; ++i) {
      if (part_of_[i] == kFirst) prologue_[i] = first[next++];
    }
    for (size_t part = 0; part < signatures.size(); ++part) {
      const BlockSpec& spec = functions_[num_blocks_ + 1 + part];
      TF_RETURN_IF_ERROR(BindInvariants(spec, signatures[part], 0));
    }
    return absl::OkStatus();
  }

  absl::Status PlaceLate(size_t part, Signature* signature) {
    const BlockSpec& spec = functions_[num_blocks_ + 1 + part];
    TF_RETURN_IF_ERROR(Signature::Of(spec.function, library_, signature));
    const std::vector<int32_t>& outputs = late_.outputs[part];
    if (signature->results.size() != outputs.size() ||
        signature->arguments.size() != spec.invariants.size()) {
      return Wrong("a late part takes or gives other values");
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto output = static_cast<size_t>(outputs[i]);
      if (output >= part_of_.size() || part_of_[output] != kFirst) {
        return Wrong("a late part gives what something else gives");
      }
      part_of_[output] = static_cast<int32_t>(part);
      prologue_[output] = signature->results[i];
    }
    return absl::OkStatus();
  }

  // Whatever `parts` and then `taken` take is there by then.
  absl::Status BindOrder(const std::vector<int32_t>& parts,
                         const std::vector<int32_t>& taken) const {
    std::vector<bool> has_run(late_.outputs.size(), false);
    const auto is_there = [&](int32_t output) {
      const int32_t part = part_of_[output];
      return part == kFirst || has_run[part];
    };
    const auto are_there = [&](const std::vector<int32_t>& outputs) {
      return std::all_of(outputs.begin(), outputs.end(), is_there);
    };
    for (const int32_t part : parts) {
      if (!are_there(functions_[num_blocks_ + 1 + part].invariants)) {
        return Wrong("a late part comes before what it takes");
      }
      has_run[part] = true;
    }
    return are_there(taken) ? absl::OkStatus()
                            : Wrong("a block comes before what it takes");
  }

  // The outputs of the prologue that the plan names.
  std::vector<int32_t> PlannedOutputs() const {
    const auto count =
        std::min(part_of_.size(),
                 static_cast<size_t>(program_.plan.num_prologue_outputs));
    std::vector<int32_t> outputs(count);
    std::iota(outputs.begin(), outputs.end(), 0);
    return outputs;
  }

  absl::Status BindBlock(size_t block, BlockTypes* types) const {
    Signature signature;
    const BlockSpec& spec = functions_[block];
    TF_RETURN_IF_ERROR(Signature::Of(spec.function, library_, &signature));
    const Types arguments = AsNumbers(signature.arguments);
    const size_t num_invariants = spec.invariants.size();
    if (arguments.size() < num_invariants) {
      return Wrong("a block takes too little");
    }
    const size_t num_rows = arguments.size() - num_invariants;
    TF_RETURN_IF_ERROR(BindInvariants(spec, signature, num_rows));
    types->inputs.assign(arguments.begin(),
                         arguments.begin() + static_cast<int64_t>(num_rows));
    types->outputs = AsNumbers(signature.results);
    return absl::OkStatus();
  }

  // What a function takes after its rows are outputs of the prologue.
  absl::Status BindInvariants(const BlockSpec& spec, const Signature& signature,
                              size_t num_rows) const {
    for (size_t i = 0; i < spec.invariants.size(); ++i) {
      const auto output = static_cast<size_t>(spec.invariants[i]);
      if (output >= prologue_.size() ||
          prologue_[output] != signature.arguments[num_rows + i]) {
        return Wrong("a block takes another output of the prologue");
      }
    }
    return absl::OkStatus();
  }

  // What is kept is among what a block gives.
  absl::Status BindExtras(const ProgramTypes& found) const {
    for (const PlannedProcedure& procedure : program_.plan.procedures) {
      for (const Stage& stage : procedure.stages) {
        if (stage.block == kNoBlock) continue;
        const int64_t count = int64_t{stage.num_outputs} +
                              program_.gradients[stage.block].num_extras;
        if (static_cast<int64_t>(found.blocks[stage.block].outputs.size()) !=
            count) {
          return Wrong("a block keeps other values than its gradient takes");
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status Wrong(const std::string& what) const {
    return Damaged(program_.names.front(), what);
  }

  // The part of what is no late one's.
  static constexpr int32_t kFirst = -1;

  const BatchedSpec& program_;
  const std::vector<BlockSpec>& functions_;
  const size_t num_blocks_;
  const LateParts& late_;
  const RootTypes& types_;
  const tf::FunctionLibraryDefinition& library_;
  // By output of the prologue: its type, and the late part that gives it.
  tf::DataTypeVector prologue_;
  std::vector<int32_t> part_of_;
};

class BackwardBinder {
 public:
  BackwardBinder(const BatchedBackwardSpec& spec,
                 const std::vector<BlockSpec>& functions,
                 const BackwardTypes& types,
                 const tf::FunctionLibraryDefinition& library)
      : spec_(spec), functions_(functions), types_(types), library_(library) {}

  absl::Status Bind() {
    const Plan& plan = spec_.program.plan;
    const PlannedProcedure& entry = plan.procedures.front();
    const bool fits =
        Fit(types_.results, types_.of_results, entry.outputs.size()) &&
        // The forward call knows its tables.
        Fit(types_.tables, types_.of_tables, INT32_MAX) &&
        Fit(types_.arguments, types_.of_arguments, entry.num_arguments) &&
        Fit(types_.prologue_outputs, types_.of_prologue,
            plan.num_prologue_outputs);
    if (!fits) return Wrong("its gradient is of values that are not there");
    for (size_t block = 0; block < spec_.program.gradients.size(); ++block) {
      TF_RETURN_IF_ERROR(BindBackward(block));
      TF_RETURN_IF_ERROR(BindDeferred(block));
    }
    return absl::OkStatus();
  }

 private:
  static bool Fit(const std::vector<int32_t>& indices,
                  const tf::DataTypeVector& types, size_t end) {
    return indices.size() == types.size() &&
           std::all_of(indices.begin(), indices.end(),
                       [end](int32_t index) {
                         return index >= 0 && static_cast<size_t>(index) < end;
                       }) &&
           std::all_of(types.begin(), types.end(), [](tf::DataType type) {
             return tf::DataTypeIsFloating(type) || tf::DataTypeIsComplex(type);
           });
  }

  absl::Status BindBackward(size_t block) const {
    const BlockGradient& gradient = spec_.program.gradients[block];
    if (!gradient.has_backward) return absl::OkStatus();
    const BlockSpec& function = functions_[spec_.backward[block]];
    Signature signature;
    TF_RETURN_IF_ERROR(Signature::Of(function.function, library_, &signature));
    bool fits = signature.arguments.size() == gradient.tape.size() +
                                                  gradient.cotangents.size() +
                                                  function.invariants.size() &&
                signature.results.size() >= gradient.input_gradients.size();
    for (const Replayed& input : gradient.deferred) {
      fits =
          fits && (input.kind != Replayed::Kind::kBackward ||
                   static_cast<size_t>(input.index) < signature.results.size());
    }
    return fits ? absl::OkStatus()
                : Wrong("a backward part takes or gives other values");
  }

  absl::Status BindDeferred(size_t block) {
    const BlockGradient& gradient = spec_.program.gradients[block];
    if (!gradient.has_deferred) return absl::OkStatus();
    const BlockSpec& function = functions_[spec_.deferred[block]];
    Signature signature;
    TF_RETURN_IF_ERROR(Signature::Of(function.function, library_, &signature));
    const auto first = static_cast<size_t>(spec_.first_deferred[block]);
    bool fits =
        signature.arguments.size() ==
            gradient.deferred.size() + function.invariants.size() &&
        signature.results.size() ==
            static_cast<size_t>(types_.deferred_counts[next_++]) &&
        first + signature.results.size() <= spec_.deferred_places.size();
    for (size_t i = 0; fits && i < signature.results.size(); ++i) {
      const int32_t place = spec_.deferred_places[first + i];
      fits = signature.results[i] == spec_.deferred_types[place];
    }
    return fits ? absl::OkStatus()
                : Wrong("a deferred part takes or gives other values");
  }

  absl::Status Wrong(const std::string& what) const {
    return Damaged(spec_.program.names.front(), what);
  }

  const BatchedBackwardSpec& spec_;
  const std::vector<BlockSpec>& functions_;
  const BackwardTypes& types_;
  const tf::FunctionLibraryDefinition& library_;
  // Of the deferred parts.
  size_t next_ = 0;
};

}  // namespace

absl::Status BindForward(const BatchedSpec& program,
                         const std::vector<BlockSpec>& functions,
                         const LateParts& late, const RootTypes& types,
                         const std::vector<int32_t>& prologue_captures,
                         bool keep,
                         const tf::FunctionLibraryDefinition& library) {
  return ForwardBinder(program, functions, late, types, library)
      .Bind(prologue_captures, keep);
}

absl::Status BindBackward(const BatchedBackwardSpec& spec,
                          const std::vector<BlockSpec>& functions,
                          const BackwardTypes& types,
                          const tf::FunctionLibraryDefinition& library) {
  return BackwardBinder(spec, functions, types, library).Bind();
}

}  // namespace recursive_tf
