# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
require "json"
require "open3"

# A profile as the format owner's reader (tests/tools/pprof_facts.go) sees it: rows of (stack, labels, values).
# `where`, `of_thread` and `select` give the same thing with fewer rows, so every sum is one chain:
#
#   profile.thread("spinner").cum_cpu("spin_until")
class Profile
  NANO = 1e9
  Frame = Struct.new(:name, :file, :line, :start) do
    # "block in Object#m", "Object#m" and "Mod::Cls.m" are all the method m; the first is a block as well.
    def method_name = name.sub(/\A(block (\(\d+ levels\) )?in |rescue in |ensure in )+/, "")[/([^#.]+)\z/, 1] || name
    def block? = name.start_with?("block ")
    def is?(wanted) = name == wanted || (!block? && method_name == wanted)
    def native? = file == "<cfunc>"
  end
  Row = Struct.new(:frames, :labels, :values) do
    def label(key) = labels[key]&.first
    def cpu = values.fetch("cpu-time", 0) / NANO
    def wall = values.fetch("wall-time", 0) / NANO
    def samples = values.fetch("cpu-samples", 0)
    def leaf = frames.first
    def holds?(name) = frames.any? { |f| f.is?(name) }
  end

  OWN_IDS = %w[GC 0].freeze # of the collector and of the profiler's own work
  attr_reader :rows, :facts

  def self.read(reader, path)
    out, err, status = Open3.capture3(reader, "-stacks", path)
    raise "#{path} is no valid profile: #{err.strip}" unless status.success?
    new(JSON.parse(out))
  end

  def initialize(facts, rows = nil)
    @facts = facts
    @rows = rows || begin
      frames = facts["frames"].map { |f| Frame.new(*f) }
      facts["stacks"].map { |s| Row.new(s["frames"].map { |i| frames[i] }, s["labels"], s["values"]) }
    end
  end

  def select(&) = Profile.new(facts, rows.select(&))
  def where(key, value) = select { |r| r.labels.fetch(key, []).include?(value) }
  # Rows of threads alone: neither the collector's nor the profiler's own.
  def threads = select { |r| !OWN_IDS.include?(r.label("thread id")) }
  # A thread's own rows, by its name; `account` adds what collector and profiler used on it.
  def thread(name) = threads.where("thread name", name)
  def account(id)
    select { |r| [r.label("thread id"), r.label("gc thread id"), r.label("overhead thread id")].include?(id) }
  end
  def collector = where("thread id", "GC")
  def overhead = where("thread id", "0")
  def holding(name) = select { |r| r.holds?(name) }
  def ending_in(*names) = select { |r| names.any? { |n| r.leaf&.is?(n) } }

  def cpu = rows.sum(&:cpu)
  def wall = rows.sum(&:wall)
  def samples = rows.sum(&:samples)
  def flat_cpu(*names) = ending_in(*names).cpu
  def cum_cpu(name) = holding(name).cpu
  def flat_wall(*names) = ending_in(*names).wall

  def labels_of(key) = rows.filter_map { |r| r.label(key) }.uniq
  def id_of(name) = thread(name).labels_of("thread id").first
  def frames = rows.flat_map(&:frames).uniq
  def frames_of(name) = frames.select { |f| f.is?(name) }
  def comments = facts["comments"] || []
  def duration = facts["duration_nanos"] / NANO
  def period = facts.dig("period", "value") / NANO
  def captures_in_handler? = comments.none? { |c| c.start_with?("async_capture: off") }
  def sees_other_stacks? = comments.none? { |c| c.start_with?("other_stacks: off") }
end
