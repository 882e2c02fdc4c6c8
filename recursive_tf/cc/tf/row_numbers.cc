#include "recursive_tf/cc/tf/row_numbers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "recursive_tf/cc/base/mix_key.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/random_rows.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

using Numbers = std::vector<int64_t>;

// Calls `visit` with a null pointer of the C++ type of a dtype.
template <typename Visit>
void WithType(tf::DataType dtype, const Visit& visit) {
  switch (dtype) {
    case tf::DT_INT32:
      return visit(static_cast<const int32_t*>(nullptr));
    case tf::DT_UINT32:
      return visit(static_cast<const uint32_t*>(nullptr));
    case tf::DT_BOOL:
      return visit(static_cast<const bool*>(nullptr));
    default:
      return visit(static_cast<const int64_t*>(nullptr));
  }
}

// Returns a number as one of a dtype: cut off as a cast does, also where a sum
// does not fit.
int64_t As(tf::DataType dtype, int64_t number) {
  switch (dtype) {
    case tf::DT_INT32:
      return static_cast<int32_t>(number);
    case tf::DT_UINT32:
      return static_cast<uint32_t>(number);
    case tf::DT_BOOL:
      return number != 0 ? 1 : 0;
    default:
      return number;
  }
}

// Without overflow, which is no error in TensorFlow.
template <typename Compute>
int64_t Wrapped(int64_t a, int64_t b, const Compute& compute) {
  return static_cast<int64_t>(
      compute(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

int64_t Negative(int64_t a) {
  return Wrapped(0, a, [](uint64_t x, uint64_t y) { return x - y; });
}

// What is left of `a`, from the next multiple of `b` below on. It has the sign
// of `b`. REQUIRES: that is not 0.
int64_t FloorMod(int64_t a, int64_t b) {
  if (b == -1) return 0;  // The quotient might not fit, which is a trap.
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

int64_t FloorDiv(int64_t a, int64_t b) {
  if (b == -1) return Negative(a);
  const int64_t rest = a % b;
  return a / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}

// Returns the key of a seed, or its counter.
uint64_t OfSeed(NumberOp op, uint64_t first, uint64_t second) {
  uint64_t key = 0;
  uint64_t counter[2];
  KeyAndCounterOf(first, second, &key, counter);
  return op == NumberOp::kKeyOfSeed ? key : counter[1];
}

int64_t Compute(NumberOp op, int64_t a, int64_t b) {
  switch (op) {
    case NumberOp::kMixKey:
      return Wrapped(a, b, MixKey);
    case NumberOp::kKeyOfSeed:
    case NumberOp::kCounterOfSeed:
      return Wrapped(a, b,
                     [op](uint64_t x, uint64_t y) { return OfSeed(op, x, y); });
    case NumberOp::kLowHalf:
      return static_cast<uint32_t>(a);
    case NumberOp::kHighHalf:
      return static_cast<int64_t>(static_cast<uint64_t>(a) >> 32U);
    case NumberOp::kAdd:
      return Wrapped(a, b, [](uint64_t x, uint64_t y) { return x + y; });
    case NumberOp::kSub:
      return Wrapped(a, b, [](uint64_t x, uint64_t y) { return x - y; });
    case NumberOp::kMul:
      return Wrapped(a, b, [](uint64_t x, uint64_t y) { return x * y; });
    case NumberOp::kMax:
      return std::max(a, b);
    case NumberOp::kMin:
      return std::min(a, b);
    case NumberOp::kNeg:
      return Negative(a);
    case NumberOp::kFloorDiv:
      return FloorDiv(a, b);
    case NumberOp::kFloorMod:
      return FloorMod(a, b);
    case NumberOp::kLess:
      return a < b ? 1 : 0;
    case NumberOp::kLessEqual:
      return a <= b ? 1 : 0;
    case NumberOp::kGreater:
      return a > b ? 1 : 0;
    case NumberOp::kGreaterEqual:
      return a >= b ? 1 : 0;
    case NumberOp::kEqual:
      return a == b ? 1 : 0;
    case NumberOp::kNotEqual:
      return a != b ? 1 : 0;
    case NumberOp::kAnd:
      return a != 0 && b != 0 ? 1 : 0;
    case NumberOp::kOr:
      return a != 0 || b != 0 ? 1 : 0;
    case NumberOp::kNot:
      return 1 - a;
    default:
      return a;
  }
}

bool IsInside(int64_t number, int64_t bound) {
  return number >= 0 && number < bound;
}

bool AreInside(const Numbers& numbers, int64_t bound) {
  return std::all_of(numbers.begin(), numbers.end(), [bound](int64_t number) {
    return IsInside(number, bound);
  });
}

void ReadColumn(const RowNumber& number, const tf::Tensor& rows,
                int64_t num_rows, Numbers* numbers) {
  numbers->resize(num_rows);
  WithType(number.dtype, [&](const auto* type) {
    const auto* next = static_cast<decltype(type)>(rows.data()) + number.column;
    for (int64_t& to : *numbers) {
      to = static_cast<int64_t>(*next);
      next += number.num_columns;
    }
  });
}

bool ReadElements(const RowNumber& number, const tf::Tensor& table,
                  const Numbers& indices, Numbers* numbers) {
  const int64_t size = table.NumElements() / number.num_columns;
  if (!number.is_zero_outside && !AreInside(indices, size)) return false;
  numbers->resize(indices.size());
  WithType(table.dtype(), [&](const auto* type) {
    const auto* const first =
        static_cast<decltype(type)>(table.data()) + number.column;
    const int64_t stride = number.num_columns;
    std::transform(indices.begin(), indices.end(), numbers->begin(),
                   [&](int64_t index) {
                     return IsInside(index, size)
                                ? static_cast<int64_t>(first[index * stride])
                                : int64_t{0};
                   });
  });
  return true;
}

// Returns false if a number that counts is out of range.
bool ReadInside(const RowNumber& number,
                const std::vector<const tf::Tensor*>& invariants,
                const std::vector<Numbers>& found, Numbers* numbers) {
  const Numbers& given = found[number.operands.front()];
  const int64_t bound = number.tensor < 0
                            ? number.constant
                            : invariants[number.tensor]->dim_size(0);
  const bool all_count = number.operands.size() == 1;
  const Numbers& counts = found[number.operands.back()];
  for (size_t i = 0; i < given.size(); ++i) {
    if ((all_count || counts[i] != 0) && !IsInside(given[i], bound)) {
      return false;
    }
  }
  numbers->assign(given.begin(), given.end());
  return true;
}

// Returns the numbers of lists, or those in lists, of all items.
Numbers NumberItems(NumberOp op, const Numbers& lengths, int64_t num_items) {
  Numbers items(num_items);
  int64_t* next = items.data();
  for (size_t list = 0; list < lengths.size(); ++list) {
    int64_t* const end = next + lengths[list];
    if (op == NumberOp::kPosition) {
      std::iota(next, end, int64_t{0});
    } else {
      std::fill(next, end, static_cast<int64_t>(list));
    }
    next = end;
  }
  return items;
}

// Returns false if there are not as many items as `*num_items` says, which is
// set if it is not known.
bool FindItems(const RowNumber& number, const std::vector<Numbers>& found,
               int64_t* num_items, Numbers* items) {
  const Numbers& lengths = found[number.operands.front()];
  if (std::any_of(lengths.begin(), lengths.end(),
                  [](int64_t length) { return length < 0; })) {
    return false;
  }
  const int64_t total =
      std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  if (*num_items < 0) *num_items = total;
  if (*num_items != total) return false;
  *items = NumberItems(number.op, lengths, total);
  return true;
}

// Returns false if a divisor is 0.
bool ComputeAll(const RowNumber& number, const std::vector<Numbers>& found,
                int64_t num_rows, Numbers* numbers) {
  numbers->resize(num_rows);
  const Numbers& a = found[number.operands.front()];
  if (number.op == NumberOp::kSelect) {
    const Numbers& then = found[number.operands[1]];
    const Numbers& otherwise = found[number.operands[2]];
    for (int64_t i = 0; i < num_rows; ++i) {
      (*numbers)[i] = a[i] != 0 ? then[i] : otherwise[i];
    }
    return true;
  }
  const Numbers& b = found[number.operands.back()];
  const bool divides =
      number.op == NumberOp::kFloorDiv || number.op == NumberOp::kFloorMod;
  if (divides && std::find(b.begin(), b.end(), 0) != b.end()) return false;
  for (int64_t i = 0; i < num_rows; ++i) {
    (*numbers)[i] = As(number.dtype, Compute(number.op, a[i], b[i]));
  }
  return true;
}

}  // namespace

std::optional<NumberOp> NumberOpOf(const std::string& type) {
  static const auto* const ops = new std::map<std::string, NumberOp>{
      {"Add", NumberOp::kAdd},
      {"AddV2", NumberOp::kAdd},
      {"Cast", NumberOp::kCast},
      {"Equal", NumberOp::kEqual},
      {"FloorDiv", NumberOp::kFloorDiv},
      {"FloorMod", NumberOp::kFloorMod},
      {"Greater", NumberOp::kGreater},
      {"GreaterEqual", NumberOp::kGreaterEqual},
      {"Less", NumberOp::kLess},
      {"LessEqual", NumberOp::kLessEqual},
      {"LogicalAnd", NumberOp::kAnd},
      {"LogicalNot", NumberOp::kNot},
      {"LogicalOr", NumberOp::kOr},
      {"Maximum", NumberOp::kMax},
      {"Minimum", NumberOp::kMin},
      {"Mul", NumberOp::kMul},
      {"Neg", NumberOp::kNeg},
      {"NotEqual", NumberOp::kNotEqual},
      {"RecursiveMixKey", NumberOp::kMixKey},
      {"Select", NumberOp::kSelect},
      {"SelectV2", NumberOp::kSelect},
      {"Sub", NumberOp::kSub},
  };
  const auto found = ops->find(type);
  if (found == ops->end()) return std::nullopt;
  return found->second;
}

bool IsWholeNumber(tf::DataType dtype) {
  return dtype == tf::DT_INT32 || dtype == tf::DT_INT64 || dtype == tf::DT_BOOL;
}

bool IsKey(tf::DataType dtype) { return dtype == tf::DT_UINT64; }

bool IsNumber(tf::DataType dtype) {
  return IsWholeNumber(dtype) || IsKey(dtype) || dtype == tf::DT_UINT32;
}

void ReadNumbers(const tf::Tensor& tensor, int64_t num_rows, Numbers* numbers) {
  WithType(tensor.dtype(), [&](const auto* type) {
    const auto* const first = static_cast<decltype(type)>(tensor.data());
    if (tensor.NumElements() == 1) {
      numbers->assign(num_rows, static_cast<int64_t>(*first));
    } else {
      numbers->assign(first, first + tensor.NumElements());
    }
  });
}

int64_t NumberAt(const tf::Tensor& tensor, int64_t index) {
  int64_t number = 0;
  WithType(tensor.dtype(), [&](const auto* type) {
    number = static_cast<decltype(type)>(tensor.data())[index];
  });
  return number;
}

bool FindNumbers(const std::vector<RowNumber>& numbers,
                 const std::vector<RowBatch>& rows,
                 const std::vector<const tf::Tensor*>& invariants,
                 std::vector<int64_t>* num_rows_by_axis,
                 std::vector<Numbers>* found) {
  found->resize(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const RowNumber& number = numbers[i];
    Numbers* const to = &(*found)[i];
    if (number.axis < 0) continue;
    int64_t& num_rows = (*num_rows_by_axis)[number.axis];
    switch (number.op) {
      case NumberOp::kArgument:
        ReadColumn(number, rows[number.tensor].AsTensor(), num_rows, to);
        break;
      case NumberOp::kInvariant:
        ReadNumbers(*invariants[number.tensor], num_rows, to);
        break;
      case NumberOp::kConstant:
        to->assign(num_rows, number.constant);
        break;
      case NumberOp::kElement:
        if (!ReadElements(number, *invariants[number.tensor],
                          (*found)[number.operands.front()], to)) {
          return false;
        }
        break;
      case NumberOp::kInside:
        if (!ReadInside(number, invariants, *found, to)) return false;
        break;
      case NumberOp::kOwner:
      case NumberOp::kPosition:
        if (!FindItems(number, *found, &num_rows, to)) return false;
        break;
      case NumberOp::kOfOwner: {
        const Numbers& of = (*found)[number.operands.front()];
        const Numbers& owners = (*found)[number.operands.back()];
        to->resize(owners.size());
        std::transform(owners.begin(), owners.end(), to->begin(),
                       [&](int64_t owner) { return of[owner]; });
        break;
      }
      default:
        if (!ComputeAll(number, *found, num_rows, to)) return false;
    }
  }
  return true;
}

tf::Tensor AsTensor(const std::vector<Numbers>& numbers,
                    const std::vector<int32_t>& of_row, tf::DataType dtype) {
  const size_t num_rows = numbers[of_row.front()].size();
  const auto size = static_cast<int64_t>(num_rows * of_row.size());
  tf::Tensor tensor = NewTensorOrThrow(dtype, tf::TensorShape({size}));
  WithType(dtype, [&](const auto* type) {
    using Type = std::remove_cv_t<std::remove_pointer_t<decltype(type)>>;
    auto* const first = static_cast<Type*>(tensor.data());
    for (size_t column = 0; column < of_row.size(); ++column) {
      const Numbers& from = numbers[of_row[column]];
      for (size_t row = 0; row < num_rows; ++row) {
        first[row * of_row.size() + column] = static_cast<Type>(from[row]);
      }
    }
  });
  return tensor;
}

}  // namespace recursive_tf
