# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s30 exec / system / backtick / spawn under a hot sampler             engines: CRuby
# EXPECT:
#   * all GROUND runs end with status 0: no child killed by signal 27 ("Profiling timer expired")
#   * children start with default SIGPROF action, empty signal mask and no armed timer of ours
#     (checked by /proc/self/status of the child: SigBlk has bit 26 clear)
#   * waiting time shows as wall under `system`/backtick/wait, cpu ~ 0
#   * `exec` from the profiled process itself: new image ends 0 (60 times, forked first)
RUNS = 60
bad = []
RUNS.times do |k|
  bad << [:system, k, $?.inspect] unless system("true")
end
RUNS.times do |k|
  out = `echo #{k}`
  bad << [:backtick, k, $?.inspect] unless $?.success? && out == "#{k}\n"
end
RUNS.times do |k|
  pid = spawn("true")
  Process.wait(pid)
  bad << [:spawn, k, $?.inspect] unless $?.success?
end
RUNS.times do |k|
  pid = fork { x = 0; 20_000.times { |i| x ^= i }; exec("true") }
  Process.wait(pid)
  bad << [:exec, k, $?.inspect] unless $?.success?
end
blk = `grep SigBlk /proc/self/status`[/[0-9a-f]{8,}/].to_i(16)
bad << [:sigblk, blk] if blk & (1 << 26) != 0
puts "GROUND runs=#{4 * RUNS} bad=#{bad.size}"
bad.first(5).each { |b| puts "GROUND bad_item=#{b.inspect}" }
raise "child died" unless bad.empty?
