# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
require_relative "run"
require_relative "lesser_facts"

# A scenario is a program with a known truth and the facts that a right profile of it holds:
#
#   scenario "s01", program: "s01_cpu_split_3_to_1", fine: true do
#     near "busy_a : busy_b", main.flat_cpu("busy_a") / main.flat_cpu("busy_b"), 3, percent: 10
#   end
#
# Two kinds of facts. Exact ones (`exactly`, `sure`) must hold in every run. Measured ones (`near`, `points`,
# `at_most`, `at_least`) compare amounts, and noise of the machine may break them: the program is run again, twice at
# most, and the report says so. Tolerances are never widened.
class Scenario
  ATTEMPTS = 3
  FINE = %w[--interval 1ms --overhead 20%].freeze # for facts that are shares of time
  ALL = {}
  Fact = Struct.new(:text, :held, :exact)

  def self.define(name, **options, &facts) = ALL[name] = new(name, **options, &facts)

  attr_reader :name

  # `fine`: sampled every ms at a fixed rate. `same_output`: ground keys that differ between two runs though they are
  # integers; nil when outputs can't be compared. `facts` is run on a Judge.
  def initialize(name, program: name, fine: false, options: [], out: [".pb.gz"], varying: [], status: 0, limit: 60,
                 ordinary: true, &facts)
    @name = name
    @program = program
    @options = (fine ? FINE : []) + options
    @out = out
    @varying = varying
    @status = status
    @limit = limit
    @ordinary = ordinary
    @facts = facts
  end

  # True when every fact held. Prints each with what was measured.
  def check(bench)
    path = bench.program(@program)
    plain = bench.plain(path, limit: @limit) if @varying
    1.upto(ATTEMPTS) do |attempt|
      judge = Judge.new(self, bench, path, bench.profiled(path, options: @options, out: @out, limit: @limit))
      judge.ordinary_facts(plain, @varying, @status, @ordinary)
      judge.judge(&@facts) if judge.profile
      puts "-- #{name}, run #{attempt}: #{File.basename(path)} #{@options.join(' ')}"
      judge.print
      return true if judge.held?
      return false if judge.broken_for_good?
      puts "NOTE #{name}: a measured fact did not hold#{', running again' if attempt < ATTEMPTS}"
    end
    false
  end
end

