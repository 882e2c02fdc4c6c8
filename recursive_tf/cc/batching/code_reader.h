#ifndef RECURSIVE_TF_CC_BATCHING_CODE_READER_H_
#define RECURSIVE_TF_CC_BATCHING_CODE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace recursive_tf {

// Reads the numbers that recursive_tf/python/batching/encode/encoding.py wrote,
// perhaps in another process and another version of the library. After the
// first mistake every number is 0.
class CodeReader {
 public:
  // The first number of whatever is encoded.
  static constexpr int64_t kVersion = 3;

  // `what` names it in errors; `code` must outlive this.
  CodeReader(std::string what, const std::vector<int64_t>* code)
      : what_(std::move(what)), code_(*code) {}

  // Returns whether this version of the library reads it.
  bool ReadVersion() {
    const int64_t version = Number();
    if (version == kVersion) return true;
    error_ = "The " + what_ + " has version " + std::to_string(version) +
             ", but this version of recursive_tf reads version " +
             std::to_string(kVersion) +
             ". Trace or save the model again with the version that runs it.";
    return false;
  }

  int64_t Number() {
    if (error_.empty() && next_ < code_.size()) return code_[next_++];
    Fail("ends too early");
    return 0;
  }

  // A number of things that follow: at most as many as there are numbers.
  int32_t Count() {
    const int64_t count = Number();
    if (count >= 0 && count <= size()) return static_cast<int32_t>(count);
    Fail("counts " + std::to_string(count) + " of something");
    return 0;
  }

  int32_t Index() {
    const int64_t index = Number();
    if (index == static_cast<int32_t>(index)) {
      return static_cast<int32_t>(index);
    }
    Fail("says " + std::to_string(index) + " where no number is so large");
    return 0;
  }

  bool Flag() { return Number() != 0; }

  std::vector<int32_t> Indices() {
    std::vector<int32_t> indices(Count());
    for (int32_t& index : indices) index = Index();
    return indices;
  }

  void ReadEnd() {
    if (error_.empty() && next_ != code_.size()) Fail("goes on after its end");
  }

  void Fail(const std::string& what) {
    if (error_.empty())
      error_ = "The " + what_ + " is damaged: it " + what + ".";
  }

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  int64_t size() const { return static_cast<int64_t>(code_.size()); }

 private:
  const std::string what_;
  const std::vector<int64_t>& code_;
  size_t next_ = 0;
  std::string error_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_CODE_READER_H_
