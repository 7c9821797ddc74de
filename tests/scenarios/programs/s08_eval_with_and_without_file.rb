# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s08 eval code with a file, without, and with odd paths   engines: CRuby
# EXPECT frames (name, file, line):
#   * ev_plain     file "(eval)" or "(eval at FILE:LINE)"  (3.3+), line 1..12
#   * ev_named     file "virtual/thing.rb", line between 700 and 712
#   * ev_missing   file "/no/such/dir/x.erb": kept as it is, the profiler never opens it
#   * ev_empty     file "" : sample kept, file shown as "" or "(unknown)"
#   * ev_negline   given line -5: written as a valid pprof line (no huge uint64, no crash)
#   * ev_utf8      file "pfad/\u00e4\u00f6\u00fc.rb" is kept as valid UTF-8
#   * each of the six holds 1/6 of the cpu-time (inclusive: Integer#^ is a native leaf), +-6 points
#   * after `GC.start` (code objects freed) a late serialization still shows right names
BODY = "\n  x = 0\n  i = 0\n  while i < 600_000\n    x ^= i\n    i += 1\n  end\n  x\nend\n"
def mk(name, *where)
  Object.class_eval("def #{name}" + BODY, *where)
end
mk("ev_plain")
mk("ev_named", "virtual/thing.rb", 700)
mk("ev_missing", "/no/such/dir/x.erb", 1)
mk("ev_empty", "", 1)
mk("ev_negline", "neg.rb", -5)
mk("ev_utf8", "pfad/\u00e4\u00f6\u00fc.rb", 3)
10.times { %i[ev_plain ev_named ev_missing ev_empty ev_negline ev_utf8].each { |m| send(m) } }
# throw-away code objects, collected before the profile is written
50.times { |k| eval("def gone_#{k}; 20_000.times { }; end; gone_#{k}; Object.send(:remove_method, :gone_#{k})") }
GC.start
puts "GROUND share_each=1/6"
puts "GROUND gone_methods=50"
