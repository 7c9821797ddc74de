# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s41 threads renamed while running, object ids reused, thread locals      engines: CRuby
# EXPECT:
#   * one thread renamed 3 times gives 3 names under ONE thread id; cpu per name 0.1 s each (+-25 %)
#   * 3000 dead threads: per-thread state goes away (bounded), ids of new threads never inherit old clocks:
#     no sample with cpu > 0.3 s
#   * unnamed threads get file:line of their block, or a fixed placeholder; main gets "main"
def tcpu; Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID); end
def burn(s); c = tcpu; nil while tcpu - c < s; end
Thread.new { %w[phase-1 phase-2 phase-3].each { |n| Thread.current.name = n; burn(0.1) } }.join
3000.times { Thread.new { Thread.current[:x] = 1 }.join }
Thread.new { burn(0.1) }.join
Thread.new(&method(:burn).to_proc.curry[0.1]) rescue nil
sleep 0.15
puts "GROUND renamed=3 dead=3000 unnamed_cpu_s=0.1"
