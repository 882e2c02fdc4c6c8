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
    .Attr("subgraph: string")
    .SetShapeFn(tf::shape_inference::UnchangedShape)
    .Doc(R"doc(
The roots of trees, if a recursion over their nodes ends.

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
subgraph: The name of what runs over the trees.
checked: The roots.
)doc");

}  // namespace recursive_tf
