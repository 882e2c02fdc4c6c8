#include "recursive_tf/cc/tf/bind_batched.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
                const std::vector<BlockSpec>& functions, const RootTypes& types,
                const tf::FunctionLibraryDefinition& library)
      : program_(program),
        functions_(functions),
        types_(types),
        library_(library) {}

  absl::Status Bind(const std::vector<int32_t>& prologue_captures, bool keep) {
    TF_RETURN_IF_ERROR(BindNames());
    TF_RETURN_IF_ERROR(BindPrologue(prologue_captures));
    ProgramTypes found;
    for (size_t block = 0; block + 1 < functions_.size(); ++block) {
      TF_RETURN_IF_ERROR(BindBlock(block, &found.blocks.emplace_back()));
    }
    found.prologue = AsNumbers(prologue_.results);
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
    TF_RETURN_IF_ERROR(
        Signature::Of(functions_.back().function, library_, &prologue_));
    tf::DataTypeVector taken;
    for (const int32_t capture : captures) {
      if (static_cast<size_t>(capture) >= types_.captures.size()) {
        return Wrong("its prologue takes a capture that is not there");
      }
      taken.push_back(types_.captures[capture]);
    }
    if (prologue_.arguments == taken) return absl::OkStatus();
    return Wrong("its prologue takes other captures");
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
    for (size_t i = 0; i < num_invariants; ++i) {
      const auto output = static_cast<size_t>(spec.invariants[i]);
      if (output >= prologue_.results.size() ||
          prologue_.results[output] != signature.arguments[num_rows + i]) {
        return Wrong("a block takes another output of the prologue");
      }
    }
    types->inputs.assign(arguments.begin(),
                         arguments.begin() + static_cast<int64_t>(num_rows));
    types->outputs = AsNumbers(signature.results);
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

  const BatchedSpec& program_;
  const std::vector<BlockSpec>& functions_;
  const RootTypes& types_;
  const tf::FunctionLibraryDefinition& library_;
  Signature prologue_;
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
    size_t num_kept = 0;
    for (size_t block = 0; block < spec_.program.gradients.size(); ++block) {
      TF_RETURN_IF_ERROR(BindBackward(block));
      TF_RETURN_IF_ERROR(BindDeferred(block));
      num_kept += spec_.program.gradients[block].deferred.size();
    }
    if (spec_.kept_types.size() != num_kept ||
        spec_.kept_shapes.size() != num_kept ||
        types_.deferred.size() != spec_.deferred_has_rows.size()) {
      return Wrong("its deferred parts take or give other values");
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
    bool fits = signature.arguments.size() ==
                    gradient.deferred.size() + function.invariants.size() &&
                signature.results.size() ==
                    static_cast<size_t>(types_.deferred_counts[next_++]) &&
                first + signature.results.size() <= types_.deferred.size();
    for (size_t i = 0; fits && i < signature.results.size(); ++i) {
      fits = signature.results[i] == types_.deferred[first + i];
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
                         const RootTypes& types,
                         const std::vector<int32_t>& prologue_captures,
                         bool keep,
                         const tf::FunctionLibraryDefinition& library) {
  return ForwardBinder(program, functions, types, library)
      .Bind(prologue_captures, keep);
}

absl::Status BindBackward(const BatchedBackwardSpec& spec,
                          const std::vector<BlockSpec>& functions,
                          const BackwardTypes& types,
                          const tf::FunctionLibraryDefinition& library) {
  return BackwardBinder(spec, functions, types, library).Bind();
}

}  // namespace recursive_tf
