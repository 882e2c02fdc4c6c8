#ifndef RECURSIVE_TF_CC_BATCHING_RUN_REPORT_H_
#define RECURSIVE_TF_CC_BATCHING_RUN_REPORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace recursive_tf {

// What one run did and where its time went.
struct RunReport {
  explicit RunReport(size_t num_blocks = 0)
      : launches(num_blocks, 0),
        rows(num_blocks, 0),
        shared(num_blocks, 0),
        compiled(num_blocks, 0),
        reasons(num_blocks) {}

  // What the products of a block did.
  struct Products {
    // Of launches, backward and deferred parts that ran as block programs.
    double seconds = 0;
    // Operations of float and of double.
    int64_t flops = 0;
    int64_t flops_of_doubles = 0;
  };

  // By block: how often it was launched, and for how many activations in all,
  // also of those that looked rows up without a launch.
  std::vector<int64_t> launches;
  std::vector<int64_t> rows;
  // How many of the activations got a row that another one computed.
  std::vector<int64_t> shared;
  // How many of the launches ran as a block program, and why others did not,
  // which is not said of a forward pass that nobody watches.
  std::vector<int64_t> compiled;
  std::vector<std::string> reasons;
  // What products did; no blocks unless somebody watches.
  std::vector<Products> products;
  // Following calls and returns; copying rows; computing blocks; computing what
  // the gradient deferred.
  double seconds_schedule = 0;
  double seconds_gather = 0;
  double seconds_blocks = 0;
  double seconds_deferred = 0;
  // Of rows that were copied.
  int64_t bytes_moved = 0;
  // The most that values held at once, what is kept for the gradient included.
  int64_t peak_bytes = 0;
  // See launch_bound.h. Known of forward passes that somebody watches.
  std::optional<int64_t> least_launches;
};

// Tells how long the parts of a run take.
class Stopwatch {
 public:
  // Adds the time since the last lap, or since the start, to `*seconds`, and
  // returns it.
  double Lap(double* seconds) {
    const Clock::time_point now = Clock::now();
    const double lap =
        std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    *seconds += lap;
    return lap;
  }

  // Begins a lap, and counts none of the time before.
  void Skip() { last_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point last_ = Clock::now();
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_RUN_REPORT_H_
