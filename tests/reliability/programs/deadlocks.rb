# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# deadlocks.rb STORM MODE: programs that Ruby ends because nobody could ever wake them end in the same way, with the
# same words and status, under the profiler. Runs each without it and with it.
require "open3"

WORK = "t = Process.clock_gettime(1) + 0.3; [1].each { |x| x.to_s } while Process.clock_gettime(1) < t; "
PROGRAMS = {
  "join" => "Thread.new { Queue.new.pop }.join",
  "stop" => "Thread.new { Thread.stop }.join",
  "mutexes" => "a, b, q = Mutex.new, Mutex.new, Queue.new; b.lock; t = Thread.new { a.lock; q << 1; b.lock }; " \
               "q.pop; Thread.pass until t.stop?; a.lock",
  "condition" => "m = Mutex.new; m.synchronize { ConditionVariable.new.wait(m) }",
  "busy before" => "q = Queue.new; 3.times { Thread.new { 20_000.times { |i| i.to_s }; q.pop } }; q.pop",
}.freeze

def ending(mode, code)
  _, error, status = Open3.capture3(ARGV[0], mode, "1000", "-e", WORK + code)
  said = error.lines.grep_v(/^storm:/).map { |l| l.gsub(/0x\h+|(?<=current:|thread:)\h+|int:\d+/, "") }
  [status.to_s.sub(/pid \d+ /, ""), said]
end

exit!(77) if system(ARGV[0], ARGV[1], "1000", "-e", "0", err: File::NULL).nil? || $?.exitstatus == 77

same = PROGRAMS.map do |name, code|
  plain = ending("plain", code)
  abort "#{name}: no deadlock: #{plain}" unless plain.last.join.include?("No live threads left. Deadlock?")
  under = ending(ARGV[1], code)
  puts "#{name}: #{plain == under ? 'the same' : "\n#{plain}\n#{under}"}"
  plain == under
end
exit(same.all?)
