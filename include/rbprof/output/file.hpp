// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_FILE_HPP
#define RBPROF_OUTPUT_FILE_HPP

#include <absl/status/status.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <rbprof/output/sink.hpp>

// A profile on disk is whole or not there. The bytes go to a temporary file in the same directory,
// which is synced and then renamed over the target; on any failure it is removed, and a file that
// was there before is as it was. A target that is no regular file (a pipe, /dev/stdout) can't be
// replaced, so it is written directly.
//
// Hosts sample with signals: every call here goes on after EINTR.

namespace rbprof::inline v0 {
namespace output {

/// Calls from: any thread · Blocks: on the disk · Allocates: yes · On failure: a status, nothing
/// left behind
class file_sink final : public sink {
 public:
  explicit file_sink(std::filesystem::path target) : target_(std::move(target)) {}
  ~file_sink() override { discard(); }

  /// Creates the temporary file, with the permissions that the process's umask gives.
  [[nodiscard]] absl::Status open() {
    if (target_.filename().empty()) {
      return absl::InvalidArgumentError("cannot write a profile to '" + target_.string() +
                                        "': give the name of a file");
    }
    struct ::stat found {};
    const bool exists = ::stat(target_.c_str(), &found) == 0;
    if (exists && S_ISDIR(found.st_mode)) {
      return absl::FailedPreconditionError("cannot write a profile to '" + target_.string() +
                                           "': it is a directory; give the name of a file in it");
    }
    if (exists && !S_ISREG(found.st_mode)) return open_directly();
    if (exists) follow_link();
    return open_temporary();
  }

  [[nodiscard]] absl::Status write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed(errno, "write");
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return absl::OkStatus();
  }

  /// Makes the file visible under its name.
  [[nodiscard]] absl::Status commit() {
    if (!temporary_.empty() && !synced()) return failed(errno, "sync");
    const int closed = ::close(std::exchange(fd_, -1));
    if (closed != 0 && errno != EINTR) return failed(errno, "close");
    if (temporary_.empty()) return absl::OkStatus();
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return failed(errno, "rename");
    temporary_.clear();
    return absl::OkStatus();
  }

 private:
  /// A link stays a link: what it points to is replaced.
  void follow_link() {
    std::error_code unknown;
    std::filesystem::path real = std::filesystem::canonical(target_, unknown);
    if (!unknown) target_ = std::move(real);
  }

  [[nodiscard]] absl::Status open_directly() {
    do {
      fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    } while (fd_ < 0 && errno == EINTR);
    return fd_ < 0 ? failed(errno, "open") : absl::OkStatus();
  }

  /// O_EXCL and a name that this process uses once; a name left by a dead process of the same id is
  /// skipped. The name is short, so that the longest legal target name works.
  [[nodiscard]] absl::Status open_temporary() {
    static std::atomic<unsigned> serial{0};
    constexpr int tries = 1000;
    for (int i = 0; i < tries; ++i) {
      std::filesystem::path name = target_.parent_path();
      name /= ".rbprof-" + std::to_string(::getpid()) + "-" + std::to_string(serial++) + ".tmp";
      fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (fd_ >= 0) {
        temporary_ = std::move(name);
        return absl::OkStatus();
      }
      if (errno != EEXIST && errno != EINTR) break;
    }
    return failed(errno, "create");
  }

  [[nodiscard]] bool synced() const noexcept {
    int done = -1;
    do {
      done = ::fsync(fd_);
    } while (done != 0 && errno == EINTR);
    return done == 0 || errno == EINVAL || errno == ENOTSUP;  // a file system without fsync
  }

  [[nodiscard]] absl::Status failed(int error, std::string_view what) {
    discard();
    std::string text = "cannot ";
    text += what;
    text += " the profile '" + target_.string() + "'";
    if (error == ENOSPC || error == EDQUOT) text += " (free space or choose another directory)";
    if (error == ENOENT) text += " (create the directory first)";
    if (error == EACCES || error == EPERM || error == EROFS) {
      text += " (choose a directory that this user may write to)";
    }
    return absl::ErrnoToStatus(error, text);
  }

  void discard() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
  }

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty: written directly, or renamed already
  int fd_ = -1;
};

/// Writes a file as a whole: `make(sink&) -> absl::Status` gives its bytes.
template <class Make>
[[nodiscard]] absl::Status write_file(const std::filesystem::path& target, Make&& make) noexcept {
  return detail::guarded([&]() -> absl::Status {
    file_sink file(target);
    if (absl::Status s = file.open(); !s.ok()) return s;
    if (absl::Status s = std::forward<Make>(make)(static_cast<sink&>(file)); !s.ok()) return s;
    return file.commit();
  });
}

}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_FILE_HPP
