# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s20 forced major collections over a big live heap               engines: CRuby, mruby
# EXPECT:
#   * GC share of the thread's cpu >= 30 % (CRuby: == GROUND gc_s / cpu_s, +-8 points)
#   * number of GC events >= GROUND majors (every full collection flushes one)
#   * GC metadata (reason, type "major") present; GC time lies under the thread that ran it
#   * `busy_between` keeps its own cpu: GROUND busy_s +-15 %
LIVE = Array.new(120_000) { |i| "live-#{i}" }
def busy_between(n)
  i = 0
  while i < n
    i += 1
  end
end
has = Object.const_defined?(:Process)
clk = lambda { has ? Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) : Time.now.to_f }
t0 = clk.call
gc = 0.0
busy = 0.0
60.times do
  a = clk.call
  GC.start
  b = clk.call
  busy_between(60_000)
  c = clk.call
  gc += b - a
  busy += c - b
end
puts "GROUND gc_s=#{gc} busy_s=#{busy} cpu_s=#{clk.call - t0} majors=60 live=#{LIVE.size}"
