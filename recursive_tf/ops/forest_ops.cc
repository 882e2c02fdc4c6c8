// Trees as data: whether a recursion over them comes to an end.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

namespace tf = tensorflow;

REGISTER_OP("RecursiveCheckedRoots")
    .Input("roots: int32")
    .Input("sizes: int32")
    .Input("links: num_links * int32")
    .Input("children: int32")
    .Input("splits: int64")
    .Output("checked: int32")
    .Attr("num_links: int >= 0")
    .Attr("shared: bool")
    .Attr("num_children: int")
    .Attr("may_miss: bool")
    .Attr("all_nodes: bool = false")
    .Attr("subgraph: string")
    .SetShapeFn([](tf::shape_inference::InferenceContext* c) {
      bool all_nodes = false;
      TF_RETURN_IF_ERROR(c->GetAttr("all_nodes", &all_nodes));
      if (!all_nodes) return tf::shape_inference::UnchangedShape(c);
      c->set_output(0, c->Vector(c->UnknownDim()));
      return absl::OkStatus();
    })
    .Doc(R"doc(
The roots of trees, or all of their nodes, if a recursion over these ends.

Roots and children are nodes of their tree, and no node is below itself. The error names
the tree and the node.

roots: [] or [trees].
sizes: The same: how many nodes each tree has. Its nodes stand together.
links: [nodes] each: a child of each node, or -1 where it has none.
children: The children of all nodes, one node behind the other.
splits: [nodes + 1]: where those of each node begin and end; empty if there are links.
shared: Whether a node may be the child of several.
num_children: How many children a node has that has any; -1 is any number.
may_miss: Whether it may have fewer.
all_nodes: Whether all nodes are asked for. Then each is a root or below one.
subgraph: The name of what runs over the trees.
checked: The roots, or [nodes], the numbers of all nodes.
)doc");

}  // namespace recursive_tf
