#include "recursive_tf/ops/shapes.h"

#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;
using tf::shape_inference::InferenceContext;
using tf::shape_inference::ShapeHandle;

absl::Status CallShapes(InferenceContext* ctx) {
  std::vector<tf::PartialTensorShape> shapes;
  TF_RETURN_IF_ERROR(ctx->GetAttr("output_shapes", &shapes));
  for (int i = 0; i < ctx->num_outputs(); ++i) {
    ShapeHandle shape = ctx->Scalar();
    if (i < static_cast<int>(shapes.size())) {
      TF_RETURN_IF_ERROR(
          ctx->MakeShapeFromPartialTensorShape(shapes[i], &shape));
    }
    ctx->set_output(i, shape);
  }
  return absl::OkStatus();
}

absl::Status ShapesIfGiven(InferenceContext* ctx) {
  std::vector<tf::PartialTensorShape> shapes;
  TF_RETURN_IF_ERROR(ctx->GetAttr("output_shapes", &shapes));
  return shapes.empty() ? UnknownShapes(ctx) : CallShapes(ctx);
}

absl::Status SameShapes(InferenceContext* ctx) {
  for (int i = 0; i < ctx->num_outputs(); ++i) {
    ctx->set_output(i, ctx->input(i));
  }
  return absl::OkStatus();
}

absl::Status PushShapes(InferenceContext* ctx) {
  ShapeHandle index;
  return ctx->WithRank(ctx->input(1), 0, &index);
}

absl::Status UnknownShapes(InferenceContext* ctx) {
  for (int i = 0; i < ctx->num_outputs(); ++i) {
    ctx->set_output(i, ctx->UnknownShape());
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
