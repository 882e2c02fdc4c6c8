#ifndef RECURSIVE_TF_CC_TF_TEAM_SCHEDULE_H_
#define RECURSIVE_TF_CC_TF_TEAM_SCHEDULE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "recursive_tf/cc/scheduling/teams.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// How operations are given to threads: what `rtf.Schedule` says.
struct TeamSchedule {
  int num_teams = 1;
  // Of each team.
  int num_threads = 1;
  // Or whatever was ready first.
  bool critical_path_first = true;
  // Whether each team stays on cores of its own.
  bool pinned = true;

  // "2x1 critical_path pinned", as attributes of ops and types of executors
  // have it.
  std::string Name() const;
  static absl::Status Parse(const std::string& name, TeamSchedule* schedule);

  // Reads the attribute "schedule" of a root op; there is none if it is empty.
  static absl::Status Read(tensorflow::OpKernelConstruction* ctx,
                           std::optional<TeamSchedule>* schedule);
};

// Returns the teams of a schedule. All that is scheduled alike in this process
// shares them; they are made when somebody first asks, and stay.
Teams* TeamsOf(const TeamSchedule& schedule);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_TEAM_SCHEDULE_H_
