# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s19 many small short-lived objects (minor GC, lazy sweep)      engines: CRuby, mruby
# EXPECT:
#   * a "Garbage Collection" place is in the profile; its cpu == GROUND gc_s +-25 % (CRuby, GC.stat time)
#   * GC cpu is NOT counted under `make_garbage` as well: sum of all cpu == process cpu +-5 %
#   * wall of the thread == real time: GC wall is not added twice to the total (see header of the writer)
#   * GC event records are coalesced: events per second <= ~100 + number of major GCs
#   * no allocation of Ruby objects by the profiler inside GC hooks (run with a GC-assert build)
def make_garbage(n)
  a = nil
  n.times { |i| a = [i, i.to_s, { i => i }] }
  a
end
stat = GC.respond_to?(:stat)
GC.start
c0 = stat ? GC.count : 0
m0 = stat && GC.respond_to?(:measure_total_time) ? GC.stat(:time) : 0
t0 = Object.const_defined?(:Process) ? Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) : Time.now.to_f
keep = []
60.times { |k| make_garbage(20_000); keep << Array.new(15_000) { |z| z.to_s }; keep.shift if keep.size > 8 }
t1 = Object.const_defined?(:Process) ? Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) : Time.now.to_f
puts "GROUND cpu_s=#{t1 - t0}"
puts "GROUND mruby=#{MRUBY_VERSION.to_f}" if Object.const_defined?(:MRUBY_VERSION)
if stat
  puts "GROUND gc_count=#{GC.count - c0}"
  puts "GROUND gc_s=#{(GC.stat(:time) - m0) / 1000.0}" if GC.respond_to?(:measure_total_time)
end
