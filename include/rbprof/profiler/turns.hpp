// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_TURNS_HPP
#define RBPROF_PROFILER_TURNS_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rbprof::inline v0 {
namespace detail {

/// Members that get something in turn, a few at a time.
///
/// Calls from: one thread at a time · Blocks: never · Allocates: `add` · On failure: cannot fail
template <class T>
class turns {
 public:
  void add(T& member) { members_.push_back(&member); }
  void remove(const T& member) noexcept {
    const auto at = std::find(members_.begin(), members_.end(), &member);
    if (at == members_.end()) return;
    *at = members_.back();
    members_.pop_back();
  }
  void clear() noexcept { members_.clear(); }

  /// Calls `f(member)` for the next `count` members, for none twice.
  template <class F>
  void take(std::size_t count, F&& f) {
    for (std::size_t n = std::min(members_.size(), count); n > 0; --n) {
      next_ = next_ + 1 < members_.size() ? next_ + 1 : 0;
      f(*members_[next_]);
    }
  }

 private:
  std::vector<T*> members_;
  std::size_t next_ = 0;
};

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_TURNS_HPP
