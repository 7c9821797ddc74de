// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
// A server's shape: four threads, each with a state of its own that serves its requests in fibers. Each state has its
// profiler, so nothing is shared between the workers; at the end each says where its time went.
//
//     mruby-workers [DIRECTORY]      worker-0.pb.gz and so on go there; without it nothing is written
#include <rbprof/mruby.hpp>
#include <rbprof/output/pprof.hpp>
#include <rbprof/output/text.hpp>

#include <mruby/compile.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace {

// A request is a fiber that is resumed until it is done; between two resumes the others of its worker run. The second
// worker has the heavy pages.
constexpr const char* program = R"ruby(
class Page
  def initialize(weight); @weight = weight; end
  def query; (1..40).map { |i| i.to_s * 3 }.size; end
  def render; i = 0; i += 1 while i < @weight; end
end
class Worker
  def initialize(number)
    @page = Page.new(number == 1 ? 60_000 : 600)
  end
  def request
    Fiber.new do
      20.times { @page.query }
      Fiber.yield :waiting
      @page.render
      :done
    end
  end
  def serve(n)
    open = (1..n).map { request }
    open.reject! { |f| f.resume == :done } until open.empty?
  end
end
)ruby";

struct outcome {
  absl::Status status;
  std::optional<rbprof::profile> profile;
  int requests = 0;
};

outcome work(int number) {
  outcome o;
  mrb_state* const mrb = mrb_open();
  mrb_load_string(mrb, program);
  const std::string create = "WORKER = Worker.new(" + std::to_string(number) + ")";
  mrb_load_string(mrb, create.c_str());
  {
    using namespace rbprof::literals;
    // Ten times as often as it comes, since this program is over in a moment.
    rbprof::mruby::profiler profiler(mrb, {.overhead_target = 5_percent,
                                           .interval = rbprof::nanos{1'000'000},
                                           .program = "worker " + std::to_string(number)});
    o.status = profiler.start();
    for (; o.status.ok() && o.requests < 400; o.requests += 10) {
      mrb_load_string(mrb, "WORKER.serve(10)");
      if (mrb->exc != nullptr) {
        mrb_print_error(mrb);
        o.status = absl::InternalError("the program raised");
      }
    }
    absl::StatusOr<rbprof::profile> made = profiler.stop();
    if (o.status.ok()) o.status = made.status();
    if (made.ok()) o.profile = *std::move(made);
  }
  mrb_close(mrb);
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  std::array<outcome, 4> all;
  std::array<std::thread, 4> workers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    workers[i] = std::thread([&all, i] { all[i] = work(static_cast<int>(i)); });
  }
  for (std::thread& w : workers) w.join();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const outcome& o = all[i];
    if (!o.status.ok()) {
      std::fprintf(stderr, "mruby-workers: worker %zu: %s\n", i, std::string(o.status.message()).c_str());
      return 1;
    }
    std::printf("worker %zu: %d requests\n%s\n", i, o.requests,
                rbprof::output::top_table(*o.profile, rbprof::value_type::cpu_time, 3).c_str());
    if (argc < 2) continue;
    const std::filesystem::path file = std::filesystem::path(argv[1]) / ("worker-" + std::to_string(i) + ".pb.gz");
    if (const absl::Status written = rbprof::output::write_pprof(*o.profile, file); !written.ok()) {
      std::fprintf(stderr, "mruby-workers: %s\n", std::string(written.message()).c_str());
      return 1;
    }
  }
  return 0;
}
