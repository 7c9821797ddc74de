// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_PROFILER_POLICY_CHECK_HPP
#define RBPROF_PROFILER_POLICY_CHECK_HPP

#include <absl/status/status.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rbprof/model/value_type.hpp>
#include <rbprof/policy/context.hpp>
#include <rbprof/policy/moment.hpp>
#include <rbprof/policy/recorder.hpp>
#include <rbprof/policy/sampler.hpp>
#include <rbprof/policy/trigger.hpp>
#include <rbprof/policy/vm_adapter.hpp>
#include <rbprof/profiler/options.hpp>

// Policies that do not fit get one readable line. Each check is true when an earlier one has failed already,
// so that only the first reason is told.

namespace rbprof::inline v0 {
namespace detail {

template <class V, class T>
consteval bool trigger_roles_fit() {
  if constexpr (requires { T::needs; V::request_from; }) return has(V::request_from, T::needs);
  return true;
}
template <class V, class T>
consteval bool trigger_binding_fits() {
  if constexpr (requires { T::needs_binding; }) return !T::needs_binding || has_binding<V>;
  return true;
}
template <class V, class T>
consteval bool trigger_target_fits() {
  if constexpr (requires { T::needs_target; }) return !T::needs_target || has_signal_target<V>;
  return true;
}

template <class V, class T, class S, class C, class R>
struct policy_check {
  static constexpr bool vm = vm_adapter<V>;
  static_assert(vm, "rbprof: the first policy is no vm_adapter (docs/policies/vm_adapter.md)");
  static constexpr bool lock = !vm || has_inline_lock<V>;
  static_assert(lock, "rbprof: the vm_adapter lacks with_lock_here (docs/policies/vm_adapter.md)");
  static constexpr bool roles = !vm || !lock || trigger_roles_fit<V, T>();
  static_assert(roles, "rbprof: this trigger asks for safe points from where this VM can't be asked");
  static constexpr bool bound = !vm || !lock || !roles || trigger_binding_fits<V, T>();
  static_assert(bound, "rbprof: this trigger needs a VM that is bound to threads (has_binding)");
  static constexpr bool target = !vm || !lock || !roles || !bound || trigger_target_fits<V, T>();
  static_assert(target, "rbprof: this trigger needs a VM whose thread can be signalled (has_signal_target)");
  static constexpr bool trigger = !vm || !lock || !roles || !bound || !target || trigger_for<T, V>;
  static_assert(trigger, "rbprof: the second policy is no trigger for this VM (docs/policies/trigger.md)");
  static constexpr bool sampler = !vm || !trigger || time_sampler<S>;
  static_assert(sampler, "rbprof: the third policy is no time_sampler (docs/policies/sampler.md)");
  static constexpr bool context = !vm || !sampler || context_for<C, V>;
  static_assert(context, "rbprof: the fourth policy is no context for this VM (docs/policies/context.md)");
  static constexpr bool store = !vm || !context || recorder<R>;
  static_assert(store, "rbprof: the fifth policy is no recorder (docs/policies/recorder.md)");
};

template <class P, class F>
void each_statistic_of(P& policy, F&& f) {
  if constexpr (has_statistics<P>) policy.each_statistic(f);
}

/// Columns that this composition could only leave empty are an error, not a profile of nothing.
template <bool SamplesAllocations>
[[nodiscard]] absl::Status check_columns(std::span<const value_type> types) {
  for (const value_type t : types) {
    const bool of_allocations = t == value_type::alloc_samples || t == value_type::alloc_samples_unscaled;
    const bool of_heap = t == value_type::heap_live_samples || t == value_type::heap_live_size;
    if ((of_allocations || of_heap) && !SamplesAllocations) {
      return absl::InvalidArgumentError(
          "types name allocations or the live heap: take a VM that tells of them and sampler::with_events, or leave those types out");
    }
  }
  return absl::OkStatus();
}

/// The features of an adapter by name, with the adapter's own reason for what is off.
template <class V>
[[nodiscard]] std::vector<capability> list_capabilities(V& v) {
  std::vector<capability> all;
  const feature on = v.features();
  for (const auto& [bit, name] : feature_names) all.push_back({std::string(name), has(on, bit), {}});
  if constexpr (has_remarks<V>) {
    v.each_remark([&](std::string_view line) {  // "<feature>: off, <why>", or a remark of its own
      for (capability& c : all) {
        const std::string start = c.name + ": off, ";
        if (line.starts_with(start)) {
          c.why = line.substr(start.size());
          return;
        }
      }
      all.push_back({std::string(line), false, {}});
    });
  }
  return all;
}

}  // namespace detail
}  // namespace rbprof::inline v0

#endif  // RBPROF_PROFILER_POLICY_CHECK_HPP
