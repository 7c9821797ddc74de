# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s38 object finalizers race with the sampling job (one shared VM queue before 3.3)   engines: CRuby
# EXPECT:
#   * no crash over GROUND rounds with the shortest interval the profiler allows; run it 20 times
#   * all finalizers run: GROUND ran == GROUND defined after the last full GC (within 50: conservative stack)
#   * sampling goes on to the end (`closing_spin` sampled)
$ran = 0
CB = proc { |_i| $ran += 1 }
made = 0
def spin(n); x = 0; n.times { |i| x ^= i }; x; end
def closing_spin; spin(2_000_000); end
def mk(n); n.times { ObjectSpace.define_finalizer(Object.new, CB) }; end
60.times do
  mk(400)
  made += 400
  spin(40_000)
  GC.start if made % 4000 == 0
end
mk(1)
made += 1
4.times { GC.start; spin(10_000) }
closing_spin
puts "GROUND rounds=60 defined=#{made} ran=#{$ran}"
