# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s17 throw/catch, break, next, early return through blocks      engines: CRuby
# EXPECT:
#   * counts printed are exact (control flow untouched)
#   * after each non-local exit stacks do not keep frames that were left: no sample holds both
#     `inner_throw` and `after_catch`
#   * allocation sampling keeps working to the end: `tail_alloc` (12 000 strings) is in the profile
#     (a "sample in progress" flag left set by a non-local exit would silence it)
$n = Hash.new(0)
def inner_throw(k)
  x = 0
  20_000.times { |i| x ^= i }
  throw :out, k
end
def after_catch
  x = 0
  20_000.times { |i| x ^= i }
end
def early(ary)
  ary.each { |v| return v if v == 3 }
  nil
end
200.times do |k|
  r = catch(:out) { inner_throw(k); :never }
  $n[:caught] += 1 if r == k
  after_catch
  $n[:early] += 1 if early([1, 2, 3, 4]) == 3
  [1, 2, 3].each { |v| break if v == 2 }
  loop { $n[:broke] += 1; break }
end
def tail_alloc
  a = nil
  12_000.times { |i| a = "t#{i}" }
  a
end
tail_alloc
puts "GROUND caught=#{$n[:caught]} early=#{$n[:early]} broke=#{$n[:broke]} tail_strings=12000"