# Gathers the facts of one run. Scenarios are written in its words.
class Judge
  # Time has no start-up allowance: a span must have been long enough to say something.
  attr_reader :run, :profile, :bench, :path

  def initialize(scenario, bench, path, run)
    @scenario = scenario
    @bench = bench
    @path = path
    @run = run
    @found = []
    @notes = []
    @profile = File.exist?(run.files.first) ? bench.profile_of(run) : nil
  end

  def mruby? = bench.mruby?
  def ground = run.ground
  def truth = run.truth
  def stats = run.stats
  def main = @main ||= profile.thread("main")
  def thread(name) = profile.thread(name)
  # The number of the first line of the program that matches.
  def line_of(pattern) = File.readlines(path).index { |l| l.match?(pattern) }.to_i + 1

  # --- exact facts ---
  def exactly(text, actual, expected) = add("#{text}: #{actual.inspect} (#{expected.inspect})", actual == expected, true)
  def sure(text, held, shown = nil) = add(shown.nil? ? text : "#{text}: #{shown}", held ? true : false, true)

  # --- measured facts ---
  def near(text, actual, expected, percent:)
    add("#{text}: #{show(actual)} (#{show(expected)} +-#{percent} %)",
        (actual - expected).abs <= expected.abs * percent / 100.0)
  end

  # Shares, in points of 100.
  def points(text, actual, expected, points)
    add("#{text}: #{show(100 * actual)} % (#{show(100.0 * expected)} +-#{points} points)",
        (100.0 * (actual - expected)).abs <= points)
  end
  def at_most(text, actual, limit) = add("#{text}: #{show(actual)} (at most #{show(limit)})", actual <= limit)
  def at_least(text, actual, limit) = add("#{text}: #{show(actual)} (at least #{show(limit)})", actual >= limit)

  # A part of a header that this host can't show.
  def not_covered(text, why) = @notes << "not covered: #{text} (#{why})"

  # `rows` are booked on one of the frames where the thread waits, or, as LesserFacts has it, on a stand-in.
  def waits_in(text, rows, *names, share:)
    lesser = LesserFacts::WAITS_ON[@scenario.name] unless profile.sees_other_stacks?
    if lesser
      @notes << "lesser fact: #{text} may be on #{LesserFacts::NOT_RUNNING}; missing API: #{lesser}"
      names += [LesserFacts::NOT_RUNNING]
    end
    at_least "#{text}: share of wall in #{names.join(', ')}", rows.flat_wall(*names) / rows.wall, share
  end

  def judge(&facts)
    instance_eval(&facts)
  rescue FloatDomainError, ZeroDivisionError, NoMethodError, TypeError => e
    add("the facts can be computed: #{e.message} (#{e.backtrace.first})", false)
  end

  # What holds for every program.
  def ordinary_facts(plain, varying, status, all)
    exactly "it ends with", run.how_it_ended, "status #{status}"
    sure "it writes a profile", profile
    sure "stderr has nothing of the profiler", !run.own_err.include?("rbprof"), run.own_err[0, 300].inspect
    if plain
      exactly "without the profiler it ends with", plain.how_it_ended, "status #{status}"
      exactly "it prints what it prints without the profiler", comparable(run.out, varying), comparable(plain.out, varying)
    end
    return unless profile
    sure "every string is UTF-8", profile.facts["strings_bad"].empty?, profile.facts["strings_bad"].inspect
    sure "no value is negative", profile.rows.all? { |r| r.values.values.min >= 0 }
    ticks = stats.fetch("ticks", -1)
    fates = %w[samples skipped coalesced missed].to_h { |k| [k, stats.fetch(k, -1)] }
    exactly "ticks = samples + skipped + coalesced + missed #{fates.values}", fates.values.sum, ticks
    due = profile.duration / profile.period
    # No tick falls into stop() itself, which books every thread once more: 2 ms at most.
    late = 0.002 / profile.period
    add("ticks are elapsed / interval within 1: #{ticks} (#{show(due)}, of them up to #{show(late)} in stop)",
        (-1.0..1.0 + late).cover?(due - ticks)) if all
    exactly "the recorder lost nothing", stats.values_at("recorder_overflow", "recorder_self_check"), [0, 0]
  end

  # Σ cpu of everything is the process's, Σ of the main thread is its clock, Σ wall is elapsed time, and nothing of it
  # lacks a place. For programs of one thread. The ticker is no thread of Ruby and in no row; on a busy machine, which
  # gives a program less cpu a tick, it is over 5 % at 1 kHz, so its own clock is added.
  def totals
    id = profile.id_of("main")
    account = profile.account(id)
    if mruby?
      not_covered "cpu = process cpu", "a program in mruby has no clock of its cpu time"
    else
      near "cpu of all rows and the ticker = process cpu", profile.cpu + truth[:ticker_cpu_s],
           truth[:process_cpu_s], percent: 5
      near "cpu booked for main = its clock", account.cpu, truth[:main_cpu_s], percent: 5
    end
    near "wall booked for main = elapsed", account.wall, profile.duration, percent: 3
    at_most "share of cpu that is (unattributed)", profile.flat_cpu("(unattributed)") / profile.cpu, 0.01
    at_most "share of wall that is (unattributed)", profile.flat_wall("(unattributed)") / profile.wall, 0.01
  end

  def held? = @found.all?(&:held)
  def broken_for_good? = @found.any? { |f| f.exact && !f.held }

  def print
    @found.each { |f| puts "  #{f.held ? 'ok  ' : 'FAIL'} #{f.text}" }
    @notes.uniq.each { |n| puts "  note #{n}" }
    return if held?
    puts "  it printed: #{run.out[0, 2000].inspect}", "  on stderr: #{run.own_err[0, 2000].inspect}"
  end

  private

  def add(text, held, exact = false) = @found << Scenario::Fact.new(text, held, exact)

  def show(value) = value.is_a?(Float) ? format("%.4g", value) : value.inspect

  # Fractions are measured; integers are facts, but for those named.
  def comparable(text, varying)
    varying.reduce(text.scrub.gsub(/\d+\.\d+(e-?\d+)?/, "~")) { |t, k| t.gsub(/\b#{k}=(\[.*?\]|\S+)/, "#{k}=~") }
  end
end

def scenario(name, **options, &facts) = Scenario.define(name, **options, &facts)
