# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s03 wall against cpu per thread                      engines: CRuby
# EXPECT for the profiled span (T = GROUND wall_s):
#   * thread named "sleeper": wall ~ GROUND sleeper_wall_s (+-5 %), about T, cpu <= 2 % of T, top frame `sleep`
#   * thread named "spinner": wall ~ GROUND spinner_wall_s (+-5 %), cpu ~ GROUND spinner_cpu_s (+-5 %)
#   * thread named "half": cpu between 30 % and 70 % of its wall (see GROUND half_cpu_s, +-8 %)
#   * main thread: wall ~ T, cpu <= 3 % of T (it only joins), top frame `join`
#   * for every thread: sum(cpu) <= sum(wall) * 1.02
T = 1.5
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC); end
def tcpu; Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID); end
def spin_until(t)
  x = 0
  x += 1 while now < t
  x
end
out = {}
start = now
stop = start + T
sleeper = Thread.new do
  began = now
  Thread.current.name = "sleeper"
  sleep(T)
  out[:sleeper_cpu_s] = tcpu
  out[:sleeper_wall_s] = now - began
end
spinner = Thread.new do
  began = now
  Thread.current.name = "spinner"
  spin_until(stop)
  out[:spinner_cpu_s] = tcpu
  out[:spinner_wall_s] = now - began
end
half = Thread.new do
  Thread.current.name = "half"
  while now < stop
    c = tcpu
    nil while tcpu - c < 0.010
    sleep 0.010
  end
  out[:half_cpu_s] = tcpu
end
[sleeper, spinner, half].each(&:join)
puts "GROUND wall_s=#{now - start}"
out.sort.each { |k, v| puts "GROUND #{k}=#{v}" }
