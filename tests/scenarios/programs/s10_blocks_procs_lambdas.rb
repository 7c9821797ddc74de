# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s10 nested blocks, procs, lambdas, symbol procs        engines: CRuby, mruby
# EXPECT:
#   * block frames are told apart from their method: "block in outer_blocks" (and levels), not
#     merged into `outer_blocks` with a wrong line
#   * lambda body `LAM` and proc body `PRC` show file and the line of their own body
#   * 1/3 of the cpu each under outer_blocks, run_lambda, run_proc (+-8 points)
#   * native frames `each`/`times`/`map` lie between method and block, attributed to a
#     native/"<C>" place and not to a wrong Ruby file
def outer_blocks(n)
  [1, 2].each do |a|
    3.times do |b|
      i = 0
      while i < n
        i += a
        i += 1 - a
      end
    end
  end
end
LAM = lambda do |n|
  m = n * 6
  i = 0
  while i < m
    i += 2
    i += 1 - 2
  end
  i
end
PRC = proc do |n|
  m = n * 6
  i = 0
  while i < m
    i += 2
    i += 1 - 2
  end
  i
end
def run_lambda(n); LAM.call(n); end
def run_proc(n); PRC.call(n); end
60.times do
  outer_blocks(50_000)
  run_lambda(50_000)
  run_proc(50_000)
  [1, 2, 3].map(&:to_s)
end
puts "GROUND share_each=1/3"
