# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s25 string building: << against + against interpolation            engines: CRuby, mruby
# EXPECT:
#   * objects made under each of the three: what Ruby counts there (GROUND append, plus, interpolation), +-1 %;
#     a literal in a loop is an object each time, so append_in_place has its literals, and none for `<<`
#   * heap-live after the run: no String held by these frames (+-20)
#   * strings > 1 MB are counted once and do not stretch sampling time
def append_in_place(n)
  s = ""
  s = s.dup
  n.times { s << "ab" }
  s.size
end
def plus_concat(n)
  s = ""
  n.times { |i| s = s + "a"; s = "" if i % 200 == 0 }
  s.size
end
def interpolation(n)
  t = 0
  n.times { |i| t += "#{i}:x".size }
  t
end
MADE = GC.respond_to?(:stat) ? lambda { GC.stat(:total_allocated_objects) } : lambda { 0 }
r = []
made = [MADE.call]
r << append_in_place(30_000)
made << MADE.call
r << plus_concat(30_000)
made << MADE.call
r << interpolation(30_000)
made << MADE.call
big = "z" * 2_000_000
3.times { big = big + "y" }
3.times { GC.start } # what nobody holds is freed
puts "GROUND append=#{made[1] - made[0]} plus=#{made[2] - made[1]} interpolation=#{made[3] - made[2]}"
puts "GROUND sizes=#{r.inspect} big=#{big.size}"
