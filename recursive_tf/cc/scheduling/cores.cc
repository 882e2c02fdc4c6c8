#include "recursive_tf/cc/scheduling/cores.h"

#include <pthread.h>
#include <sched.h>

#include <vector>

namespace recursive_tf {

std::vector<int> UsableCores() {
  std::vector<int> cores;
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof(usable), &usable) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &usable)) cores.push_back(core);
  }
  return cores;
}

void StayOn(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (const int core : cores) CPU_SET(core, &chosen);
  // What fails, e.g. in a sandbox, only costs speed.
  pthread_setaffinity_np(pthread_self(), sizeof(chosen), &chosen);
}

}  // namespace recursive_tf
