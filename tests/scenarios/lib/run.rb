# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
require "open3"
require "rbconfig"
require "timeout"
require "tmpdir"
require_relative "profile"

# One run of a program: what it printed, how it ended, what it measured of itself, and its profile.
class Run
  PRELUDE = File.expand_path("truth.rb", __dir__)
  attr_reader :out, :err, :status, :dir, :files, :seconds

  def initialize(command, dir, files: [], truth: nil, limit: 60, env: {})
    @dir = dir
    @files = files
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    @out, @err, @status = capture({ "RUBYOPT" => "-r#{PRELUDE}", "RBPROF_TRUTH" => truth }.merge(env), command, limit)
    @seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
    @truth_file = truth
  end

  # "GROUND a=1 b=x" lines. Numbers become numbers.
  def ground = @ground ||= pairs(out.scrub.lines.grep(/\AGROUND /).map { |l| l.sub("GROUND ", "") })
  # What the process said of itself in the end; see truth.rb.
  def truth = @truth ||= pairs(File.exist?(@truth_file.to_s) ? File.readlines(@truth_file) : [])
  # "name value" lines of --stats.
  def stats = @stats ||= err.scrub.lines.filter_map { |l| l =~ /\A(\w+) (\d+)\Z/ && [$1, $2.to_i] }.to_h
  # Standard error without those lines.
  def own_err = err.scrub.lines.grep_v(/\A\w+ \d+\Z/).join
  def crashed? = status.signaled? || err.include?("[BUG]")
  def how_it_ended = status.signaled? ? "signal #{status.termsig}" : "status #{status.exitstatus}"

  private

  def pairs(lines)
    lines.flat_map { |l| l.strip.scan(/(\w+)=(\[.*?\]|\S+)/) }.to_h { |k, v| [k.to_sym, number(v)] }
  end

  def number(text)
    return text.to_i if text.match?(/\A-?\d+\z/)
    text.match?(/\A-?\d+\.\d+(e-?\d+)?\z/) ? text.to_f : text
  end

  def capture(env, command, limit)
    Open3.popen3(env, *command, pgroup: true) do |stdin, stdout, stderr, waiter|
      stdin.close
      readers = [stdout, stderr].map { |io| Thread.new { io.read } }
      unless waiter.join(limit)
        Process.kill(:KILL, -waiter.pid)
        warn "#{command.last} did not end within #{limit} s"
      end
      readers.map(&:value) + [waiter.value]
    end
  end
end

# Where things are, and how a program is run with and without the profiler.
class Bench
  attr_reader :host, :reader, :dir, :engine

  def initialize(host:, reader:, dir:, engine: "cruby")
    @engine = engine
    @host = host
    @reader = reader
    @dir = dir
    @runs = 0
  end

  def mruby? = engine == "mruby"

  def program(name)
    path = File.expand_path("../programs/#{name}.rb", __dir__)
    File.exist?(path) ? path : Dir[File.expand_path("../programs/#{name}_*.rb", __dir__)].first
  end

  def plain(program, args: [], limit: 60)
    Run.new([mruby? ? "mruby" : RbConfig.ruby, program, *args.map(&:to_s)], dir, limit: limit)
  end

  # `out`: ends of the names of the profiles to be written.
  def profiled(program, options:, args: [], out: [".pb.gz"], limit: 60)
    stem = File.join(dir, "#{File.basename(program, '.rb')}-#{@runs += 1}")
    files = out.map { |e| stem + e }
    outs = files.flat_map { |f| ["--out", f] }
    # On the wall clock ticks are as many as the intervals of the run, which is a fact of every scenario.
    clock = mruby? ? %w[--clock wall] : []
    Run.new([host, *outs, "--stats", *clock, *options, program, *args.map(&:to_s)], dir,
            files: files, truth: "#{stem}.truth", limit: limit)
  end

  def profile_of(run) = Profile.read(reader, run.files.first)
end
