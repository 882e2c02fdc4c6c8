// Child indices come from data, and a wrong one may lead anywhere. So they are
// looked at before a recursion follows them: each in a pass over all nodes, and
// no deeper than the stack of one function.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

constexpr int32_t kNoChild = -1;

// Where the children of nodes stand: at the same place of several arrays, or
// one node behind the other.
//
// Invariants, once Check has passed:
//   (1) Links, or splits and children, have as many rows as there are nodes.
//   (2) Splits never go down, and end where the children do.
class Links {
 public:
  absl::Status Check(tf::OpKernelContext* ctx) {
    tf::OpInputList links;
    TF_RETURN_IF_ERROR(ctx->input_list("links", &links));
    const tf::Tensor* children = nullptr;
    const tf::Tensor* splits = nullptr;
    TF_RETURN_IF_ERROR(ctx->input("children", &children));
    TF_RETURN_IF_ERROR(ctx->input("splits", &splits));
    if (children->dims() != 1 || splits->dims() != 1) return Wrong("children");
    if ((links.size() == 0) == (splits->NumElements() == 0)) {
      return Wrong("links");
    }
    num_nodes_ =
        links.size() == 0 ? splits->NumElements() - 1 : links[0].NumElements();
    if (num_nodes_ > std::numeric_limits<int32_t>::max()) return Wrong("nodes");
    for (const tf::Tensor& link : links) {
      if (link.dims() != 1 || link.NumElements() != num_nodes_) {
        return Wrong("links");
      }
      links_.push_back(static_cast<const int32_t*>(link.data()));
    }
    children_ = static_cast<const int32_t*>(children->data());
    if (links.size() > 0) return absl::OkStatus();
    splits_ = static_cast<const int64_t*>(splits->data());
    const bool fits = splits_[0] == 0 &&
                      splits_[num_nodes_] == children->NumElements() &&
                      std::is_sorted(splits_, splits_ + num_nodes_ + 1);
    return fits ? absl::OkStatus() : Wrong("splits");
  }

  int64_t num_nodes() const { return num_nodes_; }

  // Calls `visit` with each child of a node.
  template <typename Visit>
  void ForEachChild(int64_t node, const Visit& visit) const {
    for (const int32_t* link : links_) {
      if (link[node] != kNoChild) visit(link[node]);
    }
    if (splits_ == nullptr) return;
    for (int64_t i = splits_[node]; i < splits_[node + 1]; ++i) {
      visit(children_[i]);
    }
  }

 private:
  static absl::Status Wrong(const char* what) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", what, "' does not fit: these are no trees."));
  }

  int64_t num_nodes_ = 0;
  std::vector<const int32_t*> links_;
  const int32_t* children_ = nullptr;
  const int64_t* splits_ = nullptr;
};

// Where the nodes of each tree begin; behind the last, their number.
absl::Status FirstNodes(const tf::Tensor& sizes, int64_t num_nodes,
                        std::vector<int64_t>* first) {
  const auto* const size = static_cast<const int32_t*>(sizes.data());
  first->push_back(0);
  for (int64_t tree = 0; tree < sizes.NumElements(); ++tree) {
    if (size[tree] <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("tree ", tree, " is empty: its size is ", size[tree],
                       ". A tree has at least one node."));
    }
    first->push_back(first->back() + size[tree]);
  }
  if (first->back() == num_nodes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("The sizes of the trees add up to ", first->back(),
                   " nodes, but there are ", num_nodes, "."));
}

// What a forest may be.
struct ForestRules {
  bool may_share = false;
  // Of a node that has any; -1 is any number.
  int64_t num_children = -1;
  bool may_miss = false;
  // Whether every node is a root or below one.
  bool must_reach_all = false;
};

// Cost: a pass over all children. If they stand neither all before nor all
// behind their nodes, two more, and 4 bytes a node.
class ForestCheck {
 public:
  ForestCheck(const Links* links, const std::vector<int64_t>* first,
              const ForestRules& rules)
      : links_(*links), first_(*first), rules_(rules) {}

