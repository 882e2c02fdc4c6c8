// Many tensors as one, which is one argument of a call.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace recursive_tf {

namespace tf = tensorflow;

REGISTER_OP("RecursivePack")
    .Input("parts: T")
    .Output("packed: uint8")
    .Attr("T: list(type)")
    .SetShapeFn([](tf::shape_inference::InferenceContext* c) {
      c->set_output(0, c->Vector(c->UnknownDim()));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Tensors as one vector of bytes, for the same process.

parts: Of any dtypes of which an element has a fixed size.
packed: Their shapes, and their elements.
)doc");

REGISTER_OP("RecursiveUnpack")
    .Input("packed: uint8")
    .Output("parts: T")
    .Attr("T: list(type)")
    .Attr("shapes: list(shape)")
    .Attr("names: list(string)")
    .SetShapeFn([](tf::shape_inference::InferenceContext* c) {
      std::vector<tf::PartialTensorShape> shapes;
      TF_RETURN_IF_ERROR(c->GetAttr("shapes", &shapes));
      if (shapes.size() != static_cast<size_t>(c->num_outputs())) {
        return absl::InvalidArgumentError("There must be a shape for each T.");
      }
      for (int i = 0; i < c->num_outputs(); ++i) {
        tf::shape_inference::ShapeHandle shape;
        TF_RETURN_IF_ERROR(
            c->MakeShapeFromPartialTensorShape(shapes[i], &shape));
        c->set_output(i, shape);
      }
      return absl::OkStatus();
    })
    .Doc(R"doc(
The tensors that were packed. They stand in its memory.

packed: What RecursivePack gave.
parts: The same tensors, in their order.
shapes: What is known of their shapes.
names: What errors call them.
)doc");

}  // namespace recursive_tf
