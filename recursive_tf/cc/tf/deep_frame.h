#ifndef RECURSIVE_TF_CC_TF_DEEP_FRAME_H_
#define RECURSIVE_TF_CC_TF_DEEP_FRAME_H_

#include <cstdint>

#include "tensorflow/core/framework/function.h"

namespace recursive_tf {

// A call frame that knows how many calls it is in.
class DeepFrame : public tensorflow::CallFrameInterface {
 public:
  virtual int64_t depth() const = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_DEEP_FRAME_H_
