# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# Lines. First straight Ruby code, three long lines in a loop, with no safe point but the loop's end; truth: each line
# timed alone. Then a C call on a line between cheap ones: nearly all time is that line's.
require_relative "../lib/accuracy"

def cpu = Process.clock_gettime(Accuracy::THREAD_CPU)

TERMS = { 4 => 1500, 5 => 750, 6 => 300 }.freeze # line => length
ROUNDS = 60

def define(name, lines)
  body = (4..6).map { |l| lines.include?(l) ? "y = x#{' + x - x' * TERMS[l]}" : "" }
  eval("def #{name}(x)\n  i = y = 0\n  while (i += 1) <= #{ROUNDS}\n#{body.join("\n")}\n  end\n  y\nend", nil, "straight.rb", 1)
end
define(:straight, TERMS.keys)
TERMS.each_key { |l| define(:"only_#{l}", [l]) }

def alone
  TERMS.keys.to_h do |l|
    c = cpu
    send(:"only_#{l}", 3)
    [l, cpu - c]
  end
end

NUMBERS = Array.new(60_000) { rand(1 << 30) }.freeze
def one_call(i)
  a = NUMBERS.dup
  x = 1
  a.sort!
  y = x + i
  y + x
end
SORT_LINE = __LINE__ - 4

3.times { [straight(3), alone, one_call(1)] }

Accuracy.judge(seconds: 3) do |w|
  times = Array.new(40) { alone }
  w.open
  until w.over?
    20.times { straight(3) }
    one_call(2)
  end
  w.close

  whole = times.sum { |t| t.values.sum }
  seen = w.cpu_by_line("straight")
  errors = TERMS.keys.map do |l|
    truth = times.sum { |t| t[l] } / whole
    w.share "line #{l} of straight Ruby code", truth, seen[l] / seen.values.sum
    100 * (seen[l] / seen.values.sum - truth).abs
  end
  # 700 samples: 1.9 points of sampling noise (one sigma) at a share of 60 %; the truth itself is good to a point.
  if Accuracy::HANDLER then w.within "straight Ruby code: largest error of a line", errors.max, 7
  else w.measured "straight Ruby code: largest error of a line", errors.max
  end

  lines = w.cpu_by_line("one_call")
  w.at_least "lone C call: share of its method's cpu that is on its line", 100 * lines[SORT_LINE] / lines.values.sum, 97
  w.at_least "lone C call: share of its line that names it", 100 * w.leaf_cpu("one_call", "sort!") / lines[SORT_LINE], 99
end
