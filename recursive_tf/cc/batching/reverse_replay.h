#ifndef RECURSIVE_TF_CC_BATCHING_REVERSE_REPLAY_H_
#define RECURSIVE_TF_CC_BATCHING_REVERSE_REPLAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/adjoints.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/tape.h"

namespace recursive_tf {

// Replays a tape in reverse: the backward block of each launch, when all that
// read its outputs have contributed to their gradients; and what was deferred,
// for as many launches of a block at once as memory allows. Launches that no
// gradient reaches are left out.
//
// Backend, in addition to RowOps (adjoints.h), is
//   int64_t NumBytes(const Kept&);
//   // What a launch kept, as the tape has it. It is asked for once; who knows
//   // that nobody replays the tape again may let go of it there.
//   std::vector<Kept> TakeKept(size_t launch);
//   // The gradient of a value, where none came.
//   Tensor Zeros(int32_t value);
//   // Each returns false if it fails, which ends the replay. The first outputs
//   // are the gradients of inputs that the plan lists: they fit the rows that
//   // the launch took there.
//   bool RunBackward(const TapedLaunch<Kept>& launch,
//                    std::vector<Kept> inputs, std::vector<Tensor>* outputs);
//   // Takes for each input the rows of each launch, to be concatenated. It
//   // runs once a block that a gradient reaches, or more often: then what it
//   // gives is added up.
//   bool RunDeferred(int32_t block, std::vector<std::vector<Kept>> inputs);
//   // How much is held while the next of them runs, the tape and what that one
//   // takes included; but not copies that it makes of its inputs.
//   void Hold(int64_t num_bytes);
template <typename Tensor, typename Backend>
class ReverseReplay {
 public:
  using Kept = typename Backend::Kept;

  // All of them must outlive this.
  ReverseReplay(const GradientPlan* plan, const Tape<Kept>* tape,
                Backend* backend)
      : plan_(*plan),
        tape_(*tape),
        backend_(*backend),
        adjoints_(&tape->num_rows, backend),
        deferred_(plan->size()) {
    std::vector<size_t> num_launches(plan_.size(), 0);
    for (const TapedLaunch<Kept>& launch : tape_.launches) {
      bytes_kept_ += NumBytes(launch.kept);
      ++num_launches[launch.block];
    }
    for (size_t block = 0; block < plan_.size(); ++block) {
      deferred_[block].inputs.resize(plan_[block].deferred.size());
      for (std::vector<Kept>& rows : deferred_[block].inputs) {
        rows.reserve(num_launches[block]);
      }
    }
    most_bytes_ = std::max(kLeastBytes, bytes_kept_ / kShareOfKept);
  }

  // Says what the gradient of a result of the root call is.
  void AddResult(int32_t result, Tensor gradient) {
    adjoints_.Add(tape_.results[result], std::move(gradient));
  }

  // Says what the gradient of a table is.
  void AddPushed(int32_t table, Tensor gradient) {
    const PushedRows& pushed = tape_.pushed[table];
    adjoints_.Add(pushed.values, std::move(gradient), pushed.indices);
  }

  // Returns whether all went well.
  [[nodiscard]] bool Run() {
    for (size_t i = tape_.launches.size(); i-- > 0;) {
      if (!Replay(i)) return false;
    }
    for (size_t block = 0; block < plan_.size(); ++block) {
      if (plan_[block].has_deferred && deferred_[block].IsDue() &&
          !RunDeferred(static_cast<int32_t>(block))) {
        return false;
      }
    }
    return true;
  }

  // Returns whether a gradient came to a launch of a block.
  bool IsReached(int32_t block) const { return deferred_[block].is_reached; }

  // Returns the gradient of an argument of the root call or of an output of the
  // prologue, by the number of the value; none if it is zero.
  std::optional<Kept> Take(int32_t value) { return adjoints_.Take(value); }

 private:
  // What the deferred part of a block waits to run for.
  struct Deferred {
    bool IsDue() const {
      return is_reached &&
             (!has_run || (!inputs.empty() && !inputs.front().empty()));
    }

    // By input: the rows of each launch.
    std::vector<std::vector<Kept>> inputs;
    // Of those that only wait for this.
    int64_t num_bytes = 0;
    // Some launch has rows for it. Without, it must not run: a mean of no rows
    // is NaN, and the prologue may lack what it takes.
    bool is_reached = false;
    bool has_run = false;
  };

  // A run of a deferred part is worth that many bytes of inputs, also where
  // little is kept.
  static constexpr int64_t kLeastBytes = int64_t{4} * 1024 * 1024;
  static constexpr int64_t kShareOfKept = 16;

