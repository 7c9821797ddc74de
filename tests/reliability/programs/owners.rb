# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# owners.rb SECONDS: each thread runs a method of its own, and the host looks that no stack is on another's account.
# Threads change quickly, by waits, by being passed, and by fibers inside them.
COUNT = 8
COUNT.times do |k|
  eval <<~RUBY
    def work_#{k}(limit)
      fiber = Fiber.new { loop { Fiber.yield(spin(200)) } }
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
        spin(rand(2000))
        fiber.resume
        [3, 1, 2].sort_by { |x| spin(x) }
        case rand(4)
        when 0 then Thread.pass
        when 1 then sleep(0.0001)
        when 2 then proc { binding }.call
        end
      end
    end
  RUBY
end
def spin(n) = n.times { |i| i.to_s }

limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Float(ENV.fetch("RBPROF_STORM_SECONDS", ARGV[0]))
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
  part = [limit, Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.7].min
  threads = COUNT.times.map do |k|
    Thread.new do
      Thread.current.name = "t#{k}"
      send("work_#{k}", part)
    end
  end
  sleep 0.1
  storm_flush # which reads the names
  threads.each(&:join)
end
