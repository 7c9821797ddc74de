# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# forks.rb SECONDS: children are forked under signals, by every thread, while others run. A child has stopped, may
# profile itself, and what it finds is its own; its parent goes on.
def spin(seconds)
  limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  x = 0
  x += [3, 1, 2].sort_by { |v| -v }.first while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
  x
end

# Works until there are samples; on a busy machine that may take a while.
def sampled
  samples = 0
  200.times do
    spin(0.05)
    samples = storm_flush || 0
    break if samples > 0
  end
  samples
end

def child
  return 0 if rand < 0.3 # most programs profile their parent alone
  return 0 if storm_mode == "plain"
  return 1 unless storm_start
  samples = sampled
  return 2 if samples.zero? || storm_stop.nil?
  storm_well? ? 0 : 3
end

def fork_one
  pid = fork do
    status = 9
    begin
      status = child
    ensure
      exit!(status)
    end
  end
  Process.wait2(pid).last
end

limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Float(ENV.fetch("RBPROF_STORM_SECONDS", ARGV[0]))
ends = Hash.new(0)
lock = Mutex.new
spinner = Thread.new { spin(0.01) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit }
3.times.map do
  Thread.new do
    while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
      status = fork_one
      lock.synchronize { ends[status.to_s.sub(/pid \d+ /, "")] += 1 }
    end
  end
end.each(&:join)
spinner.join
storm_flush
after = storm_mode == "plain" ? 1 : sampled
puts "children: #{ends}, samples of the parent afterwards: #{after}"
exit(ends.keys == ["exit 0"] && after > 0)
