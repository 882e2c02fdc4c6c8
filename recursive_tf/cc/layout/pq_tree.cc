#include "recursive_tf/cc/layout/pq_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace recursive_tf {

PqTree::PqTree(int32_t num_leaves)
    : num_leaves_(num_leaves), root_(num_leaves == 1 ? 0 : num_leaves) {
  for (int32_t leaf = 0; leaf < num_leaves; ++leaf) Make(Kind::kLeaf);
  if (num_leaves == 1) return;
  Make(Kind::kP);
  for (int32_t leaf = 0; leaf < num_leaves; ++leaf) Append(root_, leaf, 1);
}

PqTree::Reduced PqTree::Reduce(const std::vector<int32_t>& leaves) {
  if (leaves.size() < 2) return Reduced::kUnchanged;
  ++reduction_;
  changed_ = false;
  // Nothing changes before it is known that the leaves can stand side by side.
  if (!FindLabels(leaves)) return Reduced::kImpossible;
  for (size_t i = 0; i + 1 < order_.size(); ++i) {
    const int32_t parent = ParentOf(order_[i]);
    const int32_t now = Apply(order_[i], /*is_root=*/false);
    Mark& above = MarkOf(parent);
    const bool is_full = LabelOf(now) == Label::kFull;
    (is_full ? above.full : above.partial).push_back(now);
  }
  Apply(order_.back(), /*is_root=*/true);
  return changed_ ? Reduced::kChanged : Reduced::kUnchanged;
}

bool PqTree::FindLabels(const std::vector<int32_t>& leaves) {
  CountWaiting(leaves);
  order_ = leaves;
  for (const int32_t leaf : leaves) MarkOf(leaf).num_leaves = 1;
  for (size_t next = 0;; ++next) {
    ++num_steps_;
    const int32_t node = order_[next];
    Mark& mark = MarkOf(node);
    const bool is_full = mark.num_full == nodes_[node].num_children;
    mark.label = is_full ? Label::kFull : Label::kPartial;
    const bool is_root = mark.num_leaves == static_cast<int32_t>(leaves.size());
    if (!CanReduce(node, is_root)) return false;
    if (is_root) {
      order_.resize(next + 1);
      return true;
    }
    const int32_t parent = ParentOf(node);
    Mark& above = MarkOf(parent);
    above.num_leaves += mark.num_leaves;
    above.num_full += is_full ? 1 : 0;
    above.pertinent.push_back(node);
    if (--above.num_waiting == 0) order_.push_back(parent);
  }
}

// Goes up from all leaves at the same pace until one node is above all, so that
// what is gone in vain is no more than the rest.
void PqTree::CountWaiting(const std::vector<int32_t>& leaves) {
  std::vector<int32_t>& queue = order_;
  queue = leaves;
  size_t at_the_top = 0;
  for (size_t next = 0; queue.size() - next + at_the_top > 1; ++next) {
    ++num_steps_;
    const int32_t parent = ParentOf(queue[next]);
    if (parent == kNone) {
      at_the_top = 1;
      continue;
    }
    const bool is_new = marks_[parent].reduction != reduction_;
    ++MarkOf(parent).num_waiting;
    if (is_new) queue.push_back(parent);
  }
}

bool PqTree::CanReduce(int32_t node, bool is_root) {
  const Mark& mark = MarkOf(node);
  if (mark.label == Label::kFull) return true;
  const int32_t num_partial =
      static_cast<int32_t>(mark.pertinent.size()) - mark.num_full;
  if (num_partial > (is_root ? 2 : 1)) return false;
  return kind(node) == Kind::kP || IsRun(node, is_root);
}

// The pertinent children of a Q-node have to stand side by side with the
// partial ones outermost; and below the root also at an end, a full one
// outermost.
bool PqTree::IsRun(int32_t q_node, bool is_root) {
  const std::vector<int32_t>& pertinent = MarkOf(q_node).pertinent;
  size_t num_near = 0;
  for (const int32_t child : pertinent) {
    ++num_steps_;
    size_t near = 0;
    for (const int32_t other : nodes_[child].near) {
      near += LabelOf(other) == Label::kEmpty ? 0 : 1;
    }
    if (near > 1 && LabelOf(child) == Label::kPartial) return false;
    num_near += near;
  }
  if (num_near != 2 * (pertinent.size() - 1)) return false;
  if (is_root) return true;
  const auto& ends = nodes_[q_node].ends;
  return std::any_of(std::begin(ends), std::end(ends), [&](int32_t end) {
    return LabelOf(end) == Label::kFull ||
           (pertinent.size() == 1 && end == pertinent[0]);
  });
}