  absl::Status Run(const int32_t* roots) {
    if (!rules_.may_share || rules_.must_reach_all) {
      parent_.assign(links_.num_nodes(), kNoChild);
    }
    for (size_t tree = 0; tree + 1 < first_.size(); ++tree) {
      if (!IsOf(tree, roots[tree])) {
        return Wrong(absl::StrCat("tree ", tree, ": its root is node ",
                                  roots[tree],
                                  ", which is out of range: ", NodesOf(tree)));
      }
      for (int64_t node = first_[tree]; node < first_[tree + 1]; ++node) {
        TF_RETURN_IF_ERROR(CheckChildren(tree, static_cast<int32_t>(node)));
      }
      if (rules_.must_reach_all) {
        TF_RETURN_IF_ERROR(CheckReached(tree, roots[tree]));
      }
    }
    // Readers write children before their parents; others, behind them.
    return has_before_ && has_behind_ ? CheckCycles() : absl::OkStatus();
  }

 private:
  bool IsOf(size_t tree, int32_t node) const {
    return node >= first_[tree] && node < first_[tree + 1];
  }

  absl::Status CheckChildren(size_t tree, int32_t node) {
    absl::Status status;
    int64_t count = 0;
    links_.ForEachChild(node, [&](int32_t child) {
      ++count;
      if (status.ok()) status = CheckChild(tree, node, child);
    });
    TF_RETURN_IF_ERROR(status);
    const int64_t expected = rules_.num_children;
    const bool fits = expected < 0 || count == 0 || count == expected ||
                      (rules_.may_miss && count < expected);
    if (fits) return absl::OkStatus();
    return Wrong(absl::StrCat("tree ", tree, ", node ", node, " has ", count,
                              count == 1 ? " child" : " children",
                              ". For this cell a node has no child or ",
                              rules_.may_miss ? "at most " : "", expected));
  }

  absl::Status CheckChild(size_t tree, int32_t node, int32_t child) {
    if (!IsOf(tree, child)) {
      return Wrong(absl::StrCat(
          "tree ", tree, ", node ", node, " has the child ", child,
          ", which is out of range: ", NodesOf(tree), ", and a leaf has none"));
    }
    if (child == node) return IsBelowItself({node});
    (child < node ? has_before_ : has_behind_) = true;
    if (parent_.empty()) return absl::OkStatus();
    if (!rules_.may_share && parent_[child] != kNoChild) {
      return Wrong(absl::StrCat("tree ", tree, ", node ", child,
                                " has 2 parents, e.g. ", parent_[child],
                                " and ", node,
                                ". If nodes may share children, say dag=True"));
    }
    parent_[child] = node;
    return absl::OkStatus();
  }

  // Where there is no cycle, a node that no root reaches is below one without a
  // parent.
  absl::Status CheckReached(size_t tree, int32_t root) const {
    for (int64_t node = first_[tree]; node < first_[tree + 1]; ++node) {
      if (node == root || parent_[node] != kNoChild) continue;
      return Wrong(absl::StrCat("tree ", tree, ", node ", node,
                                " is unreachable: it is no child, and the root "
                                "of the tree is ",
                                root));
    }
    return absl::OkStatus();
  }

  // Takes nodes away without parents, until none is left, or only what cycles
  // hold.
  absl::Status CheckCycles() {
    const int64_t num_nodes = links_.num_nodes();
    std::vector<int32_t> waits(num_nodes, 0);
    for (int64_t node = 0; node < num_nodes; ++node) {
      links_.ForEachChild(node, [&](int32_t child) { ++waits[child]; });
    }
    std::vector<int32_t> free;
    for (int64_t node = 0; node < num_nodes; ++node) {
      if (waits[node] == 0) free.push_back(static_cast<int32_t>(node));
    }
    for (size_t next = 0; next < free.size(); ++next) {
      links_.ForEachChild(free[next], [&](int32_t child) {
        if (--waits[child] == 0) free.push_back(child);
      });
    }
    if (static_cast<int64_t>(free.size()) == num_nodes) return absl::OkStatus();
    return IsBelowItself(CycleOf(waits));
  }

