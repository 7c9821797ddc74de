# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# Loaded before a program, by RUBYOPT: the process tells its own clocks, from here to the end of the program's main
# part, so before its at_exit blocks and before the profiler is stopped.
if (file = ENV["RBPROF_TRUTH"])
  ENV.delete("RBPROF_TRUTH")
  ENV.delete("RUBYOPT")
  pid = Process.pid
  clocks = { process_cpu_s: Process::CLOCK_PROCESS_CPUTIME_ID, main_cpu_s: Process::CLOCK_THREAD_CPUTIME_ID }
  read = Process.method(:clock_gettime) # programs may replace it
  began = clocks.transform_values { |id| read.call(id) }
  trap(:EXIT) do
    next unless Process.pid == pid
    now = clocks.transform_values { |id| read.call(id) }
    ticker = Dir["/proc/self/task/*"].find { |t| File.read("#{t}/comm") =~ /\Arbprof-ticker/ }
    File.open(file, "w") do |f|
      clocks.each_key { |k| f.puts "#{k}=#{format('%.9f', now[k] - began[k])}" }
      f.puts "ticker_cpu_s=#{format('%.9f', File.read("#{ticker}/schedstat").to_i / 1e9)}" if ticker
    end
  rescue SystemCallError
    nil
  end
end