int32_t PqTree::Apply(int32_t node, bool is_root) {
  if (LabelOf(node) == Label::kFull) return node;
  if (kind(node) == Kind::kP) {
    return is_root ? ApplyToPRoot(node) : ApplyToP(node);
  }
  ApplyToQ(node);
  return node;
}

// Templates P2, P4 and P6.
int32_t PqTree::ApplyToPRoot(int32_t node) {
  const std::vector<int32_t> partial = MarkOf(node).partial;
  if (partial.empty() && MarkOf(node).full.size() < 2) return node;
  changed_ = true;
  const int32_t full = TakeFull(node);
  if (partial.empty()) {
    Append(node, full, 1);
    return node;
  }
  const int32_t q_node = partial[0];
  if (full != kNone) Append(q_node, full, 1);
  if (partial.size() == 2) {
    Detach(partial[1]);
    JoinFullEnds(q_node, partial[1]);
  }
  if (nodes_[node].num_children > 1) return node;
  Detach(q_node);
  Replace(node, q_node);
  return q_node;
}

// Templates P3 and P5: a Q-node of the empty children, of what the partial one
// is, and of the full children.
int32_t PqTree::ApplyToP(int32_t node) {
  changed_ = true;
  const std::vector<int32_t> partial = MarkOf(node).partial;
  const int32_t full = TakeFull(node);
  int32_t q_node = kNone;
  if (partial.empty()) {
    q_node = Make(Kind::kQ);
  } else {
    q_node = partial[0];
    Detach(q_node);
  }
  Replace(node, q_node);
  const int32_t rest = Rest(node);
  if (rest != kNone) Append(q_node, rest, 0);
  if (full != kNone) Append(q_node, full, 1);
  SetLabel(q_node, Label::kPartial);
  return q_node;
}

// Templates Q2 and Q3.
void PqTree::ApplyToQ(int32_t node) {
  auto& ends = nodes_[node].ends;
  const Label last = LabelOf(ends[1]);
  if (last == Label::kEmpty ||
      (last == Label::kPartial && LabelOf(ends[0]) == Label::kFull)) {
    std::swap(ends[0], ends[1]);
  }
  const std::vector<int32_t> partial = MarkOf(node).partial;
  for (const int32_t child : partial) Splice(node, child);
}

// Puts the children of a partial Q-node in its place, the full ones toward its
// pertinent sibling, or, if it has none, toward the end.
void PqTree::Splice(int32_t q_node, int32_t partial) {
  changed_ = true;
  const Node& inner = nodes_[partial];
  const auto& near = inner.near;
  const bool at_the_end = LabelOf(near[0]) == Label::kEmpty;
  const bool second =
      LabelOf(near[1]) != Label::kEmpty || (at_the_end && near[1] == kNone);
  const int32_t inward = near[second ? 1 : 0];
  const int32_t outward = near[second ? 0 : 1];
  Node& outer = nodes_[q_node];
  for (int32_t& end : outer.ends) {
    if (end == partial) end = inner.ends[inward == kNone ? 1 : 0];
  }
  ReplaceNear(inner.ends[0], kNone, outward);
  ReplaceNear(inner.ends[1], kNone, inward);
  if (outward != kNone) ReplaceNear(outward, partial, inner.ends[0]);
  if (inward != kNone) ReplaceNear(inward, partial, inner.ends[1]);
  outer.num_children += inner.num_children - 1;
  merged_into_[partial] = q_node;
}

PqTree::Mark& PqTree::MarkOf(int32_t node) {
  Mark& mark = marks_[node];
  if (mark.reduction == reduction_) return mark;
  mark.reduction = reduction_;
  mark.label = Label::kEmpty;
  mark.num_leaves = mark.num_waiting = mark.num_full = 0;
  mark.pertinent.clear();
  mark.full.clear();
  mark.partial.clear();
  return mark;
}

PqTree::Label PqTree::LabelOf(int32_t node) const {
  if (node == kNone || marks_[node].reduction != reduction_) {
    return Label::kEmpty;
  }
  return marks_[node].label;
}

int32_t PqTree::Make(Kind kind) {
  const auto node = static_cast<int32_t>(nodes_.size());
  nodes_.emplace_back();
  nodes_.back().kind = kind;
  marks_.emplace_back();
  merged_into_.push_back(node);
  return node;
}

int32_t PqTree::Group(const std::vector<int32_t>& nodes) {
  if (nodes.size() == 1) return nodes[0];
  const int32_t group = Make(Kind::kP);
  for (const int32_t node : nodes) Append(group, node, 1);
  return group;
}

int32_t PqTree::TakeFull(int32_t node) {
  const std::vector<int32_t> full = std::move(MarkOf(node).full);
  if (full.empty()) return kNone;
  for (const int32_t child : full) Detach(child);
  const int32_t group = Group(full);
  SetLabel(group, Label::kFull);
  return group;
}

