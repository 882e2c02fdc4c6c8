#ifndef RECURSIVE_TF_CC_RUNTIME_ROW_CLAIMS_H_
#define RECURSIVE_TF_CC_RUNTIME_ROW_CLAIMS_H_

#include <atomic>
#include <cstdint>
#include <memory>

namespace recursive_tf {

// Gives each row of a table to the first activation that asks for it, so that
// rows are written without a lock.
//
// Thread safety: Claim may be called from any thread.
class RowClaims {
 public:
  enum class Verdict : uint8_t { kClaimed, kTaken, kOutOfRange };

  explicit RowClaims(int64_t num_rows)
      : num_rows_(num_rows),
        taken_(std::make_unique<std::atomic<bool>[]>(num_rows)) {}

  [[nodiscard]] Verdict Claim(int64_t row) {
    if (row < 0 || row >= num_rows_) return Verdict::kOutOfRange;
    const bool taken = taken_[row].exchange(true, std::memory_order_relaxed);
    return taken ? Verdict::kTaken : Verdict::kClaimed;
  }

  // REQUIRES: no Claim runs at the same time.
  bool IsTaken(int64_t row) const {
    return taken_[row].load(std::memory_order_relaxed);
  }

  int64_t num_rows() const { return num_rows_; }

 private:
  const int64_t num_rows_;
  std::unique_ptr<std::atomic<bool>[]> taken_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_ROW_CLAIMS_H_
