# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s23 idle, then a burst of allocations far above the weight limit   engines: CRuby, mruby
# EXPECT:
#   * sum of scaled allocation counts == GROUND burst (+-5 %) even when one sample's weight is clamped;
#     the rest sits in an explicit "skipped" place, not nowhere
#   * the rare class Needle (10 objects in the burst) is not shown with thousands (bias by huge weight):
#     scaled Needle <= 200 000
#   * sampler adapts within 2 s: overhead of the burst <= 25 % wall against a run without allocation profiling
#   * heap-live counts are not multiplied by clamped weights
class Hay; end
class Needle; end
def idle_wait
  if respond_to?(:sleep, true)
    sleep 1.2
  else
    t = Time.now.to_f
    nil while Time.now.to_f - t < 0.5
  end
end
def burst(n)
  i = 0
  while i < n
    Hay.new
    Needle.new if i % 200_000 == 0
    i += 1
  end
end
idle_wait
burst(2_000_000)
puts "GROUND burst=2000010 Hay=2000000 Needle=10"
