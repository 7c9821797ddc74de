# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s28 lock contention against GVL contention                          engines: CRuby
# EXPECT:
#   * group "lock-*": 4 threads around one Mutex held 20 ms at a time with sleep inside -> wall ~ GROUND lock_wall_s each,
#     cpu <= 5 %, waiting frames `synchronize`/`lock` carry about 3/4 of the wall
#   * group "gvl-*": 4 cpu-bound threads -> cpu each ~ 1/4 of the group's wall (+-8 points), i.e. wall > cpu;
#     the difference is NOT reported as cpu
#   * sum of cpu over all threads <= number of cores x wall, for CRuby about 1 x wall
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC); end
def tcpu; Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID); end
mx = Mutex.new
t0 = now
Array.new(4) { |i| Thread.new { Thread.current.name = "lock-#{i}"; 8.times { mx.synchronize { sleep 0.02 } } } }.each(&:join)
puts "GROUND lock_wall_s=#{now - t0}"
t0 = now
c = Array.new(4) do |i|
  Thread.new { Thread.current.name = "gvl-#{i}"; x = 0; 5_000_000.times { |k| x ^= k }; tcpu }
end.map(&:value)
puts "GROUND gvl_wall_s=#{now - t0} gvl_cpu_each_s=#{c.map { |v| v.round(3) }.inspect}"
