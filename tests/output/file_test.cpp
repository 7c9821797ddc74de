// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/file.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"

namespace {

using namespace support;
using Catch::Matchers::ContainsSubstring;
using output::sink;
using output::write_file;
namespace fs = std::filesystem;

absl::Status write_text(const fs::path& path, std::string_view text) {
  return write_file(path, [&](sink& to) { return to.write(text); });
}

std::string message(const absl::Status& s) {
  return std::string(s.message().data(), s.message().size());
}

}  // namespace

TEST_CASE("a file is written and nothing else is left in its directory") {
  const scratch_dir dir;
  REQUIRE(write_text(dir / "a", "hello").ok());
  CHECK(read_file(dir / "a") == "hello");
  CHECK(dir.entries() == 1);
}

TEST_CASE("a file that is there is replaced as a whole") {
  const scratch_dir dir;
  REQUIRE(write_text(dir / "a", "a long text that was there before").ok());
  REQUIRE(write_text(dir / "a", "new").ok());
  CHECK(read_file(dir / "a") == "new");
}

TEST_CASE("a writer that fails leaves the old file and no other") {
  const scratch_dir dir;
  REQUIRE(write_text(dir / "a", "old").ok());
  const absl::Status s = write_file(dir / "a", [](sink& to) {
    return to.write("half").ok() ? absl::DataLossError("gave up") : absl::OkStatus();
  });
  CHECK(s.code() == absl::StatusCode::kDataLoss);
  CHECK(read_file(dir / "a") == "old");
  CHECK(dir.entries() == 1);
}

TEST_CASE("a writer that throws leaves the old file and no other, and nothing is thrown on") {
  const scratch_dir dir;
  REQUIRE(write_text(dir / "a", "old").ok());
  const absl::Status s = write_file(dir / "a", [](sink& to) -> absl::Status {
    if (!to.write("half").ok()) return absl::OkStatus();
    throw std::bad_alloc();
  });
  CHECK(s.code() == absl::StatusCode::kResourceExhausted);
  CHECK(read_file(dir / "a") == "old");
  CHECK(dir.entries() == 1);
}

TEST_CASE("the permissions are those that the umask gives") {
  const scratch_dir dir;
  const mode_t before = umask(027);
  const bool ok = write_text(dir / "a", "x").ok();
  umask(before);
  REQUIRE(ok);
  struct stat s {};
  REQUIRE(stat((dir / "a").c_str(), &s) == 0);
  CHECK((s.st_mode & 0777U) == 0640U);
}

TEST_CASE("a path that can't be a file is refused with what to do") {
  const scratch_dir dir;
  const absl::Status missing = write_text(dir / "no/such/a", "x");
  CHECK(absl::IsNotFound(missing));
  CHECK_THAT(message(missing), ContainsSubstring("no/such/a") && ContainsSubstring("create the dir"));
  CHECK_THAT(message(write_text(dir.path(), "x")), ContainsSubstring("is a directory"));
  CHECK_THAT(message(write_text(dir.path() / "", "x")), ContainsSubstring("name of a file"));
  CHECK_THAT(message(write_text("", "x")), ContainsSubstring("name of a file"));
  CHECK(dir.entries() == 0);
}

