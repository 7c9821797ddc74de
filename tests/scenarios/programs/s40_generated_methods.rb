# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s40 thousands of generated method names and code objects               engines: CRuby, mruby
# EXPECT:
#   * names like _tpl_page_<hash>_<id> (and with three underscores for negative hashes) are either cut to a common
#     stem or bounded: distinct function names in one profile <= 600
#   * memory of the profiler after 6 rounds of 400 methods, each round removed again, is not growing round by
#     round: RSS(round 6) - RSS(round 2) <= 3 MB; string/location tables are dropped after each serialize
#   * cpu of all generated methods together == GROUND share 100 % of `render_all` (+-5 %)
def checkpoint(name); rbprof_checkpoint(name); rescue NoMethodError; nil; end
def rss_kb
  File.open("/proc/self/status") { |f| f.each_line { |l| return l.split(/\s+/)[1].to_i if l[0, 6] == "VmRSS:" } }
  0
rescue StandardError, NotImplementedError
  0
end
MRB = Object.const_defined?(:RUBY_ENGINE) && RUBY_ENGINE == "mruby"
def rss; MRB ? 0 : rss_kb; end
def render_all(names); names.each { |n| __send__(n) }; end
sizes = []
6.times do |r|
  names = []
  400.times do |k|
    u = k % 3 == 0 ? "___" : "__"
    n = "_tpl_page_html#{u}#{(r * 7919 + k) * 104_729}_#{k}"
    Object.class_eval("def #{n}; i = 0; while i < 5000; i += 1; end; end") unless MRB
    eval("def #{n}; i = 0; while i < 5000; i += 1; end; end") if MRB
    names << n.to_sym
  end
  3.times { render_all(names) }
  names.each { |n| Object.__send__(:remove_method, n) }
  GC.start
  checkpoint("round#{r + 1}")
  sizes << rss
end
puts "GROUND rounds=6 methods=2400 rss_kb=#{sizes.inspect}"
