#ifndef RECURSIVE_TF_CC_BLOCKS_BLOCK_INVARIANTS_H_
#define RECURSIVE_TF_CC_BLOCKS_BLOCK_INVARIANTS_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/aligned.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/packed_matrix.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Where products find the numbers of a matrix.
enum class Matrices : uint8_t {
  // In panels. That pays for many rows.
  kPacked,
  // Where they stand, in the invariant.
  kStanding,
};

// What a block program takes beside rows, for one step: placed for a number of
// threads and an instruction set.
template <typename T>
class BlockInvariants {
 public:
  // An invariant: its numbers, and how many there are.
  struct Numbers {
    const T* data = nullptr;
    int64_t size = 0;
  };

  // The program must outlive this.
  // `invariants` are by number; each must be there if the program uses it. Each
  // is as large as its use says, but for vectors, which may be one number.
  // Matrices that stand must outlive this.
  BlockInvariants(const BlockProgram* program, const Kernels<T>* kernels,
                  const std::vector<Numbers>& invariants, Matrices matrices,
                  Team* team);

  Matrices matrices() const { return place_; }

  const T* shared(int32_t index) const { return shared_[index].data(); }
  const T* constant(int32_t index) const { return constants_[index].data(); }
  // Of matrices, as they are there.
  const PackedMatrix<T>& packed(int32_t index) const { return packed_[index]; }
  const T* standing(int32_t index) const { return standing_[index]; }
  // Returns the columns that each thread has of a phase of products or code.
  const std::vector<ColumnPart>& parts(const Phase& phase) const {
    return parts_[&phase - phases_];
  }

 private:
  std::vector<AlignedBuffer<T>> shared_;
  std::vector<AlignedBuffer<T>> constants_;
  const Matrices place_;
  std::vector<PackedMatrix<T>> packed_;
  std::vector<const T*> standing_;
  const Phase* phases_;
  // By phase.
  std::vector<std::vector<ColumnPart>> parts_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_BLOCK_INVARIANTS_H_
