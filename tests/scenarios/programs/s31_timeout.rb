# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s31 Timeout and asynchronous Thread#raise / Thread#kill              engines: CRuby
# EXPECT:
#   * GROUND counts exact: sampling neither swallows nor doubles asynchronous exceptions
#   * after an async raise that lands during an allocation the sampler is not stuck: `tail_alloc` has
#     String allocations (scaled 8000 +-20 %), cpu samples of `tail_spin` exist
#   * sampling's own state is consistent: no "already sampling" left, no missed unlock (serialize works)
require "timeout"
hit = 0
done = 0
10.times do
  begin
    Timeout.timeout(0.02) { loop { Array.new(50) { |i| i.to_s } } }
  rescue Timeout::Error
    hit += 1
  end
  done += 1 if Timeout.timeout(5) { 1 + 1 } == 2
end
killed = 0
raised = 0
6.times do
  t = Thread.new { loop { "x" * 20 } }
  sleep 0.003
  t.kill
  t.join
  killed += 1 if !t.alive?
  t = Thread.new do
    Thread.current.report_on_exception = false
    begin
      loop { Object.new }
    rescue RuntimeError
      :got
    end
  end
  sleep 0.003
  t.raise("now")
  raised += 1 if (t.value rescue nil) == :got
end
def tail_alloc; s = nil; 8000.times { |i| s = i.to_s }; s; end
def tail_spin; x = 0; 2_000_000.times { |i| x ^= i }; x; end
tail_alloc
tail_spin
puts "GROUND timeouts=#{hit} done=#{done} killed=#{killed} raised=#{raised}"
raise "changed behaviour" unless hit == 10 && done == 10 && killed == 6
