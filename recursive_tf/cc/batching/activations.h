#ifndef RECURSIVE_TF_CC_BATCHING_ACTIVATIONS_H_
#define RECURSIVE_TF_CC_BATCHING_ACTIVATIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/in_place.h"
#include "recursive_tf/cc/batching/lists.h"
#include "recursive_tf/cc/batching/liveness.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/value_readers.h"

namespace recursive_tf {

// The activations of one root call: where each of them is in the plan, and what
// its slots hold, which is a row of a value each, or a list of rows. Counts who
// reads a value, which dies with its last reader.
//
// Invariants:
//   (1) A slot that its procedure never reads stays empty.
//   (2) A value has as many readers as slots and lists hold rows of it, and as
//       rows of it are kept.
class Activations {
 public:
  // `plan` must outlive this.
  explicit Activations(const Plan* plan)
      : plan_(*plan), in_place_(*plan), table_(in_place_.sizes()) {
    for (const PlannedProcedure& procedure : plan->procedures) {
      liveness_.emplace_back(procedure);
    }
  }
  Activations(const Activations&) = delete;
  Activations& operator=(const Activations&) = delete;

  const InPlace& in_place() const { return in_place_; }

  // --- Which there are. References are valid until the next Add.

  ActivationTable& table() { return table_; }
  const ActivationTable& table() const { return table_; }

  BatchedActivation& operator[](int32_t id) { return table_[id]; }
  const BatchedActivation& operator[](int32_t id) const { return table_[id]; }

  // Returns the procedure that an activation is in.
  const PlannedProcedure& ProcedureOf(int32_t id) const {
    return plan_.procedures[table_[id].procedure];
  }

  const Stage& StageOf(int32_t id) const {
    return ProcedureOf(id).stages[table_[id].stage];
  }

  // --- Values.

  // Adds values that nobody reads yet, and returns the first.
  int32_t AddValues(int32_t count) { return readers_.AddValues(count); }

  // Says that those of `count` values from `first` on died that nobody reads.
  void FindUnread(int32_t first, int32_t count) {
    readers_.FindUnread(first, count);
  }

  // Says that a row is read as long as the run lasts.
  void Keep(ValueRow row) { readers_.Add(row); }

  // Returns the values that died since it was called last, each once. They are
  // valid until it is called again.
  const std::vector<int32_t>& TakeDeadValues() { return readers_.TakeDead(); }

  int32_t num_values() const { return readers_.num_values(); }

  // --- The slots of an activation: those of the procedure that it is in.

  // Returns whether anything reads what is put into a slot.
  bool IsRead(int32_t id, int32_t slot) const {
    return LivenessOf(id).IsRead(slot);
  }

  ValueRow Find(int32_t id, Source source) {
    if (source.of_prologue()) return {source.prologue_output(), 0};
    return table_.slot(id, source.slot);
  }

  void Put(int32_t id, int32_t slot, ValueRow row) {
    PutAt(id, 0, table_[id].procedure, slot, row);
  }

  // Puts a row into a slot of `procedure`, whose slots stand `offset` after
  // those of the procedure that the activation is in.
  void PutAt(int32_t id, int32_t offset, int32_t procedure, int32_t slot,
             ValueRow row) {
    if (!liveness_[procedure].IsRead(slot)) return;
    table_.slot(id, offset + slot) = row;
    Hold(row);
  }

  // Says of many slots at once that each will get a row of `value`, from
  // PutExpected.
  void Expect(int32_t value, int32_t num_rows) {
    readers_.Add(value, num_rows);
  }

  // REQUIRES: the slot is read.
  void PutExpected(int32_t id, int32_t slot, ValueRow row) {
    table_.slot(id, slot) = row;
  }

  // Empties the slots that the activation does not read after a stage.
  void EndReads(int32_t id, int32_t stage) {
    for (const int32_t slot : LivenessOf(id).DyingAfter(stage)) Clear(id, slot);
  }

  // --- Lists in such slots.

  // Puts a list of `count` rows of one value, which start at `first`.
  // REQUIRES: the slot is read.
  void PutRows(int32_t id, int32_t slot, ValueRow first, int32_t count) {
    const ValueRow list = lists_.Add(count);
    for (int32_t item = 0; item < count; ++item) {
      lists_.Set(list, item, {first.value, first.row + item});
    }
    readers_.Add(first.value, count);
    lists_.Hold(list);
    table_.slot(id, slot) = list;
  }

  // Puts a list of `count` items, which PutResult gives it.
  void PutEmptyList(int32_t id, int32_t slot, int32_t count) {
    if (IsRead(id, slot)) Put(id, slot, lists_.Add(count));
  }

  // Puts a result of a call, or of that for item `item` of a map, whose list is
  // there since the calls were made.
  void PutResult(int32_t id, int32_t slot, int32_t item, ValueRow row) {
    if (!IsRead(id, slot)) return;
    ValueRow& there = table_.slot(id, slot);
    if (Lists::IsList(there)) {
      lists_.Set(there, item, row);
      return readers_.Add(row);
    }
    there = row;
    Hold(row);
  }

  // Returns the items of what a slot holds. REQUIRES: it is a list.
  const std::vector<ValueRow>& Items(ValueRow list) const {
    return lists_.Items(list);
  }

  const Lists& lists() const { return lists_; }

 private:
  const Liveness& LivenessOf(int32_t id) const {
    return liveness_[table_[id].procedure];
  }

  // Says that a slot holds a row, or a list.
  void Hold(ValueRow row) {
    if (Lists::IsList(row)) return lists_.Hold(row);
    readers_.Add(row);
  }

  void Clear(int32_t id, int32_t slot) {
    ValueRow& row = table_.slot(id, slot);
    if (row.value == ValueRow::kNoValue) return;
    if (row.value > ValueRow::kNoValue) {
      readers_.Remove(row);
    } else if (Lists::IsList(row)) {
      lists_.LetGo(row, [this](ValueRow item) { readers_.Remove(item); });
    }
    row = ValueRow();
  }

  const Plan& plan_;
  const InPlace in_place_;
  ActivationTable table_;
  // By procedure.
  std::vector<Liveness> liveness_;
  ValueReaders readers_;
  Lists lists_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_ACTIVATIONS_H_
