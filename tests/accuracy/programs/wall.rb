# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# Waits: sleep, work in Ruby, work in C, a Queue and a Mutex that other threads serve. Truth: the wall clock around each
# operation of the main thread. Before Ruby 3.3 a thread that waits has no stack, so the test is not for it.
require_relative "../lib/accuracy"

def now = Process.clock_gettime(Accuracy::WALL)

NUMBERS = Array.new(60_000) { rand(1 << 30) }.freeze
QUEUE = Queue.new
LOCK = Mutex.new

def op_sleep = sleep(0.02)
def op_ruby
  until_then = now + 0.01
  i = 0
  i += 1 while now < until_then
end
def op_sort = NUMBERS.dup.sort!
def op_queue = QUEUE.pop
def op_mutex = LOCK.synchronize { nil }
OPERATIONS = %i[op_sleep op_ruby op_sort op_queue op_mutex].freeze

Thread.new { loop { sleep 0.015; QUEUE << 1 } }
Thread.new { loop { LOCK.synchronize { sleep 0.012 }; sleep 0.001 } }
OPERATIONS.each { |o| send(o) }

slow = Profiler::INTERVAL_NS > 1_000_000
Accuracy.judge(seconds: slow ? 10 : 4, needs: 3.3, waits: true) do |w|
  w.open
  until w.over?
    OPERATIONS.each do |o|
      t = now
      send(o)
      w.truth[o] += now - t
    end
  end
  w.close
  all = w.own.sum(&:wall) / 1e9
  OPERATIONS.each { |o| w.share o, w.truth[o] / w.elapsed, w.wall_in(o.to_s) / all }
  # Each operation is counted wrong by less than a tick at either end. 100 Hz: 150 rounds in 10 s, 4.1 ms (one sigma) each,
  # so 0.5 points; 1 kHz: 60 rounds in 4 s, less than 0.1 points, and what the machine's scheduler adds.
  w.within "largest error of a share of wall time", w.max_error, slow ? 2 : 1
end