  // Returns a cycle among nodes each of which waits for one of them: the
  // children before their parents.
  std::vector<int32_t> CycleOf(const std::vector<int32_t>& waits) const {
    std::vector<int32_t> above(waits.size(), kNoChild);
    int32_t node = kNoChild;
    for (size_t parent = 0; parent < waits.size(); ++parent) {
      if (waits[parent] == 0) continue;
      links_.ForEachChild(static_cast<int64_t>(parent), [&](int32_t child) {
        if (waits[child] > 0) above[child] = static_cast<int32_t>(parent);
      });
      node = static_cast<int32_t>(parent);
    }
    // Upward, until a node comes again.
    std::vector<int32_t> place(waits.size(), kNoChild);
    std::vector<int32_t> path;
    while (place[node] == kNoChild) {
      place[node] = static_cast<int32_t>(path.size());
      path.push_back(node);
      node = above[node];
    }
    path.erase(path.begin(), path.begin() + place[node]);
    // From a parent down, the lowest number first.
    std::reverse(path.begin(), path.end());
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()),
                path.end());
    return path;
  }

  absl::Status IsBelowItself(const std::vector<int32_t>& cycle) const {
    constexpr size_t kShown = 10;
    std::string words;
    for (size_t i = 0; i < std::min(cycle.size(), kShown); ++i) {
      absl::StrAppend(&words, cycle[i], " -> ");
    }
    absl::StrAppend(
        &words, cycle.size() > kShown ? "..." : absl::StrCat(cycle.front()));
    const auto tree =
        std::upper_bound(first_.begin(), first_.end(), cycle.front()) -
        first_.begin() - 1;
    return Wrong(absl::StrCat("tree ", tree, ", node ", cycle.front(),
                              " is below itself: a cycle, ", words));
  }

  std::string NodesOf(size_t tree) const {
    return absl::StrCat("the tree's nodes are ", first_[tree], " to ",
                        first_[tree + 1] - 1);
  }

  static absl::Status Wrong(const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(what, "."));
  }

  const Links& links_;
  const std::vector<int64_t>& first_;
  const ForestRules rules_;
  // Of each node, the last of its parents that was seen, if that is asked for.
  std::vector<int32_t> parent_;
  bool has_before_ = false;
  bool has_behind_ = false;
};

class CheckedRootsOp : public tf::OpKernel {
 public:
  explicit CheckedRootsOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared", &rules_.may_share));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_children", &rules_.num_children));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("may_miss", &rules_.may_miss));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("all_nodes", &rules_.must_reach_all));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("subgraph", &subgraph_));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    int64_t num_nodes = 0;
    const absl::Status status =
        CatchExceptions([&] { return Check(ctx, &num_nodes); });
    OP_REQUIRES(ctx, status.ok(),
                tf::errors::CreateWithUpdatedMessage(
                    status, absl::StrCat("SubGraph '", subgraph_,
                                         "': ", status.message())));
    if (rules_.must_reach_all) {
      SetAllNodes(ctx, num_nodes);
    } else {
      ctx->set_output(0, ctx->input(0));
    }
  }

  bool IsExpensive() override { return false; }

 private:
  absl::Status Check(tf::OpKernelContext* ctx, int64_t* num_nodes) const {
    const tf::Tensor& roots = ctx->input(0);
    const tf::Tensor& sizes = ctx->input(1);
    if (roots.dims() > 1 || roots.shape() != sizes.shape()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "There must be a size for each root: got roots of shape ",
          roots.shape().DebugString(), " and sizes of shape ",
          sizes.shape().DebugString(), "."));
    }
    Links links;
    TF_RETURN_IF_ERROR(links.Check(ctx));
    *num_nodes = links.num_nodes();
    std::vector<int64_t> first;
    TF_RETURN_IF_ERROR(FirstNodes(sizes, links.num_nodes(), &first));
    return ForestCheck(&links, &first, rules_)
        .Run(static_cast<const int32_t*>(roots.data()));
  }

  static void SetAllNodes(tf::OpKernelContext* ctx, int64_t num_nodes) {
    tf::Tensor* nodes = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {num_nodes}, &nodes));
    auto* const first = static_cast<int32_t*>(nodes->data());
    std::iota(first, first + num_nodes, 0);
  }

  ForestRules rules_;
  std::string subgraph_;
};

REGISTER_KERNEL_BUILDER(Name("RecursiveCheckedRoots").Device(tf::DEVICE_CPU),
                        CheckedRootsOp);

}  // namespace
}  // namespace recursive_tf
