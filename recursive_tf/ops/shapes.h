#ifndef RECURSIVE_TF_OPS_SHAPES_H_
#define RECURSIVE_TF_OPS_SHAPES_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace recursive_tf {

// The outputs have the shapes in the attribute `output_shapes`, as far as that
// goes; outputs after these are scalars (handles).
absl::Status CallShapes(tensorflow::shape_inference::InferenceContext* ctx);

// The outputs have the shapes in the attribute `output_shapes`; nothing is
// known if there are none, as in what was saved before the attribute was there.
absl::Status ShapesIfGiven(tensorflow::shape_inference::InferenceContext* ctx);

// Each output has the shape of the input with its number.
absl::Status SameShapes(tensorflow::shape_inference::InferenceContext* ctx);

// The row index (input 1) is a scalar.
absl::Status PushShapes(tensorflow::shape_inference::InferenceContext* ctx);

// Nothing is known; Python sets the shapes.
absl::Status UnknownShapes(tensorflow::shape_inference::InferenceContext* ctx);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_OPS_SHAPES_H_
