#include "recursive_tf/cc/tf/cycle_error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace recursive_tf {

namespace {

// Returns e.g. "3 → 5 → 3".
std::string InWords(const std::vector<int64_t>& keys) {
  constexpr size_t kShown = 10;
  std::string words;
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool is_shown = i < kShown / 2 || i + kShown / 2 >= keys.size();
    if (is_shown) absl::StrAppend(&words, keys[i], " → ");
    if (i == kShown / 2 && !is_shown) absl::StrAppend(&words, "… → ");
  }
  return absl::StrCat(words, keys.front());
}

}  // namespace

absl::Status CycleError(const std::vector<int64_t>& keys) {
  return absl::FailedPreconditionError(absl::StrCat(
      "it asks for the key ", keys.front(),
      " of memo=, which waits for this invocation itself, so that neither can "
      "go on: ",
      InWords(keys),
      ". What an invocation calls must lead to other keys: look for a cycle in "
      "the data, or for unlike inputs that memo= gives one key."));
}

}  // namespace recursive_tf
