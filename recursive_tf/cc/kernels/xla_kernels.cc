// XLA compiles no recursion. These kernels are what it finds for ops of a root
// graph, so that who asked for it reads what to do instead of a list of ops.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class NotCompiledOp : public tf::OpKernel {
 public:
  explicit NotCompiledOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (!ctx->HasAttr("names")) return;
    std::vector<std::string> names;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("names", &names));
    name_ = absl::StrCat("SubGraph '", names.front(), "'");
  }

  // Where TensorFlow chose by itself what to compile, "unimplemented" makes it
  // run the ops instead.
  void Compute(tf::OpKernelContext* ctx) override {
    ctx->SetStatus(absl::UnimplementedError(absl::StrCat(
        name_,
        " is called in a function that is compiled by XLA, which has no "
        "recursion. Leave out jit_compile=True of the tf.function around the "
        "call, or say Model.compile(jit_compile=False). A tf.function in the "
        "body that makes no calls may have it.")));
  }

 private:
  std::string name_ = "A SubGraph";
};

#define REGISTER_NOT_COMPILED_ON(op, device) \
  REGISTER_KERNEL_BUILDER(Name(op).Device(device), NotCompiledOp)
#define REGISTER_NOT_COMPILED(op)              \
  REGISTER_NOT_COMPILED_ON(op, "XLA_CPU_JIT"); \
  REGISTER_NOT_COMPILED_ON(op, "XLA_GPU_JIT"); \
  REGISTER_NOT_COMPILED_ON(op, "XLA_TPU_JIT")

REGISTER_NOT_COMPILED("RecursiveInvoke");
REGISTER_NOT_COMPILED("RecursiveInvokeBatched");
REGISTER_NOT_COMPILED("RecursiveInvokeGradient");
REGISTER_NOT_COMPILED("RecursiveInvokeBatchedGradient");
REGISTER_NOT_COMPILED("RecursivePorts");
REGISTER_NOT_COMPILED("RecursiveTie");

#undef REGISTER_NOT_COMPILED
#undef REGISTER_NOT_COMPILED_ON

}  // namespace
}  // namespace recursive_tf
