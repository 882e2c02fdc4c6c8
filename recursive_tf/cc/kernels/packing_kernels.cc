// Many tensors as one, which is one argument of a call: TensorFlow looks at
// each argument, which takes longer than a small tree.
//
// A packed tensor is a head of 64-bit numbers, and the elements of each part,
// which begin at multiples of the alignment that kernels ask for. The end is at
// one, too, so that several packed tensors may stand one behind the other. The
// head has the number of parts, and of each its dtype, its rank and its sizes.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

constexpr int64_t kNumberSize = sizeof(int64_t);
constexpr int64_t kAlignment = tf::Allocator::kAllocatorAlignment;

int64_t Aligned(int64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

absl::Status CheckDtypes(const tf::DataTypeVector& dtypes) {
  for (const tf::DataType dtype : dtypes) {
    if (tf::DataTypeCanUseMemcpy(dtype)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("A ", tf::DataTypeString(dtype),
                     " cannot be packed: its elements have no fixed size. "
                     "Encode strings as numbers first."));
  }
  return absl::OkStatus();
}

class PackOp : public tf::OpKernel {
 public:
  explicit PackOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    tf::DataTypeVector dtypes;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &dtypes));
    OP_REQUIRES_OK(ctx, CheckDtypes(dtypes));
  }

  bool IsExpensive() override { return false; }

  void Compute(tf::OpKernelContext* ctx) override {
    const std::vector<int64_t> head = HeadOf(ctx);
    int64_t end = kNumberSize * static_cast<int64_t>(head.size());
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      end = Aligned(end) + SizeOf(ctx->input(i));
    }
    end = Aligned(end);
    tf::Tensor* packed = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {end}, &packed));
    auto* const first = static_cast<char*>(packed->data());
    int64_t next = kNumberSize * static_cast<int64_t>(head.size());
    std::memcpy(first, head.data(), next);
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      const tf::Tensor& part = ctx->input(i);
      const int64_t begin = Aligned(next);
      // What stands between parts is given to the caller as well.
      std::memset(first + next, 0, begin - next);
      next = begin + SizeOf(part);
      if (part.NumElements() == 0) continue;
      std::memcpy(first + begin, part.data(), SizeOf(part));
    }
    std::memset(first + next, 0, end - next);
  }

 private:
  static int64_t SizeOf(const tf::Tensor& part) {
    return part.NumElements() * tf::DataTypeSize(part.dtype());
  }

  static std::vector<int64_t> HeadOf(tf::OpKernelContext* ctx) {
    std::vector<int64_t> head = {ctx->num_inputs()};
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      const tf::Tensor& part = ctx->input(i);
      head.push_back(part.dtype());
      head.push_back(part.dims());
      for (int axis = 0; axis < part.dims(); ++axis) {
        head.push_back(part.dim_size(axis));
      }
    }
    return head;
  }
};

// Reads a packed tensor, which may have been made of anything.
class PackedReader {
 public:
  explicit PackedReader(const tf::Tensor* packed)
      : packed_(*packed),
        num_bytes_(packed->NumElements()),
        bytes_(static_cast<const char*>(packed->data())) {}

  // Sets `*number` to the next one of the head. Returns false at the end.
  bool Next(int64_t* number) {
    if (num_bytes_ - at_ < kNumberSize) return false;
    std::memcpy(number, bytes_ + at_, kNumberSize);
    at_ += kNumberSize;
    return true;
  }

  bool NextShape(tf::TensorShape* shape) {
    int64_t rank = 0;
    if (!Next(&rank) || rank < 0 || rank > tf::TensorShape::MaxDimensions()) {
      return false;
    }
    std::vector<int64_t> sizes(rank);
    for (int64_t& size : sizes) {
      if (!Next(&size)) return false;
    }
    return tf::TensorShapeUtils::MakeShape(sizes, shape).ok();
  }

