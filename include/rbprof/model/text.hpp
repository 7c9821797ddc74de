// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_MODEL_TEXT_HPP
#define RBPROF_MODEL_TEXT_HPP

#include <cstdint>
#include <string>
#include <string_view>

namespace rbprof::inline v0 {

/// What an adapter knows of a frame, in words. Bytes as the VM has them: they are repaired to UTF-8 when
/// they enter a profile.
struct frame_text {
  std::string name;             ///< as people write it: "Foo#bar", "block in Foo.baz", "<main>"
  std::string file;             ///< path; "<cfunc>" for a native method
  std::int32_t line = 0;        ///< line that runs; 0 = not known
  std::int32_t start_line = 0;  ///< line of the definition; 0 = not known
  bool native = false;          ///< a method written in C
};

/// What an adapter knows of a thread, in words.
struct thread_text {
  std::string id;          ///< "<native id> (<object id>)"
  std::string name;        ///< the name its program gave it; empty = none
  std::string started_at;  ///< "file:line" of its block; empty = not known
  bool main = false;
};

/// Names of frames that stand for something that is not a method. One place, because tests, writers and
/// documents all speak of them.
namespace placeholder {
inline constexpr std::string_view gc = "Garbage Collection";
inline constexpr std::string_view overhead = "sampling";
inline constexpr std::string_view truncated = "Truncated Frames";
inline constexpr std::string_view overflow = "(overflow)";
inline constexpr std::string_view unattributed = "(unattributed)";  ///< time whose stack could not be read
inline constexpr std::string_view not_running = "(not running)";    ///< waits, on a VM that shows no waiting stack
inline constexpr std::string_view outside_vm = "(outside VM)";
inline constexpr std::string_view skipped = "Skipped Samples";       ///< allocations over the largest weight
inline constexpr std::string_view no_name = "(unnamed)";            ///< the VM could not name the frame
}  // namespace placeholder

/// Keys of labels, as dashboards for dd-trace-rb's profiles know them.
namespace label_key {
inline constexpr std::string_view thread_id = "thread id";
inline constexpr std::string_view thread_name = "thread name";
inline constexpr std::string_view invoke_location = "thread invoke location";
inline constexpr std::string_view state = "state";
inline constexpr std::string_view event = "event";
inline constexpr std::string_view gc_thread_id = "gc thread id";
inline constexpr std::string_view gc_reason = "gc reason";
inline constexpr std::string_view gc_cause = "gc cause";
inline constexpr std::string_view gc_type = "gc type";
inline constexpr std::string_view allocation_class = "allocation class";
inline constexpr std::string_view vm_type = "ruby vm type";
inline constexpr std::string_view overhead = "profiler overhead";
inline constexpr std::string_view overhead_thread_id = "overhead thread id";

/// The keys that mean something to viewers, which a host's own labels don't replace.
[[nodiscard]] constexpr bool is_ours(std::string_view key) noexcept {
  for (const std::string_view k : {thread_id, thread_name, invoke_location, state, event, gc_thread_id, gc_reason, gc_cause,
                                   gc_type, allocation_class, vm_type, overhead, overhead_thread_id}) {
    if (k == key) return true;
  }
  return false;
}
}  // namespace label_key

/// One label while a sample is on its way to the recorder. A label is text or a number, never both; a
/// number has a unit or is not 0, because readers drop an unmarked 0.
struct label_text {
  std::string_view key{};
  std::string str{};
  std::int64_t num = 0;
  std::string_view unit{};

  friend bool operator==(const label_text&, const label_text&) = default;
};

}  // namespace rbprof::inline v0

#endif  // RBPROF_MODEL_TEXT_HPP
