# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s01 cpu split known in advance (self time)          engines: CRuby, mruby
# EXPECT (single thread, cpu-time):
#   * self cpu of frame `busy_a` is 3x self cpu of `busy_b`, +-10 %
#   * busy_a + busy_b >= 90 % of the cpu-time of the thread
#   * inclusive cpu of `round` == busy_a + busy_b, +-5 %
#   * sum of cpu-time over all samples of the thread == GROUND cpu_s, +-5 %
def busy_a(n)
  x = 0
  i = 0
  while i < n
    x = (x + i) & 0xffff
    i += 1
  end
  x
end

def busy_b(n)
  x = 0
  i = 0
  while i < n
    x = (x + i) & 0xffff
    i += 1
  end
  x
end

def round(unit)
  busy_a(3 * unit)
  busy_b(unit)
end

UNIT = 100_000
ROUNDS = 120
has_clock = Object.const_defined?(:Process)
t0 = has_clock ? Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) : Time.now.to_f
ROUNDS.times { round(UNIT) }
t1 = has_clock ? Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) : Time.now.to_f
puts "GROUND cpu_s=#{t1 - t0}"
puts "GROUND ratio_a_to_b=3"
