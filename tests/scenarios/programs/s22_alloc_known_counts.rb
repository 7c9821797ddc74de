# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s22 allocation by class with known counts                       engines: CRuby, mruby
# EXPECT (allocation profile, scaled weights):
#   * Foo 30000, Bar 10000, Baz 1000  -> Foo:Bar == 3:1 (+-10 %), Baz within +-35 %
#   * sum of scaled counts over all classes == total allocations of the span, +-5 %
#   * sites: Foo only under `make_foo`, Bar only under `make_bar`
class Foo; end
class Bar; end
class Baz; end
def make_foo(n); n.times { Foo.new }; end
def make_bar(n); n.times { Bar.new }; end
def make_baz(n); n.times { Baz.new }; end
b = GC.respond_to?(:stat) ? GC.stat(:total_allocated_objects) : nil
100.times { make_foo(300); make_bar(100); make_baz(10) }
a = GC.respond_to?(:stat) ? GC.stat(:total_allocated_objects) : nil
puts "GROUND Foo=30000 Bar=10000 Baz=1000"
puts "GROUND total_allocated=#{a - b}" if a
