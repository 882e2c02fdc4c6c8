#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveMaxPoolGradient")
    .Input("images: T")
    .Input("gradient: T")
    .Output("gradients: T")
    .Attr("T: {float, double}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("of_relu: bool = false")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
The gradient by images of the max pooling of them.

The first of several largest numbers of a window gets the gradient of the window, as in
TensorFlow. What was pooled is not needed: a backward body has it of a forward one.
images: [batch, height, width, channels].
gradient: Of what was pooled: [batch, pooled height, pooled width, channels].
ksize, strides, padding: Those of the op MaxPool, which leave batch and channels alone.
of_relu: Whether the images are what a Relu gave, by whose input the gradient is.
gradients: [batch, height, width, channels].
)doc");

}  // namespace recursive_tf
