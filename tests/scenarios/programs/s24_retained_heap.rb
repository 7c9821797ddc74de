# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s24 retained objects with known live counts                      engines: CRuby, mruby
# EXPECT (heap-live, scaled) at the named checkpoints:
#   "fresh"    Node 20000 allocated, none has survived a GC: live Node is 0 or at most 20000
#   "settled"  after 2 full GCs: Node == 2000 (+-10 %), Leaf == 2000, Temp == 0 (+-20 objects scaled)
#   "released" after dropping all and 2 full GCs: Node + Leaf <= 5 % of the "settled" value
#   * retained Node/Leaf lie under `grow`; age (gc generations) at "settled" >= 2
#   * live count never exceeds allocated count
class Node; def initialize(l); @l = l; end; end
class Leaf; end
class Temp; end
def checkpoint(name); rbprof_checkpoint(name); rescue NoMethodError; nil; end
def grow(n, keep)
  n.times do |i|
    node = Node.new(Leaf.new)
    keep << node if i % 10 == 0
    Temp.new
  end
end
def in_own_frame; yield; end
keep = []
in_own_frame { grow(20_000, keep) }
checkpoint("fresh")
2.times { GC.start }
200.times { |i| "scrub#{i}" }
checkpoint("settled")
puts "GROUND settled_node=#{keep.size} settled_leaf=#{keep.size} settled_temp=0"
REAL = Object.const_defined?(:RUBY_ENGINE) && RUBY_ENGINE == "ruby"
puts "GROUND real_settled=#{[Node, Leaf, Temp].map { |c| ObjectSpace.each_object(c).count }.inspect}" if REAL
keep.clear
keep = nil
in_own_frame { grow(10, []) }
2.times { GC.start }
checkpoint("released")
puts "GROUND real_released=#{[Node, Leaf, Temp].map { |c| ObjectSpace.each_object(c).count }.inspect}" if REAL
puts "GROUND released_node=0"
