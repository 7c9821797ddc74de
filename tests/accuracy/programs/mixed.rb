# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# Thirteen operations in random order, in C and in Ruby, of 0.5 to 15 ms each. Truth: the thread's cpu clock around
# each of them, less what the collector used of it.
require "json"
require_relative "../lib/accuracy"

def cpu = Process.clock_gettime(Accuracy::THREAD_CPU)

srand 7
NUMBERS = Array.new(60_000) { rand(1 << 30) }.freeze
TEXT = ("lorem ipsum dolor sit amet consectetur " * 3000).freeze
BYTES = NUMBERS.pack("L*").freeze
OBJECTS = Array.new(2000) { |i| { "id" => i, "name" => "n#{i}" * 3, "v" => [i, i * 2.5, nil, true] } }.freeze
JSON_TEXT = JSON.generate(OBJECTS).freeze
DUMP = Marshal.dump(OBJECTS).freeze

class Weight
  include Comparable
  attr_reader :grams

  def initialize(grams) = @grams = grams
  def <=>(other) = @grams <=> other.grams
end
WEIGHTS = Array.new(1500) { Weight.new(rand(100_000)) }.freeze

def op_sort = NUMBERS.dup.sort!
def op_sort_by = NUMBERS.first(15_000).sort_by { |x| (x ^ 0x5555) & 0xffff }
def op_gsub = TEXT.gsub(/o/) { |m| m.upcase }
def op_scan = TEXT.scan(/[aeiou]\w+/)
def op_pow = 12_345**9000
def op_generate = JSON.generate(OBJECTS)
def op_parse = JSON.parse(JSON_TEXT)
def op_dump = Marshal.dump(OBJECTS)
def op_load = Marshal.load(DUMP)
def op_unpack = BYTES.unpack("L*")
def op_compare = [WEIGHTS.max, WEIGHTS.sort]

def op_ruby
  i = sum = 0
  while i < 60_000
    sum += i & 3
    i += 1
  end
end

def op_short
  i = 0
  while i < 4000
    "abc".upcase
    [3, 1, 2].sort
    i += 1
  end
end

OPERATIONS = private_methods.grep(/\Aop_/).sort.freeze
OPERATIONS.each { |o| 2.times { send(o) } }
GC.start

Accuracy.judge(seconds: 5) do |w|
  w.open
  until w.over?
    o = OPERATIONS.sample
    collected = GC.total_time
    c = cpu
    send(o)
    used = cpu - c
    collected = (GC.total_time - collected) / 1e9
    w.truth[o] += used - collected
    w.truth[:collector] += collected
  end
  w.close
  collector = w.collector.sum(&:cpu) / 1e9
  all = w.own.sum(&:cpu) / 1e9 + collector
  OPERATIONS.each { |o| w.share o, w.truth[o] / w.cpu, w.cpu_in(o.to_s) / all }
  w.share "collector", w.truth[:collector] / w.cpu, collector / all
  # An operation is counted wrong by less than a tick at either end: T * sqrt(N / 6) for N of them, one sigma, when every
  # tick T of 1 ms is seen. That is 6 ms for 200 of them, 0.12 points of 5 s; 0.7 points if only one in 6 ticks is. The
  # mean over all is steadier. No operation has a share over 25 %, so even ticks that know nothing of operations,
  # 2000 of them, would be right to one point.
  w.within "mean error of an inclusive share", w.mean_error, 0.5
  w.within "largest error of an inclusive share", w.max_error, 1.5
end
