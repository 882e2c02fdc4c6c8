#ifndef RECURSIVE_TF_CC_BLOCKS_BLOCK_RUNNER_H_
#define RECURSIVE_TF_CC_BLOCKS_BLOCK_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// The rows that a block program takes and gives.
template <typename T>
struct BlockRows {
  // By axis.
  std::vector<int64_t> num_rows;
  // By number.
  std::vector<RowSet<T>> inputs;
  // By number, of the graph's owners: of each item that of the row, rising.
  std::vector<const int64_t*> owners;
  // Rows that stand one behind the other.
  std::vector<T*> buffers;
  // By output, set to what is to be added to.
  std::vector<T*> sums;
};

// Runs a block program for some rows, on all threads of a team.
//
//   Thread safety: one run at a time for each object.
template <typename T>
class BlockRunner {
 public:
  // All of them must outlive this. The invariants are packed for `team`'s size.
  BlockRunner(const BlockProgram* program, const Kernels<T>* kernels,
              const BlockInvariants<T>* invariants, Team* team)
      : program_(*program),
        kernels_(*kernels),
        invariants_(*invariants),
        team_(*team) {}

  // Sets the rows of buffers and sums.
  void Run(const BlockRows<T>& rows);

 private:
  struct Strip;

  // Finds the rows that own items.
  void Gather();
  void RunPhase(const Phase& phase);
  // Returns whether a phase takes longer than to share it.
  bool IsWorthSharing(const Phase& phase) const;
  void RunRowProduct(const RowProductStep& step, int64_t num_rows);
  void RunItems(const ItemsStep& step, int64_t width, int64_t num_rows);
  void ReduceItems(const ItemsStep& step, int64_t width, int64_t begin,
                   int64_t end);
  // Calls work(begin, end) for parts of so many rows, on all threads if it is
  // about enough numbers.
  template <typename Work>
  void ShareRows(int64_t num_rows, int64_t numbers, const Work& work);
  void RunColumns(const Phase& phase, const ColumnPart* parts,
                  int64_t first_part, int64_t last_part, int64_t begin,
                  int64_t end);
  void RunProduct(const Phase& phase, size_t product, const Strip& strip);
  void RunCode(const Phase& phase, const Strip& strip);
  RowSet<T> RowsAt(const Place& place) const;
  const T* const* FindPieces(const std::vector<Piece>& pieces, int64_t begin,
                             int64_t end) const;
  // Returns how many segments the products of a phase before one have.
  int64_t SegmentsBefore(const Phase& phase, size_t product) const;
  void RunSum(const SumStep& step);
  void AddOuterPart(const SumStep& step, int64_t first_left, int64_t num_left,
                    int64_t num_columns, const ColumnPart& part);
  void AddRowsPart(const SumStep& step, const ColumnPart& part);
  void CopyColumns(const std::vector<Piece>& pieces, int64_t first,
                   int64_t count, int64_t begin, int64_t end, T* to,
                   int64_t stride) const;

  const BlockProgram& program_;
  const Kernels<T>& kernels_;
  const BlockInvariants<T>& invariants_;
  Team& team_;
  const BlockRows<T>* rows_ = nullptr;
  // Of program_.gathers.
  std::vector<std::vector<T*>> gathered_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_BLOCK_RUNNER_H_
