# -*- coding: utf-8 -*-
# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s14 UTF-8, Latin-1, binary and broken encodings in names    engines: CRuby
# EXPECT:
#   * all outputs parse: JSON strictly UTF-8, pprof strings valid UTF-8, collapsed lines "stack<space>N"
#   * method `zähle_日本` keeps its name byte for byte
#   * thread names: "ok-ümlaut" kept; the Latin-1 / invalid-byte / UTF-16 / empty / very long ones
#     are replaced or escaped, the samples are NOT lost, sampling does not stop
#   * a method name with Latin-1 bytes is kept in replaced form, its samples are there
#   * each named thread contributes GROUND cpu_each_s of cpu, +-20 %
def tcpu; Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID); end
def zähle_日本(s)
  c = tcpu
  nil while tcpu - c < s
end
define_method_name = "größe_berechnen"
Object.send(:define_method, define_method_name) { |s| zähle_日本(s) }
NAMES = [
  "ok-ümlaut",
  "latin1-\xE4".dup.force_encoding("ISO-8859-1"),
  "invalid-\xFF\xFE".dup.force_encoding("UTF-8"),
  "binary-\xC3\x28".b,
  "",
  "long-" + "x" * 5000,
]
kept = 0
ths = NAMES.map do |n|
  Thread.new do
    begin
      Thread.current.name = n
      kept += 1
    rescue ArgumentError, EncodingError
      nil
    end
    send(define_method_name, 0.06)
  end
end
begin
  Thread.new { Thread.current.report_on_exception = false; Thread.current.name = "u16".encode("UTF-16LE"); zähle_日本(0.02) }.join
rescue ArgumentError
  puts "GROUND utf16_name=refused_by_ruby"
end
# a method name that holds binary (non UTF-8) bytes
["block-lat\xE4in".b].each do |m|
  Object.send(:define_method, m.to_sym) { zähle_日本(0.05) }
  send(m.to_sym)
end
eval("# encoding: binary\ndef lat\xE4in(&b); b.call; end".b)
send("lat\xE4in".b.to_sym) { zähle_日本(0.05) }
ths.each(&:join)
puts "GROUND cpu_each_s=0.06 names_set=#{kept}"
