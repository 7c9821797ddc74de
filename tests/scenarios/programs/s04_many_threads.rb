# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s04 64 parked threads and 4 workers                  engines: CRuby
# EXPECT:
#   * 69 distinct "thread id" labels (64 + 4 + main); one id never carries two names
#   * names idle-0..idle-63 and work-0..work-3 are all there
#   * each idle thread: cpu <= 1 % of its wall; wall of each idle thread ~ GROUND parked_s of it +-10 %
#   * the 4 workers together hold >= 90 % of the cpu-time; each worker's share 25 % +-8 points
#   * profiler's own cpu (reported overhead / helper threads) <= 5 % of process cpu
q = Queue.new
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC); end
parked = Array.new(64) # a thread's life begins when it first gets the VM lock, which may be late
idle = Array.new(64) { |i| Thread.new { b = now; Thread.current.name = "idle-#{i}"; q.pop; parked[i] = now - b } }
t0 = now
work = Array.new(4) do |i|
  Thread.new do
    Thread.current.name = "work-#{i}"
    x = 0
    6_000_000.times { |k| x ^= k }
    x
  end
end
work.each(&:join)
t1 = now
64.times { q << 1 }
idle.each(&:join)
puts "GROUND wall_s=#{t1 - t0}"
puts "GROUND threads=69 parked_s=#{parked.map { |s| s.round(4) }.inspect}"