  bool Replay(size_t index) {
    const TapedLaunch<Kept>& launch = tape_.launches[index];
    const BlockGradient& gradient = plan_[launch.block];
    const std::vector<Kept> cotangents = TakeCotangents(launch);
    if (cotangents.empty()) return true;
    deferred_[launch.block].is_reached = true;
    std::vector<Kept> inputs = TakeKept(index);
    std::vector<Tensor> outputs;
    if (gradient.has_backward) {
      inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
      Hold(NumBytes(cotangents));
      if (!backend_.RunBackward(launch, std::move(inputs), &outputs)) {
        return false;
      }
    }
    bytes_kept_ -= std::exchange(bytes_let_go_, 0);
    Defer(launch.block, cotangents, outputs);
    if (deferred_[launch.block].num_bytes > most_bytes_ &&
        !RunDeferred(launch.block)) {
      return false;
    }
    for (size_t i = 0; i < gradient.input_gradients.size(); ++i) {
      adjoints_.Add(launch.inputs[gradient.input_gradients[i]],
                    std::move(outputs[i]));
    }
    return true;
  }

  // Returns what the backward block of a launch takes of what the launch kept,
  // and defers what the deferred part takes of it.
  std::vector<Kept> TakeKept(size_t index) {
    const TapedLaunch<Kept>& launch = tape_.launches[index];
    const BlockGradient& gradient = plan_[launch.block];
    const std::vector<Kept> kept = backend_.TakeKept(index);
    const bool is_let_go = launch.kept.empty();
    if (is_let_go) bytes_let_go_ = NumBytes(kept);
    for (size_t i = 0; i < gradient.deferred.size(); ++i) {
      const Replayed& input = gradient.deferred[i];
      if (input.kind != Replayed::Kind::kKept) continue;
      const Kept& rows = kept[input.index];
      if (is_let_go) bytes_let_go_ -= backend_.NumBytes(rows);
      deferred_[launch.block].inputs[i].push_back(rows);
    }
    std::vector<Kept> inputs;
    inputs.reserve(gradient.tape.size() + gradient.cotangents.size());
    for (const int32_t each : gradient.tape) inputs.push_back(kept[each]);
    return inputs;
  }

  // Returns none at all if all are zero.
  std::vector<Kept> TakeCotangents(const TapedLaunch<Kept>& launch) {
    const std::vector<int32_t>& outputs = plan_[launch.block].cotangents;
    std::vector<std::optional<Kept>> found;
    found.reserve(outputs.size());
    bool is_reached = false;
    for (const int32_t output : outputs) {
      found.push_back(adjoints_.Take(launch.first_value + output));
      is_reached = is_reached || found.back().has_value();
    }
    std::vector<Kept> cotangents;
    if (!is_reached) return cotangents;
    cotangents.reserve(outputs.size());
    for (std::optional<Kept>& gradient : found) {
      const int32_t value = launch.first_value + outputs[cotangents.size()];
      cotangents.push_back(gradient.has_value() ? *std::move(gradient)
                                                : Kept(backend_.Zeros(value)));
    }
    return cotangents;
  }

  // Defers the rest of what the deferred part of a block takes of a launch.
  void Defer(int32_t block, const std::vector<Kept>& cotangents,
             const std::vector<Tensor>& outputs) {
    const std::vector<Replayed>& inputs = plan_[block].deferred;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int32_t index = inputs[i].index;
      Deferred& deferred = deferred_[block];
      std::vector<Kept>& rows = deferred.inputs[i];
      switch (inputs[i].kind) {
        case Replayed::Kind::kKept:
          continue;
        case Replayed::Kind::kCotangent:
          rows.push_back(cotangents[index]);
          break;
        case Replayed::Kind::kBackward:
          rows.push_back(outputs[index]);
          break;
      }
      const int64_t num_bytes = backend_.NumBytes(rows.back());
      deferred.num_bytes += num_bytes;
      bytes_deferred_ += num_bytes;
    }
  }

  bool RunDeferred(int32_t block) {
    Deferred& deferred = deferred_[block];
    std::vector<std::vector<Kept>> inputs(deferred.inputs.size());
    std::swap(inputs, deferred.inputs);
    const int64_t num_bytes = std::exchange(deferred.num_bytes, 0);
    bytes_deferred_ -= num_bytes;
    deferred.has_run = true;
    // Many are concatenated, and then each is let go of.
    const bool is_one = !inputs.empty() && inputs.front().size() == 1;
    Hold(is_one ? num_bytes : 0);
    return backend_.RunDeferred(block, std::move(inputs));
  }

  void Hold(int64_t bytes_taken) {
    backend_.Hold(bytes_kept_ + adjoints_.num_bytes() + bytes_deferred_ +
                  bytes_taken);
  }

  template <typename Rows>
  int64_t NumBytes(const std::vector<Rows>& all) const {
    int64_t num_bytes = 0;
    for (const Rows& rows : all) num_bytes += backend_.NumBytes(rows);
    return num_bytes;
  }

  const GradientPlan& plan_;
  const Tape<Kept>& tape_;
  Backend& backend_;
  Adjoints<Tensor, Backend> adjoints_;
  // By block.
  std::vector<Deferred> deferred_;
  // On the tape, or from it and with a deferred part; from it, and with the
  // backward block that runs.
  int64_t bytes_kept_ = 0;
  int64_t bytes_let_go_ = 0;
  // What waits for deferred parts, of all blocks; may, of one.
  int64_t bytes_deferred_ = 0;
  int64_t most_bytes_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_REVERSE_REPLAY_H_
