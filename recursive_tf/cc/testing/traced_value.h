#ifndef RECURSIVE_TF_CC_TESTING_TRACED_VALUE_H_
#define RECURSIVE_TF_CC_TESTING_TRACED_VALUE_H_

#include <atomic>

namespace recursive_tf {

// A value that counts how many of it are alive, so that a test can say
// "nothing leaked" as an equation.
class TracedValue {
 public:
  explicit TracedValue(int id) : id_(id) { ++num_alive; }
  TracedValue(const TracedValue& other) : id_(other.id_) { ++num_alive; }
  TracedValue(TracedValue&& other) noexcept : id_(other.id_) { ++num_alive; }
  TracedValue& operator=(const TracedValue&) = default;
  TracedValue& operator=(TracedValue&&) noexcept = default;
  ~TracedValue() { --num_alive; }

  int id() const { return id_; }

  static inline std::atomic<int> num_alive = 0;

 private:
  int id_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_TRACED_VALUE_H_
