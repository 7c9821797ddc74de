# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s06, second part: a stack of exactly ARGV[0] frames             engines: CRuby
# EXPECT:
#   * with max_frames = ARGV[0] no stack is marked as truncated; with one less, every stack of bottom_spin is
WANTED = Integer(ARGV[0])
def bottom_spin(n)
  $depth ||= caller_locations(0).size
  x = 0
  i = 0
  while i < n
    x = (x + i) & 0xffff
    i += 1
  end
  x
end
def descend(k, n)
  return bottom_spin(n) if k == 0
  descend(k - 1, n)
end
descend(WANTED - 3, 10_000_000) # with <main>, the last descend and bottom_spin
puts "GROUND depth=#{$depth}"
