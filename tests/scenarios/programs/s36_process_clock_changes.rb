# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s36 app code that fakes or freezes the clocks                          engines: CRuby
# EXPECT:
#   * the profiler reads the OS clocks, not Ruby's: with Time.now and Process.clock_gettime replaced, wall/cpu
#     of `under_fake_clock` stay == GROUND real_cpu_s (+-15 %)
#   * timeline timestamps stay ascending and inside [start, stop] of the profile
#   * replaced Kernel#sleep / Thread.list / Thread#name are not called by the profiler: GROUND calls == 0
REAL = Process.method(:clock_gettime)
$calls = 0
module FakeClock
  def clock_gettime(id, unit = :float_second)
    $calls += 1 if caller_locations(1, 1)&.first&.path != __FILE__
    unit == :nanosecond ? 42 : 42.0
  end
end
Process.singleton_class.prepend(FakeClock)
class << Time
  def now; at(0); end
end
class << Thread
  alias_method :orig_list, :list
  def list; $calls += 1; []; end
end
class Thread
  alias_method :orig_name, :name
  def name; $calls += 1; "lie"; end
end
def under_fake_clock(s)
  c = REAL.call(Process::CLOCK_THREAD_CPUTIME_ID)
  nil while REAL.call(Process::CLOCK_THREAD_CPUTIME_ID) - c < s
end
Thread.new { Thread.current.name = "true-name"; under_fake_clock(0.3) }.join
under_fake_clock(0.3)
puts "GROUND real_cpu_s=0.6 calls=#{$calls}"
