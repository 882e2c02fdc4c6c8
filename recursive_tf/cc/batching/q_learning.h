#ifndef RECURSIVE_TF_CC_BATCHING_Q_LEARNING_H_
#define RECURSIVE_TF_CC_BATCHING_Q_LEARNING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/policy_table.h"
#include "recursive_tf/cc/batching/rehearsal.h"

namespace recursive_tf {

struct LearningSettings {
  Encoding encoding = Encoding::kSort;
  // What a launch of all of a sub-frontier gives back of the 1 that it costs
  // (alpha of Gu et al. 2023, equation 1).
  double share_reward = 0.5;
  // How often a trial tries any other block.
  double exploration = 0.2;
  // How far a value moves towards what a trial found.
  double rate = 0.2;
  // How many launches a trial looks ahead before it trusts values.
  size_t num_steps = 10;
  uint64_t seed = 0;
};

// Learns by trials on recorded launch graphs which block to launch in which
// state, so that launches are few: tabular Q-learning with n-step returns
// (Gu et al. 2023, section 2.3; Watkins and Dayan 1992). Nothing is computed.
//
// The first trials of each graph follow the paper's sufficient condition and
// the critical path; so what is learned begins with these, as far as states can
// tell them.
class QLearning {
 public:
  // The graphs must outlive this, and are of one plan.
  QLearning(const std::vector<LaunchGraph>* graphs,
            const LearningSettings& settings);

  // Makes a trial on each graph.
  void Try();

  // Returns what has the highest value in each state that was seen.
  PolicyTable Table() const;

  // Returns how many launches all graphs take with a table.
  int64_t Launches(const PolicyTable& table);

  // Returns how many they take at least, whatever the policy.
  int64_t LeastLaunches() const;

 private:
  // Values by block; of blocks that were never tried there is none.
  using Values = std::map<int32_t, double>;

  struct Step {
    FrontierState state;
    int32_t block;
    double reward;
  };

  std::vector<Step> RunTrial(Rehearsal* rehearsal);
  // Returns the next block of a trial.
  int32_t Choose(const Rehearsal& rehearsal, const FrontierState& state);
  int32_t Explore(const FrontierState& state);
  int32_t Best(const FrontierState& state) const;
  void Learn(const std::vector<Step>& steps);

  const LearningSettings settings_;
  std::vector<std::unique_ptr<Rehearsal>> rehearsals_;
  std::map<FrontierState, Values> values_;
  std::mt19937_64 random_;
  int64_t num_trials_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_Q_LEARNING_H_
