# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s12 singleton methods: class, module, object, nested    engines: CRuby, mruby
# EXPECT labels (with class names turned on):
#   * Svc.boot / Svc::Inner.go (joined with "."), Helper.assist for a MODULE singleton (not
#     "#<Module:0x...>"), object singleton shown as "#<Object>#solo" or "Object#solo" without address
#   * included module method: `mixin_spin` shown with Mixin or User, never empty
#   * no label holds a hex address "0x" (they would never aggregate between runs)
#   * five equal shares of the cpu-time: 20 % each, +-6 points
class Svc
  def self.boot(n)
    i = 0
    while i < n
      i += 1
    end
  end
  class Inner
    class << self
      def go(n)
        i = 0
        while i < n
          i += 1
        end
      end
    end
  end
end
module Helper
  def self.assist(n)
    i = 0
    while i < n
      i += 1
    end
  end
end
module Mixin
  def mixin_spin(n)
    i = 0
    while i < n
      i += 1
    end
  end
end
class User; include Mixin; end
solo = Object.new
def solo.solo(n)
  i = 0
  while i < n
    i += 1
  end
end
u = User.new
100.times do
  Svc.boot(120_000)
  Svc::Inner.go(120_000)
  Helper.assist(120_000)
  u.mixin_spin(120_000)
  solo.solo(120_000)
end
puts "GROUND share_each=1/5"
