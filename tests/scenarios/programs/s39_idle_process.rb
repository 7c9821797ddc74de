# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s39 a process that does nothing for 2 s                                 engines: CRuby
# EXPECT:
#   * wall of main and of thread "parked" ~ 2 s each (+-5 %), cpu <= 20 ms for the WHOLE process incl. profiler
#   * samples are still taken (>= 20 for main) or their wall is put into one sample; none is lost
#   * when work starts again (`wake_burst`) the first samples come within 50 ms, none with cpu > wall
#   * stop during the idle phase returns within 200 ms
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC); end
Thread.new { Thread.current.name = "parked"; sleep }
sleep 0.01
c0 = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
t = now
sleep 2
puts "GROUND idle_s=#{now - t} process_cpu_s=#{Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - c0}"
def wake_burst; x = 0; 1_500_000.times { |i| x ^= i }; x; end
wake_burst
