# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s02 one shared leaf, two callers 4:1                 engines: CRuby, mruby
# EXPECT:
#   * `leaf` holds >= 85 % of the self cpu-time
#   * the part of `leaf` reached through `caller_big` is 4x the part reached through
#     `caller_small`, +-12 %
#   * NO sample may hold both caller_big and caller_small in one stack
#   * `leaf` never appears directly under <main>
def leaf(n)
  x = 1
  i = 0
  while i < n
    x = (x * 3 + i) & 0xffffff
    i += 1
  end
  x
end

def caller_big(n)
  leaf(n)
  leaf(n)
  leaf(n)
  leaf(n)
end

def caller_small(n)
  leaf(n)
end

600.times do
  caller_big(15_000)
  caller_small(15_000)
end
puts "GROUND ratio_big_to_small=4"
