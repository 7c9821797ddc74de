# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# escape.rb SECONDS: moves variables of methods to the heap as often as it can, from every kind of place whose
# environment has something before it that a walk could take for a next one; and lets fibers and threads end.
module Escape
  module_function

  def match = (/a/ =~ "a"; [1].each { proc {} })
  def match_deep = (/a/ =~ "a"; [1].each { [2].each { [3].each { lambda {} } } })
  def match_binding = (/a/ =~ "a"; 1.times { binding })
  def take(&b) = b
  def match_parameter = (/a/ =~ "a"; 1.times { take {} })
  def evaluated = eval("[1].each { proc {} }")
  def instance = Object.new.instance_eval { [1].each { proc {} } }
  def class_body = Class.new { [1].each { proc {} } }
  def fiber = Fiber.new { 1 }.resume
  def fiber_twice = Fiber.new { Fiber.yield; 1 }.tap { |f| f.resume; f.resume }
  def raises = ([1].each { raise "x" } rescue nil)
  def thread = Thread.new { 1 }.join
  def thread_raises = (Thread.new { Thread.current.report_on_exception = false; raise "x" }.join rescue nil)

  def enumerator
    e = [1, 2].each
    3.times { e.next }
  rescue StopIteration
    nil
  end

  def top_level = 300.times { eval("[1].each { proc {} }; /a/ =~ 'a'; 1.times { binding }", TOPLEVEL_BINDING.dup) }
end

ONCE = %i[top_level].freeze
FEW = %i[thread thread_raises].freeze
ways = Escape.singleton_methods - %i[take]
limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Float(ENV.fetch("RBPROF_STORM_SECONDS", ARGV[0]))
rounds = 0
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
  way = ways[rounds % ways.size]
  (ONCE.include?(way) ? 1 : FEW.include?(way) ? 20 : 500).times { Escape.send(way) }
  rounds += 1
end
puts "#{rounds} rounds"
