# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s06 stack deeper than max_frames                     engines: CRuby, mruby
# EXPECT:
#   * every stack has at most max_frames frames (plus at most one placeholder)
#   * truncated stacks carry the truncation mark; the LEAF side is kept, so `bottom_spin` is visible
#   * if a count of omitted frames is shown: count + shown == GROUND depth_total (+-3), never negative
#   * a stack of exactly max_frames frames is not marked as truncated (run again with depth=max_frames)
#   * inclusive share of `descend` is <= 100 % (count once a sample, not once a frame)
#   * writers (pprof, speedscope, Firefox, collapsed) do not recurse on stack depth: no crash
DEPTH = Object.const_defined?(:RUBY_ENGINE) && RUBY_ENGINE == "mruby" ? 300 : 6_000
def bottom_spin(n)
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
8.times { descend(DEPTH, 1_200_000) }
puts "GROUND depth_total=#{DEPTH + 3}"
