# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# Every Timeout arrives, also while jobs run wherever Ruby looks whether one is due.
require "timeout"

arrived = 100.times.count do
  limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 2
  begin
    Timeout.timeout(0.004) { nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit }
    false
  rescue Timeout::Error
    true
  end
end
puts "#{arrived} of 100 arrived"
exit(arrived == 100)
