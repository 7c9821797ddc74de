# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# Two C methods with a block: how is time split between the method itself and its block? Truth: clocks in the block; what
# comes with a block and outside of the two clocks, about a microsecond, is measured and taken out. In gsub the pieces, about
# 0.6 ms each, are shorter than a tick, and only the block has safe points. sort_by runs all its blocks, then it sorts.
#
# The pieces are long beside the time that a signal takes from one core to another. One that is under way arrives at the
# next system call at the latest, and the clocks in the block are such: pieces of 60 us lose half of their time to the
# block on a virtual machine where signals take 30 us (docs/accuracy.md, "The machine").
require_relative "../lib/accuracy"

def cpu = Process.clock_gettime(Accuracy::THREAD_CPU)

TEXT = (("lorem ipsum dolor sit amet " * 4400 + "Q") * 4).freeze
KEYS = Array.new(300) { |i| "shared prefix " * 6000 + (i * 7919 % 300).to_s }.freeze

def work(rounds)
  i = 0
  i += 1 while i < rounds
end

def replace
  inside = 0.0
  TEXT.gsub(/[P-Z]/) do |m|
    c = cpu
    work(12_000)
    inside += cpu - c
    m
  end
  inside
end

def order
  inside = 0.0
  KEYS.sort_by do |k|
    c = cpu
    work(3000)
    inside += cpu - c
    k
  end
  inside
end

# Of one block: what its method and its clocks use outside of the span that the clocks show.
def cost_of_a_block(times = 20_000)
  inside = 0.0
  began = cpu
  times.times do
    c = cpu
    inside += cpu - c
  end
  (cpu - began - inside) / times
end

3.times { [replace, order, cost_of_a_block] }
BLOCKS = { replace: 4, order: KEYS.size }.freeze
TURNS = %i[order].concat([:replace] * 12).freeze # about as much time for both
GC.start
GC.disable # its time would be in the method or in the block, nobody knows

DELAY = Profiler.signal_delay_us

Accuracy.judge(seconds: 3) do |w|
  w.measured "a signal's way to a busy core, us (median)", DELAY
  cost = Array.new(5) { cost_of_a_block }.min
  w.open
  until w.over?
    TURNS.each do |m|
      c = cpu
      inside = send(m)
      all = cpu - c
      w.truth[m] += all
      w.truth["#{m} itself"] += all - inside - BLOCKS[m] * cost
    end
  end
  w.close
  { replace: "gsub", order: "sort_by" }.each do |m, native|
    truth = w.truth["#{m} itself"] / w.truth[m]
    seen = w.leaf_cpu(m.to_s, native) / w.cpu_in(m.to_s)
    w.share "`#{native}` itself, of it and its block", truth, seen
    # 700 samples of each: 1.9 points of sampling noise (one sigma) in the worst case, a share of one half.
    if Accuracy::HANDLER then w.within "`#{native}`: error of its self time", 100 * (seen - truth).abs, 6
    else w.measured "`#{native}`: error of its self time", 100 * (seen - truth)
    end
  end
end
