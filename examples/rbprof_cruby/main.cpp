// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
// rbprof-cruby runs a Ruby program under the profiler: a host that does nothing else.
//
// The program sees its own $0, ARGV, standard streams, signals and exit status. The profile is written when the
// last at_exit block has run, so also when the program raises, calls exit, or gets SIGINT or SIGTERM.
#include <rbprof/cruby.hpp>
#include <rbprof/output/collapsed.hpp>
#include <rbprof/output/file.hpp>
#include <rbprof/output/flamegraph_html.hpp>
#include <rbprof/output/pprof.hpp>
#include <rbprof/output/text.hpp>

#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"

namespace {

using rbprof_cruby::arguments;

struct host {
  arguments asked;
  rbprof::cruby::profiler* profiler = nullptr;
  pid_t pid = 0;
};

host& the_host() {
  static host h;
  return h;
}

void complain(const std::string& text) { std::fprintf(stderr, "rbprof-cruby: %s\n", text.c_str()); }
void complain(const absl::Status& status) { complain(std::string(status.message())); }

absl::Status write(const rbprof::profile& p, const std::filesystem::path& file) {
  namespace output = rbprof::output;
  const std::string name = file.filename().string();
  const auto ends = [&](std::string_view end) { return std::string_view(name).ends_with(end); };
  if (ends(".html")) return output::write_flamegraph_html(p, file);
  if (ends(".collapsed")) {
    return output::write_collapsed(p, file, {.type = rbprof::value_type::cpu_time});
  }
  if (ends(".txt")) {
    return output::write_file(file, [&](output::sink& to) {
      return to.write(output::top_table(p, rbprof::value_type::cpu_time, 100));
    });
  }
  return output::write_pprof(p, file, {.gzip = ends(".gz")});
}

/// Runs when the program's own at_exit blocks have run. A forked child leaves the file to its parent.
void finish(VALUE) {
  host& h = the_host();
  if (h.profiler == nullptr || getpid() != h.pid) return;
  const absl::StatusOr<rbprof::profile> profile = h.profiler->stop();
  if (!profile.ok()) {
    complain(profile.status());
    return;
  }
  for (const std::filesystem::path& file : h.asked.out) {
    if (const absl::Status written = write(*profile, file); !written.ok()) complain(written);
  }
  if (h.asked.top > 0) {
    const std::string table =
        rbprof::output::top_table(*profile, rbprof::value_type::cpu_time, h.asked.top);
    std::fputs(table.c_str(), stderr);
  }
  if (h.asked.stats) {
    for (const auto& [name, value] : profile->statistics()) {
      std::fprintf(stderr, "%s %llu\n", name.c_str(), static_cast<unsigned long long>(value));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  host& h = the_host();
  if (const std::string wrong = rbprof_cruby::parse(argc, argv, h.asked); !wrong.empty()) {
    complain(wrong + " (see --help)");
    return 2;
  }
  if (h.asked.help) {
    std::fwrite(rbprof_cruby::usage.data(), 1, rbprof_cruby::usage.size(), stdout);
    return 0;
  }
  h.asked.profiler.program = argv[h.asked.script];
  ruby_sysinit(&argc, &argv);
  RUBY_INIT_STACK;
  ruby_init();
  // Ruby gets "rbprof-cruby -- SCRIPT ARGS", so a script whose name begins with "-" is no option.
  static char dashes[] = "--";
  std::vector<char*> for_ruby{argv[0], dashes};
  for_ruby.insert(for_ruby.end(), argv + h.asked.script, argv + argc);
  const int count = static_cast<int>(for_ruby.size());
  for_ruby.push_back(nullptr);
  void* const program = ruby_options(count, for_ruby.data());
  int status = 0;
  if (ruby_executable_node(program, &status) == 0) {  // a syntax error, said by Ruby already
    ruby_cleanup(0);
    return status;
  }

  rbprof::cruby::profiler profiler(h.asked.profiler);
  if (const absl::Status started = profiler.start(); !started.ok()) {
    complain(started);
    ruby_cleanup(0);
    return 2;
  }
  h.profiler = &profiler;
  h.pid = getpid();
  rb_set_end_proc(finish, Qnil);
  return ruby_run_node(program);
}