  // Sets `*part` to the elements behind what was read. They stay where they are
  // if kernels can take them there.
  absl::Status Take(tf::DataType dtype, const tf::TensorShape& shape,
                    tf::Tensor* part) {
    const int64_t begin = Aligned(at_);
    const int64_t size = tf::DataTypeSize(dtype);
    if (begin > num_bytes_ ||
        shape.num_elements() > (num_bytes_ - begin) / size) {
      return absl::InvalidArgumentError("it ends too early");
    }
    at_ = begin + shape.num_elements() * size;
    const bool is_aligned =
        reinterpret_cast<uintptr_t>(bytes_ + begin) % kAlignment == 0;
    if (is_aligned && shape.num_elements() > 0) {
      return part->BitcastFrom(packed_.Slice(begin, at_), dtype, shape);
    }
    TF_RETURN_IF_ERROR(NewTensorOfShape(dtype, shape, part));
    if (shape.num_elements() > 0) {
      std::memcpy(part->data(), bytes_ + begin, at_ - begin);
    }
    return absl::OkStatus();
  }

 private:
  const tf::Tensor& packed_;
  const int64_t num_bytes_;
  const char* const bytes_;
  int64_t at_ = 0;
};

class UnpackOp : public tf::OpKernel {
 public:
  explicit UnpackOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &dtypes_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shapes", &shapes_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("names", &names_));
    OP_REQUIRES_OK(ctx, CheckDtypes(dtypes_));
    OP_REQUIRES(
        ctx,
        shapes_.size() == dtypes_.size() && names_.size() == dtypes_.size(),
        absl::InvalidArgumentError("There must be a shape and a name for each "
                                   "part."));
  }

  bool IsExpensive() override { return false; }

  void Compute(tf::OpKernelContext* ctx) override {
    const absl::Status status = CatchExceptions([&] { return Unpack(ctx); });
    OP_REQUIRES(
        ctx, status.ok(),
        tf::errors::CreateWithUpdatedMessage(
            status, absl::StrCat("This is no packed value of the spec: ",
                                 status.message(), ". Make it by rtf.pack.")));
  }

 private:
  absl::Status Unpack(tf::OpKernelContext* ctx) const {
    const tf::Tensor& packed = ctx->input(0);
    if (packed.dims() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "it has the shape ", packed.shape().DebugString(), ", not [bytes]"));
    }
    PackedReader reader(&packed);
    int64_t count = 0;
    if (!reader.Next(&count) || count != num_outputs()) {
      return absl::InvalidArgumentError(
          absl::StrCat("it has another number of arrays than ", num_outputs()));
    }
    std::vector<tf::TensorShape> shapes(num_outputs());
    for (int i = 0; i < num_outputs(); ++i) {
      TF_RETURN_IF_ERROR(ReadKind(i, &reader, &shapes[i]));
    }
    for (int i = 0; i < num_outputs(); ++i) {
      tf::Tensor part;
      TF_RETURN_IF_ERROR(reader.Take(dtypes_[i], shapes[i], &part));
      ctx->set_output(i, part);
    }
    return absl::OkStatus();
  }

  // Sets `*shape` to that of a part, which must be what was asked for.
  absl::Status ReadKind(int part, PackedReader* reader,
                        tf::TensorShape* shape) const {
    int64_t dtype = 0;
    if (!reader->Next(&dtype) || !reader->NextShape(shape)) {
      return absl::InvalidArgumentError("its head is damaged");
    }
    if (dtype == dtypes_[part] && shapes_[part].IsCompatibleWith(*shape)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        names_[part], " is ", NameOf(dtype), shape->DebugString(), ", not ",
        tf::DataTypeString(dtypes_[part]), shapes_[part].DebugString()));
  }

  static std::string NameOf(int64_t dtype) {
    return tf::DataType_IsValid(static_cast<int>(dtype))
               ? tf::DataTypeString(static_cast<tf::DataType>(dtype))
               : "of no dtype ";
  }

  tf::DataTypeVector dtypes_;
  std::vector<tf::PartialTensorShape> shapes_;
  std::vector<std::string> names_;
};

REGISTER_KERNEL_BUILDER(Name("RecursivePack").Device(tf::DEVICE_CPU), PackOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveUnpack").Device(tf::DEVICE_CPU),
                        UnpackOp);

}  // namespace
}  // namespace recursive_tf
