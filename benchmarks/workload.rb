# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# What profilers are compared on: method calls at small and great depth, blocks, strings, hashes, garbage. The same
# work every time. Prints the cpu time of the process and the wall time that it took, start and end of Ruby excluded.
#
#   workload.rb [ROUNDS]

module Workload
  module_function

  def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)

  def deep(n, &work) = n.zero? ? work.call : deep(n - 1, &work)

  def words(count)
    state = 42
    Array.new(count) do
      state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff
      "word#{state % 997}"
    end
  end

  def tally(list)
    counts = Hash.new(0)
    list.each { |w| counts[w] += 1 }
    counts.sort_by { |w, n| [-n, w] }.first(10).map { |w, n| "#{w}=#{n}" }.join(",")
  end

  def tree(depth) = depth.zero? ? [] : [tree(depth - 1), tree(depth - 1)]

  def leaves(node) = node.empty? ? 1 : node.sum { |n| leaves(n) }

  def round
    fib(21)
    deep(100) { tally(words(4000)) }
    deep(30) { leaves(tree(11)) }
  end
end

rounds = (ARGV[0] || 200).to_i
2.times { Workload.round }
clocks = [Process::CLOCK_PROCESS_CPUTIME_ID, Process::CLOCK_MONOTONIC]
began = clocks.map { |c| Process.clock_gettime(c) }
rounds.times { Workload.round }
ended = clocks.map { |c| Process.clock_gettime(c) }
puts format("cpu %.6f wall %.6f", ended[0] - began[0], ended[1] - began[1])
