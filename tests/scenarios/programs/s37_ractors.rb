# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s37 Ractors: work beside the main one                                  engines: CRuby (>= 3.0)
# EXPECT:
#   * no crash; main ractor's `main_spin` cpu == GROUND main_cpu_s (+-10 %)
#   * frames of other ractors are either profiled or left out, but their time is never given to main
#   * GC/allocation data after a ractor has started: either complete (main's 20 000 strings, +-15 %) or the
#     profile carries a visible note that VM events may be missing (Ruby 3.x); never silently 0
$VERBOSE = nil
def cpu; Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID); end
def main_spin; x = 0; 3_000_000.times { |i| x ^= i }; x; end
def main_alloc; s = nil; 20_000.times { |i| s = i.to_s }; s; end
if defined?(Ractor)
  rs = Array.new(2) { Ractor.new { x = 0; 2_000_000.times { |i| x ^= i; i.to_s if i % 50 == 0 }; x } }
  a = cpu
  main_spin
  puts "GROUND main_cpu_s=#{cpu - a}"
  main_alloc
  GC.start
  rs.each { |r| r.respond_to?(:value) ? r.value : r.take }
  main_alloc
  puts "GROUND main_strings=40000 ractors=2"
else
  puts "GROUND ractors=none"
end
