# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s42 embedding: Ruby called again and again by a C++ host (no outer Ruby frame)   engines: CRuby, mruby
# Host calls `host_tick(k)` 300 times (rb_funcall / mrb_funcall), `host_fiber_step` 50 times and `host_fail` 20 times.
# Run as a plain script it drives itself.
# EXPECT:
#   * stacks start at `host_tick` (or a "<host>" root), never empty, never with frames of a former call
#   * time the host spends outside Ruby between calls is not given to `host_tick`
#   * `host_fail` raises out to the host; after it the call stack seen by the sampler is back at depth 0
#   * an exception inside a fiber resumed by the host (`host_fiber_fail`) leaves the VM usable and samples right
def inner_spin(n)
  i = 0
  while i < n
    i += 1
  end
  i
end
def host_tick(k); inner_spin(30_000 + k % 3); end
$fib = nil
def host_fiber_step
  $fib ||= Fiber.new { while true; inner_spin(20_000); Fiber.yield; end }
  $fib.resume
end
def host_fail; inner_spin(5_000); raise "host-visible"; end
def host_fiber_fail
  f = Fiber.new { inner_spin(5_000); raise "in fiber" }
  f.resume
end
300.times { |k| host_tick(k) }
50.times { host_fiber_step }
bad = 0
20.times do
  begin
    host_fail
  rescue RuntimeError
    bad += 1
  end
  begin
    host_fiber_fail
  rescue RuntimeError
    bad += 1
  end
end
host_tick(0)
puts "GROUND ticks=301 fiber_steps=50 failures=#{bad}"
