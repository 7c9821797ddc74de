# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s21 compaction while sampling and while objects are tracked     engines: CRuby (>= 2.7)
# EXPECT:
#   * no crash with GC.compact, GC.auto_compact, GC.verify_compaction_references under cpu + alloc + heap
#   * heap-live count for class Kept == 3000 at checkpoint "after_compact" (scaled, +-10 %),
#     i.e. moved objects stay tracked, dead ones (Dropped) go to about 0
#   * no sample is taken while objects are in the middle of moving; time shows as GC, not as user code
class Kept; def initialize(i); @i = i; @s = "k#{i}"; end; end
class Dropped; def initialize(i); @i = i; end; end
def checkpoint(name); rbprof_checkpoint(name); rescue NoMethodError; nil; end
def work(n); x = 0; n.times { |i| x ^= i }; x; end
kept = []
30_000.times { |i| i % 10 == 0 ? kept << Kept.new(i) : Dropped.new(i) }
begin
  GC.auto_compact = true if GC.respond_to?(:auto_compact=)
rescue NotImplementedError
  puts "GROUND auto_compact=unsupported"
end
done = 0
12.times do
  work(60_000)
  junk = Array.new(8000) { |i| Object.new }
  junk.select!.with_index { |_, i| i.odd? }
  begin
    GC.compact
    done += 1
  rescue NotImplementedError, NoMethodError
    GC.start
  end
end
checkpoint("after_compact")
begin
  GC.auto_compact = false if GC.respond_to?(:auto_compact=)
rescue NotImplementedError
  nil
end
puts "GROUND real_live=#{[Kept, Dropped].map { |c| ObjectSpace.each_object(c).count }.inspect}"
puts "GROUND compactions=#{done} kept=#{kept.size} dropped_alive=0"
