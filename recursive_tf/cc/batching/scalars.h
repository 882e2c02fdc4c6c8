#ifndef RECURSIVE_TF_CC_BATCHING_SCALARS_H_
#define RECURSIVE_TF_CC_BATCHING_SCALARS_H_

#include <cstdint>

#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// The numbers that stand in the rows of a value, found once for many rows.
struct Scalars {
  enum class Type : uint8_t {
    // The rows are something else; zeros are read.
    kNone,
    kBool,
    kInt32,
    kInt64,
  };

  Scalars() = default;
  explicit Scalars(const bool* numbers) : data(numbers), type(Type::kBool) {}
  explicit Scalars(const int32_t* numbers)
      : data(numbers), type(Type::kInt32) {}
  explicit Scalars(const int64_t* numbers)
      : data(numbers), type(Type::kInt64) {}

  bool empty() const { return type == Type::kNone; }

  int64_t At(int32_t row) const {
    switch (type) {
      case Type::kNone:
        break;
      case Type::kBool:
        return static_cast<const bool*>(data)[row] ? 1 : 0;
      case Type::kInt32:
        return static_cast<const int32_t*>(data)[row];
      case Type::kInt64:
        return static_cast<const int64_t*>(data)[row];
    }
    return 0;
  }

  const void* data = nullptr;
  Type type = Type::kNone;
};

// Finds the scalars of one value after the other, each once where rows of it
// come together. `Find` takes a value and returns its scalars.
template <typename Find>
class ScalarsOf {
 public:
  explicit ScalarsOf(Find find) : find_(find) {}

  const Scalars& operator()(ValueRow row) {
    if (row.value != value_) {
      value_ = row.value;
      scalars_ = find_(value_);
    }
    return scalars_;
  }

 private:
  const Find find_;
  int32_t value_ = ValueRow::kNoValue;
  Scalars scalars_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SCALARS_H_
