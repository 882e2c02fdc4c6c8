#include "recursive_tf/cc/tf/team_schedule.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "recursive_tf/cc/scheduling/teams.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

constexpr char kCriticalPath[] = "critical_path";
constexpr char kFirstCome[] = "first_come";
constexpr char kPinned[] = "pinned";
constexpr char kMoving[] = "moving";
// More threads than any machine has cores.
constexpr int kMostThreads = 1024;

bool ParseSize(const std::string& text, TeamSchedule* schedule) {
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  return parts.size() == 2 &&
         absl::SimpleAtoi(parts[0], &schedule->num_teams) &&
         absl::SimpleAtoi(parts[1], &schedule->num_threads) &&
         schedule->num_teams >= 1 && schedule->num_threads >= 1 &&
         schedule->num_teams <= kMostThreads &&
         schedule->num_threads <= kMostThreads / schedule->num_teams;
}

}  // namespace

std::string TeamSchedule::Name() const {
  return absl::StrCat(num_teams, "x", num_threads, " ",
                      critical_path_first ? kCriticalPath : kFirstCome, " ",
                      pinned ? kPinned : kMoving);
}

absl::Status TeamSchedule::Parse(const std::string& name,
                                 TeamSchedule* schedule) {
  const std::vector<std::string> parts = absl::StrSplit(name, ' ');
  const bool is_known = parts.size() == 3 && ParseSize(parts[0], schedule) &&
                        (parts[1] == kCriticalPath || parts[1] == kFirstCome) &&
                        (parts[2] == kPinned || parts[2] == kMoving);
  if (!is_known) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", name, "' is no schedule. One is e.g. '2x1 ", kCriticalPath, " ",
        kPinned, "', of ", kMostThreads, " threads at most."));
  }
  schedule->critical_path_first = parts[1] == kCriticalPath;
  schedule->pinned = parts[2] == kPinned;
  return absl::OkStatus();
}

absl::Status TeamSchedule::Read(tensorflow::OpKernelConstruction* ctx,
                                std::optional<TeamSchedule>* schedule) {
  std::string name;
  TF_RETURN_IF_ERROR(ctx->GetAttr("schedule", &name));
  if (name.empty()) return absl::OkStatus();
  return Parse(name, &schedule->emplace());
}

Teams* TeamsOf(const TeamSchedule& schedule) {
  using Key = std::tuple<int, int, bool>;
  static auto* mu = new std::mutex;
  static auto* all = new std::map<Key, Teams*>;
  const std::lock_guard<std::mutex> lock(*mu);
  Teams*& teams =
      (*all)[{schedule.num_teams, schedule.num_threads, schedule.pinned}];
  if (teams == nullptr) {
    teams =
        new Teams(schedule.num_teams, schedule.num_threads, schedule.pinned);
  }
  return teams;
}

}  // namespace recursive_tf
