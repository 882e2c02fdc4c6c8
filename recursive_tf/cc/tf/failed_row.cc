#include "recursive_tf/cc/tf/failed_row.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace recursive_tf {
namespace {

constexpr char kRow[] = "recursive_tf/failed_row";

}  // namespace

absl::Status WithFailedRow(absl::Status status, int64_t row) {
  const std::string text = absl::StrCat(row);
  // Not of the string itself: TensorFlow does not export that.
  status.SetPayload(kRow, absl::Cord(absl::string_view(text)));
  return status;
}

std::optional<int64_t> TakeFailedRow(absl::Status* status) {
  const auto payload = status->GetPayload(kRow);
  int64_t row = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &row)) {
    return std::nullopt;
  }
  status->ErasePayload(kRow);
  return row;
}

std::optional<int64_t> FindFailedRow(
    int64_t num_rows,
    const std::function<absl::Status(int64_t begin, int64_t end)>& run,
    absl::Status* status) {
  if (!absl::IsInvalidArgument(*status) && !absl::IsOutOfRange(*status)) {
    return std::nullopt;
  }
  int64_t begin = 0;
  int64_t end = num_rows;
  while (end - begin > 1) {
    const int64_t middle = begin + (end - begin) / 2;
    if (run(begin, middle).ok()) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  absl::Status alone = run(begin, end);
  if (alone.code() != status->code()) return std::nullopt;
  // A check of rows may be what fails first. Then its row is one of this run.
  TakeFailedRow(&alone);
  *status = std::move(alone);
  return begin;
}

}  // namespace recursive_tf
