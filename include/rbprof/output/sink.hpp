// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_SINK_HPP
#define RBPROF_OUTPUT_SINK_HPP

#include <absl/status/status.h>

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

// Where a writer puts its bytes. A writer hands them over piece by piece, so that exporting a large
// profile never holds the whole file: the same code fills a string, a gzip stream or a file.
//
// The libraries under the writers may throw (out of memory, above all). Nothing is thrown past a
// function of this directory: `guarded` turns it into a status; the caller is often C or a VM.

namespace rbprof::inline v0 {
namespace output {

class sink {
 public:
  sink() = default;
  sink(const sink&) = delete;
  sink& operator=(const sink&) = delete;
  virtual ~sink() = default;

  /// Takes all of the bytes or says why not.
  [[nodiscard]] virtual absl::Status write(std::string_view bytes) = 0;
};

class string_sink final : public sink {
 public:
  [[nodiscard]] absl::Status write(std::string_view bytes) override {
    text_.append(bytes);
    return absl::OkStatus();
  }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

namespace detail {

/// Bytes that a writer gathers before it hands them to a sink.
inline constexpr std::size_t piece_bytes = std::size_t{64} * 1024;

/// Runs `work() -> absl::Status` and turns an exception into a status.
template <class Work>
[[nodiscard]] absl::Status guarded(Work&& work) noexcept {
#if defined(__cpp_exceptions)
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "not enough memory to write the profile; write it to a file, or flush more often");
  } catch (const std::exception& e) {
    return absl::InternalError(e.what());
  }
#else
  return std::forward<Work>(work)();
#endif
}

}  // namespace detail
}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_SINK_HPP
