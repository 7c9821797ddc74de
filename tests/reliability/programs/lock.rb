# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# Nobody queues for the VM lock on our behalf. Ruby takes the lock from a thread that runs only when another waits for
# it, so a lone thread gives it up never; beside another one it does so ten times a second.
def switches = File.read("/proc/thread-self/status")[/^voluntary_ctxt_switches:\s*(\d+)/, 1].to_i

def spin(seconds)
  limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
end

# How often this thread gave up its processor, and how often a thread queued for the lock.
def watched
  switched = -switches
  queued = -storm_ready.to_i # last, and first below: reading a file is a place where a thread queues
  spin(3)
  queued += storm_ready.to_i
  switched += switches
  [switched, storm_ready && queued]
end

storm_ready # from here on they are counted
spin(0.2)
alone = watched
other = Thread.new { spin(3.3) }
beside = watched
other.join
puts "alone: #{alone[0]} switches, #{alone[1].inspect} queued; beside another: #{beside[0]}, #{beside[1].inspect}"
exit(alone[0] * 3 < beside[0] && (alone[1].nil? || (alone[1].zero? && beside[1] > 0)))
