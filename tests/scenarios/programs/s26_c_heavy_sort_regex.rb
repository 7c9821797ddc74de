# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s26 time inside C methods                                         engines: CRuby
# EXPECT:
#   * native frames `sort`, `sort_by`, `gsub`, `match?`, `pack`, `**` are leaf frames with cpu; the Ruby method
#     that calls them (`do_sort`, `do_regex`, `do_bignum`) has self cpu <= 15 % and inclusive as GROUND
#   * no sample of `do_regex` work is attributed to `do_sort` (a postponed sample taken late, after the
#     C call returned, lands on the next line or the next method: skew <= 5 %)
#   * long C calls without interrupt checks give few samples but their whole time (weights), +-12 %
srand(7)
DATA_ARY = Array.new(150_000) { rand(1_000_000) }
TEXT = ("lorem ipsum dolor sit amet " * 4000).freeze
def cpu; Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID); end
def do_sort; DATA_ARY.sort; DATA_ARY.sort_by { |v| -v }.first; end
def do_regex; TEXT.gsub(/([aeiou])(\w)/) { $2 }; TEXT.scan(/d[a-z]+r/).size; 3.times { TEXT.match?(/[aeiou]{3}/) }; end
def do_bignum; 12.times { (3**60_000).to_s.size }; 100.times { [*1..2000].pack("N*").unpack("N*").size }; end
def gc; GC.respond_to?(:total_time) ? GC.total_time / 1e9 : 0.0; end # is taken out of the methods
t = Hash.new(0.0)
g = Hash.new(0.0)
10.times do
  %i[do_sort do_regex do_bignum].each { |m| a = cpu; c = gc; send(m); t[m] += cpu - a; g[m] += gc - c }
end
t.each { |k, v| puts "GROUND #{k}_s=#{v} #{k}_gc_s=#{g[k]}" }
