#ifndef RECURSIVE_TF_CC_RUNTIME_ROW_CLAIMS_H_
#define RECURSIVE_TF_CC_RUNTIME_ROW_CLAIMS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace recursive_tf {

// Gives each row of a table to the first activation that asks for it, so that
// rows are written without a lock.
//
// Thread safety: Claim may be called from any thread.
//
// Cost: a byte a row, of which the system gives only what is touched.
class RowClaims {
 public:
  enum class Verdict : uint8_t { kClaimed, kTaken, kOutOfRange };

  explicit RowClaims(int64_t num_rows)
      : num_rows_(num_rows),
        taken_(static_cast<std::atomic<bool>*>(
            std::calloc(std::max<int64_t>(num_rows, 1), sizeof(bool)))) {}

  // Returns whether there was memory for so many rows; if not, none may be
  // claimed.
  bool has_memory() const { return taken_ != nullptr; }

  [[nodiscard]] Verdict Claim(int64_t row) {
    if (row < 0 || row >= num_rows_) return Verdict::kOutOfRange;
    const bool taken = taken_[row].exchange(true, std::memory_order_relaxed);
    return taken ? Verdict::kTaken : Verdict::kClaimed;
  }

  // The same, without an atomic exchange. REQUIRES: nothing else is claimed at
  // the same time.
  [[nodiscard]] Verdict ClaimAlone(int64_t row) {
    if (row < 0 || row >= num_rows_) return Verdict::kOutOfRange;
    if (IsTaken(row)) return Verdict::kTaken;
    taken_[row].store(true, std::memory_order_relaxed);
    return Verdict::kClaimed;
  }

  // REQUIRES: no Claim runs at the same time.
  bool IsTaken(int64_t row) const {
    return taken_[row].load(std::memory_order_relaxed);
  }

  int64_t num_rows() const { return num_rows_; }

 private:
  struct Free {
    void operator()(std::atomic<bool>* taken) const { std::free(taken); }
  };
  // Zeros are what `false` is.
  static_assert(sizeof(std::atomic<bool>) == sizeof(bool) &&
                std::is_trivially_destructible_v<std::atomic<bool>>);

  const int64_t num_rows_;
  const std::unique_ptr<std::atomic<bool>[], Free> taken_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_ROW_CLAIMS_H_
