// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_GZIP_HPP
#define RBPROF_OUTPUT_GZIP_HPP

#include <absl/status/status.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include <rbprof/output/sink.hpp>

namespace rbprof::inline v0 {
namespace output {

/// Compresses what is written to it and passes the result on. The header carries no time and no
/// name, so equal input gives equal bytes. `finish` ends the stream; without it the result is cut
/// short.
class gzip_sink final : public sink {
 public:
  /// `level` is zlib's: 1 is fast, 9 is small; what lies outside is moved to the nearest.
  gzip_sink(sink& to, int level) noexcept : to_(to) {
    constexpr int gzip_header = 16;
    constexpr int memory = 8;
    ready_ = deflateInit2(&stream_, std::clamp(level, 1, 9), Z_DEFLATED, gzip_header + MAX_WBITS,
                          memory, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~gzip_sink() override {
    if (ready_) deflateEnd(&stream_);
  }

  [[nodiscard]] absl::Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      constexpr std::size_t most = std::numeric_limits<uInt>::max();
      const std::string_view piece = bytes.substr(0, most);
      if (absl::Status s = deflate_all(piece, Z_NO_FLUSH); !s.ok()) return s;
      bytes.remove_prefix(piece.size());
    }
    return absl::OkStatus();
  }

  /// Writes what is left and the checksum. Nothing may be written after it.
  [[nodiscard]] absl::Status finish() { return deflate_all({}, Z_FINISH); }

 private:
  [[nodiscard]] absl::Status deflate_all(std::string_view bytes, int flush) {
    if (!ready_) return absl::ResourceExhaustedError("not enough memory to compress the profile");
    // zlib's interface predates const; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      if (deflate(&stream_, flush) == Z_STREAM_ERROR) {
        return absl::InternalError("zlib refused to go on; was the stream finished already?");
      }
      const std::string_view made(out_.data(), out_.size() - stream_.avail_out);
      if (absl::Status s = to_.write(made); !s.ok()) return s;
    } while (stream_.avail_out == 0);
    return absl::OkStatus();
  }

  sink& to_;
  z_stream stream_{};
  bool ready_ = false;
  std::array<char, std::size_t{32} * 1024> out_;
};

}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_GZIP_HPP
