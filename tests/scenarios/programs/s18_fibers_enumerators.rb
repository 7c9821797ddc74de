# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s18 fibers and external enumerators                     engines: CRuby, mruby
# EXPECT:
#   * fiber A burns twice as much as fiber B: cpu under `fiber_a_work` : `fiber_b_work` == 2 : 1 (+-12 %)
#   * stacks never mix fibers: no sample has both fiber_a_work and fiber_b_work
#   * cpu-time of the THREAD is counted once: sum over samples == process cpu +-5 %
#   * a generator drained by external `next` shows `gen_work`; 500 short fibers leave no growth
#   * fibers still suspended at the end do not crash a late sample or shutdown
def fiber_a_work(n)
  i = 0
  while i < n
    i += 1
  end
end
def fiber_b_work(n)
  i = 0
  while i < n
    i += 1
  end
end
def gen_work(n)
  i = 0
  while i < n
    i += 1
  end
end
fa = Fiber.new { 500.times { fiber_a_work(120_000); Fiber.yield }; :a_done }
fb = Fiber.new { 500.times { fiber_b_work(60_000); Fiber.yield }; :b_done }
500.times { fa.resume; fb.resume }
e = Enumerator.new { |y| 40.times { |k| gen_work(60_000); y << k } }
got = 0
begin
  while true
    e.next
    got += 1
  end
rescue StopIteration
  nil
end
500.times { f = Fiber.new { Fiber.yield 1; 2 }; f.resume; f.resume }
$left = Array.new(20) { f = Fiber.new { Fiber.yield }; f.resume; f }
puts "GROUND ratio_a_to_b=2 drained=#{got} suspended=20"