int32_t PqTree::Rest(int32_t node) {
  SetLabel(node, Label::kEmpty);
  const int32_t num_children = nodes_[node].num_children;
  if (num_children > 1) return node;
  if (num_children == 0) return kNone;
  const int32_t child = nodes_[node].ends[0];
  Detach(child);
  return child;
}

void PqTree::Append(int32_t parent, int32_t child, int side) {
  ++num_steps_;
  Node& above = nodes_[parent];
  Node& below = nodes_[child];
  below.parent = parent;
  below.near[0] = above.ends[side];
  below.near[1] = kNone;
  if (above.num_children == 0) {
    above.ends[0] = above.ends[1] = child;
  } else {
    ReplaceNear(above.ends[side], kNone, child);
    above.ends[side] = child;
  }
  ++above.num_children;
}

void PqTree::Detach(int32_t child) {
  ++num_steps_;
  Node& above = nodes_[ParentOf(child)];
  Node& below = nodes_[child];
  for (int side = 0; side < 2; ++side) {
    const int32_t other = below.near[side];
    if (other != kNone) ReplaceNear(other, child, below.near[1 - side]);
  }
  const int32_t inward = below.near[0] == kNone ? below.near[1] : below.near[0];
  for (int32_t& end : above.ends) {
    if (end == child) end = inward;
  }
  --above.num_children;
  below.parent = below.near[0] = below.near[1] = kNone;
}

void PqTree::Replace(int32_t node, int32_t by) {
  const int32_t parent = ParentOf(node);
  Node& old_one = nodes_[node];
  Node& new_one = nodes_[by];
  new_one.parent = parent;
  for (int side = 0; side < 2; ++side) {
    new_one.near[side] = old_one.near[side];
    if (old_one.near[side] != kNone) ReplaceNear(old_one.near[side], node, by);
  }
  if (parent == kNone) {
    root_ = by;
  } else {
    for (int32_t& end : nodes_[parent].ends) {
      if (end == node) end = by;
    }
  }
  old_one.parent = old_one.near[0] = old_one.near[1] = kNone;
}

void PqTree::ReplaceNear(int32_t node, int32_t old_near, int32_t new_near) {
  auto& near = nodes_[node].near;
  near[near[0] == old_near ? 0 : 1] = new_near;
}

void PqTree::JoinFullEnds(int32_t q_node, int32_t other) {
  Node& kept = nodes_[q_node];
  Node& gone = nodes_[other];
  ReplaceNear(kept.ends[1], kNone, gone.ends[1]);
  ReplaceNear(gone.ends[1], kNone, kept.ends[1]);
  kept.ends[1] = gone.ends[0];
  kept.num_children += gone.num_children;
  merged_into_[other] = q_node;
}

int32_t PqTree::Survivor(int32_t node) const {
  while (merged_into_[node] != node) {
    ++num_steps_;
    merged_into_[node] = merged_into_[merged_into_[node]];
    node = merged_into_[node];
  }
  return node;
}

int32_t PqTree::ParentOf(int32_t node) const {
  const int32_t parent = nodes_[node].parent;
  return parent == kNone ? kNone : Survivor(parent);
}

std::vector<int32_t> PqTree::ChildrenOf(int32_t node) const {
  std::vector<int32_t> children;
  int32_t previous = kNone;
  for (int32_t child = nodes_[node].ends[0]; child != kNone;) {
    children.push_back(child);
    const auto& near = nodes_[child].near;
    const int32_t next = near[near[0] == previous ? 1 : 0];
    previous = child;
    child = next;
  }
  return children;
}

std::vector<int32_t> PqTree::Frontier() const {
  std::vector<int32_t> leaves;
  std::vector<int32_t> stack = {root_};
  while (!stack.empty()) {
    const int32_t node = stack.back();
    stack.pop_back();
    if (kind(node) == Kind::kLeaf) leaves.push_back(node);
    const std::vector<int32_t> children = ChildrenOf(node);
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return leaves;
}

std::string PqTree::ToText() const {
  // Nodes to come, and texts between them.
  std::vector<std::pair<int32_t, std::string>> stack = {{root_, ""}};
  std::string text;
  while (!stack.empty()) {
    const auto [node, between] = std::move(stack.back());
    stack.pop_back();
    text += between;
    if (node == kNone) continue;
    if (kind(node) == Kind::kLeaf) {
      text += std::to_string(node);
      continue;
    }
    const bool is_p = kind(node) == Kind::kP;
    text += is_p ? "{" : "[";
    stack.emplace_back(kNone, is_p ? "}" : "]");
    const std::vector<int32_t> children = ChildrenOf(node);
    for (size_t i = children.size(); i-- > 0;) {
      stack.emplace_back(children[i], i == 0 ? "" : " ");
    }
  }
  return text;
}

}  // namespace recursive_tf
