# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s07 mutual recursion ping/pong/pang                  engines: CRuby, mruby
# EXPECT:
#   * stacks alternate ping -> pong -> pang -> ping ...; no two equal neighbours among the three
#   * inclusive cpu of each of ping, pong, pang <= total (never above 100 %)
#   * self cpu of ping : pong : pang == 1 : 2 : 3 (+-15 %)
def ping(d, n)
  m = n
  i = 0
  while i < m
    i += 1
  end
  d == 0 ? 0 : pong(d - 1, n)
end
def pong(d, n)
  m = 2 * n
  i = 0
  while i < m
    i += 1
  end
  d == 0 ? 0 : pang(d - 1, n)
end
def pang(d, n)
  m = 3 * n
  i = 0
  while i < m
    i += 1
  end
  d == 0 ? 0 : ping(d - 1, n)
end
60.times { ping(59, 20_000) }
puts "GROUND self_ratio=1:2:3"
