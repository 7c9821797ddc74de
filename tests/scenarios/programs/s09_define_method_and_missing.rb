# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s09 define_method, method_missing, alias, send        engines: CRuby, mruby
# EXPECT:
#   * frame for `dyn_spin` (define_method): shown with the method's name or "block in ..." of its
#     definition site, line inside the block body; never an empty name
#   * work called by an unknown name runs under frame `method_missing` -> `ghost_work`
#   * an aliased method (`alias_spin`, original `orig_spin`): one of the two names, always the same
#   * cpu shares dyn : ghost : alias == 1 : 1 : 1 (+-10 points)
class Odd
  define_method(:dyn_spin) do |n|
    i = 0
    while i < n
      i += 1
    end
    i
  end
  def method_missing(name, *args)
    return super unless name.to_s[0, 6] == "ghost_"
    ghost_work(args[0])
  end
  def respond_to_missing?(name, priv = false)
    name.to_s[0, 6] == "ghost_" || super
  end
  def ghost_work(n)
    i = 0
    while i < n
      i += 1
    end
    i
  end
  def orig_spin(n)
    i = 0
    while i < n
      i += 1
    end
    i
  end
  alias_method :alias_spin, :orig_spin
end
o = Odd.new
100.times do |k|
  o.dyn_spin(180_000)
  o.__send__("ghost_#{k % 7}".to_sym, 180_000)
  o.alias_spin(180_000)
end
puts "GROUND share_each=1/3"
