# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s32 work at process end: at_exit blocks, finalizers, running threads   engines: CRuby
# EXPECT (host leaves the profiler RUNNING when the VM goes down):
#   * exit status 0, no crash, no hang > 5 s
#   * with stop in a host at-exit that runs after the script: `exit_work` is in the profile (GROUND exit_cpu_s +-20 %)
#   * finalizer code runs; a sample during finalizers must not touch freed objects
#   * a thread still running at exit (killed by the VM) does not leave the sampler on its dead context
def cpu; Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID); end
def exit_work(s); c = cpu; nil while cpu - c < s; end
class Fin; def self.cb; proc { |_id| x = 0; 300.times { |i| x ^= i } }; end; end
$held = Array.new(2000) { o = Object.new; ObjectSpace.define_finalizer(o, Fin.cb); o }
1000.times { o = Object.new; ObjectSpace.define_finalizer(o, Fin.cb) }
GC.start
Thread.new { loop { x = 0; 1000.times { |i| x ^= i } } }
Thread.new { sleep }
at_exit { exit_work(0.2); puts "GROUND exit_cpu_s=0.2" }
at_exit { 5000.times { |i| i.to_s } }
x = 0
500_000.times { |i| x ^= i }
