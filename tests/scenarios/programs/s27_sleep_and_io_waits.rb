# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s27 waits: sleep, pipe read, IO.select, Queue, ConditionVariable, join   engines: CRuby
# EXPECT:
#   * wall: six wait frames of about 0.25 s each on their threads (+-15 %), cpu of each <= 10 ms
#   * state labels (if given): sleeping / waiting / blocked; never "had cpu"
#   * the app sees no early wake-up: GROUND early == 0, every read returns the whole payload
#   * the app sees no Errno::EINTR
require "socket"
def now; Process.clock_gettime(Process::CLOCK_MONOTONIC); end
W = 0.25
$early = 0
$eintr = 0
def timed
  t = now
  yield
  d = now - t
  $early += 1 if d < W * 0.97
  d
rescue Errno::EINTR
  $eintr += 1
end
q = Queue.new
m = Mutex.new
cv = ConditionVariable.new
r, w = IO.pipe
r2, _w2 = IO.pipe
s1, s2 = UNIXSocket.pair
ths = {
  "wait-sleep" => -> { timed { sleep W } },
  "wait-pipe" => -> { timed { raise "short" unless r.read(70_000).bytesize == 70_000 } },
  "wait-select" => -> { timed { IO.select([r2], nil, nil, W) } },
  "wait-queue" => -> { timed { q.pop } },
  "wait-cv" => -> { m.synchronize { t = now; cv.wait(m, W) while now - t < W } },
  "wait-sock" => -> { timed { s1.readpartial(10) } },
}.map { |n, f| Thread.new { Thread.current.name = n; f.call } }
t0 = now
sleep W
w.write("x" * 70_000)
q << 1
s2.write("hello")
ths.each(&:join)
puts "GROUND wall_s=#{now - t0} early=#{$early} eintr=#{$eintr}"
raise "wait cut short" if $early > 0 || $eintr > 0
