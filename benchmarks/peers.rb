# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# Overhead of whole programs: the same workload without a profiler, under rbprof-cruby, and under stackprof, in turns.
# stackprof does not ask for the collector's events, so --no-gc is what compares with it.
# Called by tools/bench --peers.
#
#   peers.rb RBPROF_CRUBY GEM_HOME RUNS

require "open3"
require "rbconfig"
require "tmpdir"

host, gem_home, runs = ARGV[0], ARGV[1], ARGV[2].to_i
workload = File.join(__dir__, "workload.rb")
ruby = RbConfig.ruby

def stackprof(ruby, mode, interval, workload)
  code = "require 'stackprof'; StackProf.start(mode: :#{mode}, interval: #{interval}); load ARGV.shift; " \
         "StackProf.stop; puts \"samples \#{StackProf.results[:samples]}\""
  [ruby, "-e", code, workload]
end

# The target is raised so that the governor does not lower the rate: what is compared is the cost of samples.
def rbprof(host, out, interval, workload, *more)
  [host, "--out", out, "--interval", interval, "--overhead", "20%", "--stats", *more, workload]
end

have_stackprof = Dir.exist?(gem_home) && system({"GEM_HOME" => gem_home}, ruby, "-e", "require 'stackprof'",
                                                err: File::NULL)
Dir.mktmpdir do |dir|
  out = File.join(dir, "p.pb.gz")
  ways = {
    "no profiler" => [ruby, workload],
    "no profiler, again" => [ruby, workload],
    "rbprof, as it comes" => [host, "--out", out, "--stats", workload],
    "rbprof, 100 Hz" => rbprof(host, out, "10ms", workload),
    "rbprof, 1 kHz" => rbprof(host, out, "1ms", workload),
    "rbprof, 100 Hz, --no-gc" => rbprof(host, out, "10ms", workload, "--no-gc"),
    "rbprof, 1 kHz, --no-gc" => rbprof(host, out, "1ms", workload, "--no-gc")
  }
  if have_stackprof
    %w[cpu wall].each do |mode|
      ways["stackprof #{mode}, 100 Hz"] = stackprof(ruby, mode, 10_000, workload)
      ways["stackprof #{mode}, 1 kHz"] = stackprof(ruby, mode, 1000, workload)
    end
  else
    warn "stackprof: not run (the gem could not be installed)"
  end
  taken = Hash.new { |h, k| h[k] = [] }
  samples = Hash.new(0)
  runs.times do
    ways.each do |name, command|
      text, error, status = Open3.capture3({"GEM_HOME" => gem_home}, *command)
      abort "#{command.join(" ")}\n#{text}#{error}" unless status.success?
      taken[name] << text[/^cpu (\S+)/, 1].to_f
      samples[name] = (text[/^samples (\d+)/, 1] || error[/^samples (\d+)/, 1]).to_i
    end
  end
  base = taken["no profiler"]
  puts format("%-28s %10s %10s %10s %9s", "whole program (cpu time)", "least s", "least", "median", "samples")
  taken.each do |name, all|
    pairs = all.zip(base).map { |a, b| a / b }.sort
    puts format("%-28s %10.3f %9.1f%% %9.1f%% %9d", name, all.min, (all.min / base.min - 1) * 100,
                (pairs[pairs.size / 2] - 1) * 100, samples[name])
  end
end
