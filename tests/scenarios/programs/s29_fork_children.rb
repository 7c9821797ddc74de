# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s29 fork: block form, plain form, exit!, nested, fork from a thread    engines: CRuby
# EXPECT:
#   * every child ends with its own status (GROUND ok == 12) within 5 s: no hang at exit, no SIGPROF death (signal 27)
#   * a child that does not restart the profiler produces no profile file and burns no extra cpu
#   * a child that restarts it has ONLY child samples: frame `parent_only` never shows in a child's profile,
#     and the first child sample has cpu/wall deltas < 1 s (no time from before the fork)
#   * the parent's profile goes on and never holds frame `child_only`
#   * fork with 300 MB resident still succeeds while sampling at 10 ms (fork not restarted for ever)
def parent_only(n); x = 0; n.times { |i| x ^= i }; x; end
def child_only(n); x = 0; n.times { |i| x ^= i }; x; end
$stdout.sync = true
pids = []
parent_only(1_000_000)
4.times { |k| pids << [fork { child_only(400_000); exit(k) }, k] }
4.times do |k|
  pid = fork
  if pid.nil?
    child_only(200_000)
    exit!(10 + k)
  end
  pids << [pid, 10 + k]
end
2.times { pids << [fork { g = fork { child_only(100_000); exit(0) }; Process.wait(g); exit($?.success? ? 21 : 99) }, 21] }
t = Thread.new { [fork { Thread.new { child_only(100_000) }.join; exit(31) }, 31] }
pids << t.value
blob = Array.new(300) { "x" * 1_000_000 }
pids << [fork { exit(41) }, 41]
ok = 0
pids.each do |pid, want|
  Process.wait(pid)
  st = $?
  ok += 1 if st.exited? && st.exitstatus == want
  puts "GROUND bad_child want=#{want} status=#{st.inspect}" unless st.exited? && st.exitstatus == want
end
parent_only(1_000_000)
puts "GROUND ok=#{ok} of=#{pids.size} blob=#{blob.size}"
raise "child failed" unless ok == pids.size
