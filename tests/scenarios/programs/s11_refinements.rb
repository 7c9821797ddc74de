# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s11 refined methods                                   engines: CRuby
# EXPECT:
#   * `slow_sum` shows with a stable label (Array#slow_sum or refinement form), same in every sample
#   * the refinement module name is not reported as "#<Class:0x...>" with an address
#   * time through `super` from a refined method to the refined class is seen under `to_s`
module SumRef
  refine Array do
    def slow_sum
      s = 0
      i = 0
      while i < 2_000_000
        s += i
        i += 1
      end
      s
    end
  end
  refine Integer do
    def to_s(*a)
      i = 0
      i += 1 while i < 200_000
      super
    end
  end
end
using SumRef
15.times { [1].slow_sum }
60.times { |k| k.to_s }
puts "GROUND frames=slow_sum,to_s"
