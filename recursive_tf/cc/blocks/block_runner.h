#ifndef RECURSIVE_TF_CC_BLOCKS_BLOCK_RUNNER_H_
#define RECURSIVE_TF_CC_BLOCKS_BLOCK_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/blocks/added_products.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/known_products.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/scratch.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Runs a block program for some rows, on all threads of a team.
//
//   Thread safety: one run at a time for each object.
template <typename T>
class BlockRunner {
 public:
  // All of them must outlive this. The invariants are placed for `team`'s size.
  BlockRunner(const BlockProgram* program, const Kernels<T>* kernels,
              const BlockInvariants<T>* invariants, Team* team)
      : program_(*program),
        kernels_(*kernels),
        invariants_(*invariants),
        team_(*team) {}

  // Sets the rows of buffers and sums. Returns false if a number that the block
  // computes selects no row of its table; then they are not all set.
  bool Run(const BlockRows<T>& rows);

  // Returns how many operations of products the run spared, because rows came
  // several times.
  int64_t num_flops_spared() const { return num_flops_spared_; }

 private:
  struct Strip;

  // Returns false as Run does.
  bool RunPhase(const Phase& phase);
  // Runs products and code, by rows or by columns.
  void RunParts(const Phase& phase, int64_t num_rows);
  // Runs products of which rows are added up. Returns whether these are all.
  bool RunAdded(const Phase& phase);
  // Returns whether a phase takes longer than to share it.
  bool IsWorthSharing(const Phase& phase) const;
  void RunRowProduct(const RowProductStep& step, int64_t num_rows);
  void RunColumns(const Phase& phase, const ColumnPart* parts,
                  int64_t first_part, int64_t last_part, int64_t begin,
                  int64_t end);
  void RunProduct(const Phase& phase, size_t product, const Strip& strip);
  // Multiplies with columns of a matrix that is not packed. All else is set in
  // `*work`.
  void MultiplyStanding(int32_t matrix, int64_t first_column,
                        PanelWork<T>* work) const;
  void RunCode(const Phase& phase, const Strip& strip);
  // Sets where the rows of a phase's places are, but for registers.
  void FindSets(const Phase& phase, const Strip& strip,
                std::vector<RowSet<T>>* found) const;
  // Runs code for rows as they stand.
  void RunTail(const Phase& phase, const Strip& strip, Scratch<T>* scratch);
  const T** FindPieces(const std::vector<Piece>& pieces, int64_t begin,
                       int64_t end) const;
  // Returns how many segments the products of a phase before one have.
  int64_t SegmentsBefore(const Phase& phase, size_t product) const;

  const BlockProgram& program_;
  const Kernels<T>& kernels_;
  const BlockInvariants<T>& invariants_;
  Team& team_;
  // Of the run.
  std::optional<PlacedRows<T>> placed_;
  std::optional<KnownProducts<T>> known_;
  std::optional<AddedProducts<T>> added_;
  // By product of the phase: whether it is computed already.
  std::vector<bool> are_run_;
  int64_t num_flops_spared_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_BLOCK_RUNNER_H_