TEST_CASE("a directory that this user may not write to is refused and named") {
  const scratch_dir dir;
  fs::permissions(dir.path(), fs::perms::owner_read | fs::perms::owner_exec);
  if (geteuid() == 0) {
    // Root may write anywhere, so another user tries, in a child.
    constexpr uid_t nobody = 65534;
    fs::permissions(dir.path(), static_cast<fs::perms>(0755));
    const pid_t child = fork();
    if (child == 0) {
      if (setuid(nobody) != 0) _exit(3);
      const absl::Status s = write_text(dir / "a", "x");
      const bool good = absl::IsPermissionDenied(s) && message(s).find("may write to") != std::string::npos;
      _exit(good ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
  } else {
    const absl::Status s = write_text(dir / "a", "x");
    CHECK(absl::IsPermissionDenied(s));
    CHECK_THAT(message(s), ContainsSubstring("may write to"));
  }
  fs::permissions(dir.path(), fs::perms::owner_all);
  CHECK(dir.entries() == 0);
}

TEST_CASE("a full disk is reported, the old file stays and nothing is left behind") {
  // A limit on the size of files stands in for a full disk: write gives an error half way.
  const scratch_dir dir;
  REQUIRE(write_text(dir / "a", "old").ok());
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, 1000};
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) _exit(3);
    const absl::Status s = write_text(dir / "a", std::string(100'000, 'x'));
    _exit(!s.ok() && message(s).find("cannot write the profile") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(read_file(dir / "a") == "old");
  CHECK(dir.entries() == 1);
}

TEST_CASE("a device that is full says to free space") {
  if (!fs::exists("/dev/full")) SKIP("no /dev/full here");
  const absl::Status s = write_text("/dev/full", "x");
  CHECK_FALSE(s.ok());
  CHECK_THAT(message(s), ContainsSubstring("free space") && ContainsSubstring("/dev/full"));
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a link stays a link and what it points to is replaced") {
  const scratch_dir dir;
  REQUIRE(write_text(dir / "real", "old").ok());
  fs::create_symlink("real", dir / "link");
  REQUIRE(write_text(dir / "link", "new").ok());
  CHECK(fs::is_symlink(dir / "link"));
  CHECK(read_file(dir / "real") == "new");
  CHECK(dir.entries() == 2);
}

TEST_CASE("a pipe is written to, not replaced") {
  const scratch_dir dir;
  REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
  std::string got;
  std::thread reader([&] { got = read_file(dir / "pipe"); });
  const absl::Status s = write_text(dir / "pipe", std::string(200'000, 'x'));
  reader.join();
  CHECK(s.ok());
  CHECK(got == std::string(200'000, 'x'));
  CHECK(fs::is_fifo(dir / "pipe"));
}

TEST_CASE("the longest name that the file system takes can be written") {
  const scratch_dir dir;
  const std::string name(255, 'n');
  REQUIRE(write_text(dir / name, "x").ok());
  CHECK(read_file(dir / name) == "x");
}

TEST_CASE("a temporary file that a dead process left is passed over") {
  const scratch_dir dir;
  for (int i = 0; i < 200; ++i) {
    std::ofstream(dir / (".rbprof-" + std::to_string(getpid()) + "-" + std::to_string(i) + ".tmp")) << 'x';
  }
  REQUIRE(write_text(dir / "a", "x").ok());
  CHECK(read_file(dir / "a") == "x");
  CHECK(dir.entries() == 201);
}

TEST_CASE("threads that write one file at once leave one of their texts whole") {
  const scratch_dir dir;
  std::vector<std::thread> all;
  for (char c = 'a'; c < 'i'; ++c) {
    all.emplace_back([&dir, c] {
      for (int i = 0; i < 20; ++i) (void)write_text(dir / "a", std::string(10'000, c));
    });
  }
  for (std::thread& t : all) t.join();
  const std::string got = read_file(dir / "a");
  REQUIRE(got.size() == 10'000);
  CHECK(got == std::string(10'000, got[0]));
  CHECK(dir.entries() == 1);
}

TEST_CASE("signals in the middle of a write cost nothing") {
  struct sigaction quiet {};
  struct sigaction before {};
  quiet.sa_handler = [](int) {};  // no SA_RESTART: calls are interrupted
  sigaction(SIGALRM, &quiet, &before);
  const scratch_dir dir;
  REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
  std::string got;
  const pthread_t writer = pthread_self();
  std::thread reader([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::ifstream in(dir / "pipe", std::ios::binary);
    std::string part(30'000, ' ');
    while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
      got.append(part.data(), static_cast<std::size_t>(in.gcount()));
      pthread_kill(writer, SIGALRM);  // the writer waits for room in the pipe now
    }
  });
  const absl::Status s = write_text(dir / "pipe", std::string(3'000'000, 'x'));
  reader.join();
  sigaction(SIGALRM, &before, nullptr);
  CHECK(s.ok());
  CHECK(got == std::string(3'000'000, 'x'));
}
