#ifndef RECURSIVE_TF_CC_BLOCKS_BLOCK_RUNNER_H_
#define RECURSIVE_TF_CC_BLOCKS_BLOCK_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/aligned.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/packed_matrix.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// What a block program takes beside rows, for one step: packed for a number of
// threads and an instruction set.
template <typename T>
class BlockInvariants {
 public:
  // An invariant: its numbers, and how many there are.
  struct Numbers {
    const T* data = nullptr;
    int64_t size = 0;
  };

  // `invariants` are by number; each must be there if the program uses it. Each
  // is as large as its use says, but for vectors, which may be one number.
  BlockInvariants(const BlockProgram* program, const Kernels<T>* kernels,
                  const std::vector<Numbers>& invariants, Team* team);

  const T* shared(int32_t index) const { return shared_[index].data(); }
  const T* constant(int32_t index) const { return constants_[index].data(); }
  const PackedMatrix<T>& matrix(int32_t index) const {
    return matrices_[index];
  }

 private:
  std::vector<AlignedBuffer<T>> shared_;
  std::vector<AlignedBuffer<T>> constants_;
  std::vector<PackedMatrix<T>> matrices_;
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

  // Sets rows of buffers and sums. `inputs` are by number, `buffers` have
  // `num_rows` rows that stand one behind the other, and `sums` are by output,
  // set to what is to be added to.
  void Run(int64_t num_rows, const std::vector<RowSet<T>>& inputs,
           const std::vector<T*>& buffers, const std::vector<T*>& sums);

 private:
  struct Strip;

  void RunPhase(const Phase& phase);
  // Returns whether a phase takes longer than to share it.
  bool IsWorthSharing(const Phase& phase) const;
  void RunRowProduct(const RowProductStep& step);
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
  int64_t num_rows_ = 0;
  const std::vector<RowSet<T>>* inputs_ = nullptr;
  const std::vector<T*>* buffers_ = nullptr;
  const std::vector<T*>* sums_ = nullptr;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_BLOCK_RUNNER_H_
