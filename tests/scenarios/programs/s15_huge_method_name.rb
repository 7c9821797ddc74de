# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s15 very long method and class names                   engines: CRuby, mruby
# EXPECT:
#   * a 50 000-character method name: output valid, name kept or cut at a fixed limit on a character
#     boundary; no buffer overrun (run under ASan), sample kept
#   * the same for a 5 000-character class name in the allocation label
#   * file size grows by the name once (string table), not once a sample: pprof < 400 kB unpacked
big = "m" + "y" * 50_000
klass = "K" + "z" * 5_000
src = "def #{big}(n)\n  i = 0\n  while i < n\n    i += 1\n  end\n  i\nend\nclass #{klass}; end\n"
def run_big(name, n); __send__(name, n); end
begin
  eval(src)
  ok = true
rescue ScriptError, StandardError
  ok = false
end
if ok
  40.times { run_big(big.to_sym, 300_000) }
  k = Object.const_get(klass.to_sym)
  3000.times { k.new }
end
puts "GROUND defined=#{ok} method_len=#{big.size} class_len=#{klass.size}"
