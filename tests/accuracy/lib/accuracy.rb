# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# A program that measures itself by its own clocks, profiles the same window, and compares.
#
#   Accuracy.judge(seconds: 4) do |window|
#     window.open
#     ... window.truth["op_sort"] += what it took ...   until window.over?
#     window.close
#     window.share "op_sort", 0.25, window.cpu_in("op_sort")
#     window.within "mean error", 0.2, 0.5
#   end
#
# Prints one line a figure, and exits 0 (all held), 1, or 77: this Ruby has not got the mode. What does not hold is
# measured again, twice at most, since sampling has noise; each program says where its tolerances come from. A window in
# which the machine ran other programs does not count: a ticker that wakes late is late when it matters, since the thread
# that it is to sample has its core. After six of those, 77 as well.
#
#   RBPROF_ACCURACY_SECONDS=20   a longer window than the program's own
#   RBPROF_ACCURACY_TRIES=1      a single window, whatever the machine does
module Accuracy
  NO_SUCH_MODE = 77
  THREAD_CPU = Process::CLOCK_THREAD_CPUTIME_ID
  WALL = Process::CLOCK_MONOTONIC
  HANDLER = Profiler::MODE.end_with?("handler")

  def self.judge(seconds:, needs: nil, waits: false)
    skip("needs Ruby #{needs}") if needs && RUBY_VERSION.to_f < needs
    seconds = ENV.fetch("RBPROF_ACCURACY_SECONDS", seconds).to_f
    tries = ENV.fetch("RBPROF_ACCURACY_TRIES", 3).to_i
    missed = busy = 0
    while missed < tries && busy < 2 * tries
      window = Window.new(seconds, waits)
      yield window
      puts "TRY #{missed + busy + 1} #{Profiler::MODE} interval #{Profiler::INTERVAL_NS / 1000} us, ruby #{RUBY_VERSION}, #{window.about}"
      puts window.lines
      exit(window.held?) if window.held? || tries == 1
      window.fair? ? missed += 1 : busy += 1
      puts "NOTE the machine was too busy for this window" unless window.fair?
    end
    missed < tries ? skip("the machine was too busy, #{busy} times") : exit(1)
  end

  def self.skip(why)
    puts "SKIPPED #{Profiler::MODE}: #{why}"
    $stdout.flush
    exit!(NO_SUCH_MODE)
  end

  # One profile and the truth about its time.
  class Window
    Row = Struct.new(:labels, :cpu, :wall, :samples, :frames) do
      def leaf = frames.first
      # A frame of that method, not of a block in it.
      def in?(method) = frames.any? { |name, _, _| Window.method?(name, method) }
    end

    def self.method?(name, method) = name == method || (name.end_with?("##{method}", ".#{method}") && !name.start_with?("block"))

    attr_reader :truth, :elapsed, :cpu, :lines

    def initialize(seconds, waits)
      @seconds = seconds
      @waits = waits
      @truth = Hash.new(0.0)
      @lines = []
      @held = true
    end

    def open
      started
      @cpu_began = Process.clock_gettime(THREAD_CPU)
      @began = Process.clock_gettime(WALL)
    end

    def over? = Process.clock_gettime(WALL) - @began >= @seconds

    def close
      @cpu = Process.clock_gettime(THREAD_CPU) - @cpu_began
      @elapsed = Process.clock_gettime(WALL) - @began
      @rows = Profiler.stop.map { |r| Row.new(*r) }
      off = Profiler.remarks.find { |r| r.start_with?("async_capture: off") }
      Accuracy.skip(off) if HANDLER && off
    end

    # Rows of the thread that measures, of the collector, of the profiler's own work.
    def own = @own ||= @rows.select { |r| r.labels["thread name"] == "main" }
    def collector = @rows.select { |r| r.labels["thread id"] == "GC" }
    def samples = own.sum(&:samples)
    # Nine in ten ticks came in time, and a thread that is not to wait had its core.
    def fair? = late_share <= 0.1 && (@waits || @cpu / @elapsed >= 0.8)
    def late_share = statistic("missed").fdiv([statistic("ticks"), 1].max)
    def about
      format("%.1f s, cpu %.0f %%, %d samples, late ticks %.0f %%", @elapsed, 100 * @cpu / @elapsed, samples, 100 * late_share)
    end
    def statistic(name) = Profiler.statistics.fetch(name, 0)

    def cpu_in(method) = own.select { |r| r.in?(method) }.sum(&:cpu) / 1e9
    def wall_in(method) = own.select { |r| r.in?(method) }.sum(&:wall) / 1e9
    # Of the cpu inside `method`: what has one of these as its leaf.
    def leaf_cpu(method, *leaves)
      own.select { |r| r.in?(method) && leaves.any? { |l| Window.method?(r.leaf[0], l) } }.sum(&:cpu) / 1e9
    end
    # {line => cpu} of the frames of a method, wherever they are in the stack.
    def cpu_by_line(method)
      own.each_with_object(Hash.new(0.0)) do |r, sums|
        frame = r.frames.find { |name, _, _| Window.method?(name, method) }
        sums[frame[2]] += r.cpu / 1e9 if frame
      end
    end

    # A share of time, in points of 100; its error is kept for `mean_error` and `max_error`.
    def share(name, true_share, profiled)
      (@errors ||= []) << 100 * (profiled - true_share).abs
      @lines << "FIGURE #{name} #{'%.2f' % (100 * true_share)} #{'%.2f' % (100 * profiled)}"
    end
    def mean_error = @errors.sum / @errors.size
    def max_error = @errors.max

    def within(name, points, limit)
      verdict(name, points, "<= #{limit}", points <= limit)
    end
    def at_least(name, points, limit)
      verdict(name, points, ">= #{limit}", points >= limit)
    end
    # Known to be wrong in this mode, and not asserted.
    def measured(name, points) = @lines << "MEASURED #{name} #{'%.2f' % points}"
    def held? = @held

    private

    def verdict(name, points, limit, held)
      @held &&= held
      @lines << "#{held ? 'HELD' : 'MISSED'} #{name} #{'%.2f' % points} #{limit}"
    end

    def started
      Profiler.start
    rescue RuntimeError => e
      Accuracy.skip(e.message)
    end
  end
end
