#ifndef RECURSIVE_TF_CC_BATCHING_LEARNED_TABLES_H_
#define RECURSIVE_TF_CC_BATCHING_LEARNED_TABLES_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/batching/policy_table.h"

namespace recursive_tf {

// What was learned last for a program, if anything was.
//
// Thread safety: every method may be called from any thread.
class LearnedTable {
 public:
  LearnedTable() = default;
  explicit LearnedTable(PolicyTable table) { Set(std::move(table)); }

  void Set(PolicyTable table) {
    auto shared = std::make_shared<const PolicyTable>(std::move(table));
    MutexLock lock(&mu_);
    table_ = std::move(shared);
  }

  // Returns null if there is none.
  std::shared_ptr<const PolicyTable> Get() const {
    MutexLock lock(&mu_);
    return table_;
  }

 private:
  mutable Mutex mu_;
  std::shared_ptr<const PolicyTable> table_ ABSL_GUARDED_BY(mu_);
};

// The learned tables of this process, for programs whose policy is "fsm". A
// program is known by the places of its blocks: definitions of one program
// share a table.
//
// Thread safety: every method may be called from any thread.
class LearnedTables {
 public:
  static LearnedTables& Global() {
    static auto* tables = new LearnedTables;
    return *tables;
  }

  // Returns that of a program, to be asked whenever it is needed.
  std::shared_ptr<LearnedTable> Of(
      const std::vector<std::string>& block_places) {
    MutexLock lock(&mu_);
    std::shared_ptr<LearnedTable>& table = tables_[block_places];
    if (table == nullptr) table = std::make_shared<LearnedTable>();
    return table;
  }

 private:
  Mutex mu_;
  std::map<std::vector<std::string>, std::shared_ptr<LearnedTable>> tables_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LEARNED_TABLES_H_
