# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# New objects and live ones. `made` and `alive` are sums of weights.

class Profile
  def made(type = "alloc-samples") = rows.sum { |r| r.values.fetch(type, 0) }
  def alive = made("heap-live-samples")
  def of_class(name) = where("allocation class", name)
  def classes = rows.select { |r| r.values.fetch("alloc-samples", 0).positive? }.filter_map { |r| r.label("allocation class") }.uniq
end

EACH = %w[--alloc-every 1].freeze
LIVE = (EACH + %w[--heap --checkpoints]).freeze

class Judge
  # The profile that the program had written at a checkpoint.
  def at(name) = Profile.read(bench.reader, run.files.first.sub(".pb.gz", ".#{name}.pb.gz"))
end

scenario "s22", options: %w[--alloc-every 10], varying: %w[total_allocated], ordinary: false do
  foo, bar, baz = %w[Foo Bar Baz].map { |c| profile.of_class(c).made }
  near "Foo : Bar", foo.fdiv(bar), 3, percent: 10
  near "Foo", foo, 30_000, percent: 10
  near "Baz", baz, 1000, percent: 35
  near "all objects = total_allocated_objects", profile.made, ground[:total_allocated], percent: 1
  exactly "Foo outside of make_foo", profile.of_class("Foo").select { |r| !r.holds?("make_foo") }.made, 0
  exactly "Bar outside of make_bar", profile.of_class("Bar").select { |r| !r.holds?("make_bar") }.made, 0
  near "samples taken : objects", profile.made("alloc-samples-unscaled").fdiv(profile.made), 0.1, percent: 10
end

scenario "s22_each", program: "s22_alloc_known_counts", options: EACH, varying: %w[total_allocated], ordinary: false do
  exactly "Foo, Bar, Baz", %w[Foo Bar Baz].map { |c| profile.of_class(c).made }, [30_000, 10_000, 1000]
  exactly "Foo under make_foo", profile.of_class("Foo").holding("make_foo").made, 30_000
  exactly "nothing is skipped", profile.ending_in("Skipped Samples").made, 0
  own = profile.of_class("(rbprof)").made + profile.made("alloc-samples-unscaled")
  exactly "samples taken and what the sampler made are all", own, profile.made
end

scenario "s23", options: %w[--alloc] do
  near "all objects", profile.made, ground[:burst], percent: 5
  at_most "Needle", profile.of_class("Needle").made, 200_000
  at_most "the heaviest of a stack a sample taken",
          profile.rows.filter_map { |r| (n = r.values["alloc-samples-unscaled"]) && n.positive? && r.values["alloc-samples"].fdiv(n) }.max, 10_000
  at_most "samples taken", profile.made("alloc-samples-unscaled"), ground[:burst] / 2
  not_covered "overhead of the burst", "how many nanoseconds a hook takes is a benchmark's"
end

# A profile of checkpoints has the ticks of its last period; and a run of 25 ms hardly any.
scenario "s24", options: LIVE, varying: %w[real_settled real_released], ordinary: false do
  exactly "Node, Leaf, Temp", %w[Node Leaf Temp].map { |c| profile.of_class(c).made }, [20_010, 20_010, 20_010]
  exactly "Node under grow", profile.of_class("Node").holding("grow").made, 20_010
  fresh, settled, released = %w[fresh settled released].map { |n| at(n) }
  exactly "Node at the first checkpoint, and at the last", [fresh, released].map { |c| c.of_class("Node").made }, [20_000, 20_010]
  at_most "live Node while fresh", fresh.of_class("Node").alive, 20_000
  near "live Node", settled.of_class("Node").alive, 2000, percent: 1
  near "live Leaf", settled.of_class("Leaf").alive, 2000, percent: 1
  at_most "live Temp", settled.of_class("Temp").alive, 20
  exactly "live Node and Leaf outside of grow", %w[Node Leaf].sum { |c| settled.of_class(c).select { |r| !r.holds?("grow") }.alive }, 0
  ages = settled.of_class("Node").rows.select { |r| r.values.fetch("heap-live-samples", 0).positive? }.map { |r| r.label("gc gen age").to_i }
  at_least "youngest live Node, in collections", ages.min, 2
  at_most "live Node and Leaf after the release", %w[Node Leaf].sum { |c| released.of_class(c).alive }, 40
  sure "bytes of a live Node", (40..160).cover?(settled.of_class("Node").made("heap-live-size") / settled.of_class("Node").alive)
end

scenario "s24_tenth", program: "s24_retained_heap", options: LIVE + %w[--heap-every 10], varying: %w[real_settled real_released],
                      ordinary: false do
  near "live Node and Leaf, from a tenth of them", %w[Node Leaf].sum { |c| at("settled").of_class(c).alive }, 4000, percent: 20
  at_most "after the release", %w[Node Leaf].sum { |c| at("released").of_class(c).alive }, 80
end

# Putting so many live objects into a picture takes longer than the 2 ms that stop() may be without ticks.
scenario "s25", options: EACH + %w[--heap], varying: %w[append plus interpolation], ordinary: false do
  { append_in_place: :append, plus_concat: :plus, interpolation: :interpolation }.each do |method, key|
    near "objects under #{method}", profile.holding(method.to_s).made, ground[key], percent: 1
  end
  all = profile.threads.of_class("String")
  at_most "Strings that append_in_place made itself, for its literals", all.holding("append_in_place").made, 30_010
  at_most "Strings of 2 MB", all.ending_in("*").made, 3
  at_most "Strings of the three that live on",
          %w[append_in_place plus_concat interpolation].sum { |m| all.holding(m).alive }, 20
end

scenario "s21", options: LIVE, varying: %w[real_live], ordinary: false do
  exactly "Kept, Dropped", %w[Kept Dropped].map { |c| profile.of_class(c).made }, [3000, 27_000]
  exactly "Objects that are junk", profile.of_class("Object").holding("initialize").made, 12 * 8000
  sure "the collector has its time", profile.collector.cpu.positive?
  exactly "live Kept after twelve compactions", at("after_compact").of_class("Kept").alive, 3000
  at_most "live Dropped", at("after_compact").of_class("Dropped").alive, 20
end
