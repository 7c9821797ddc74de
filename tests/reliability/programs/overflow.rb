# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# overflow.rb SECONDS: the native stack, and Ruby's own, overflow on the main thread, on others and on fibers. A signal
# that comes at that moment must neither end the program nor stay blocked.
class Nested
  def initialize(n) = @n = n
  def <=>(_) = [Nested.new(@n + 1), Nested.new(@n + 2)].max && 0
end

module Overflow
  module_function

  def ruby(n) = ruby(n + 1)
  def blocks(n) = [1].each { [n].map { |x| blocks(x + 1) } }
  def compares(n) = [Nested.new(n), Nested.new(n)].max
  def sorts(n) = [n].sort_by { |x| sorts(x + 1) }
  def folds(n) = [n, n].inject { |_, x| [x, x].min_by { |y| folds(y + 1) } }
end

SIGPROF_BIT = Signal.list.fetch("PROF") - 1
def blocked? = File.read("/proc/thread-self/status")[/^SigBlk:\s*(\h+)/, 1].hex[SIGPROF_BIT] == 1

$seen = Hash.new(0)
def overflow(way)
  Overflow.send(way, 0)
rescue SystemStackError
  $seen[:overflows] += 1
ensure
  $seen[:blocked] += 1 if blocked?
end

limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Float(ENV.fetch("RBPROF_STORM_SECONDS", ARGV[0]))
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
  Overflow.singleton_methods.each do |way|
    overflow(way)
    Thread.new { overflow(way) }.join
    Fiber.new { overflow(way) }.resume
  end
end
puts "#{$seen[:overflows]} overflows, signal blocked after #{$seen[:blocked]}"
exit($seen[:overflows] > 0 && $seen[:blocked].zero?)
