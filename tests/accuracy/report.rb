# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# The tables of docs/accuracy.md for one Ruby: runs every program in every mode, once, and prints what was measured.
#
#   ruby report.rb --host build/accuracy/tests/accuracy/accuracy-host [--seconds 20]
require "open3"
require "optparse"

host = nil
seconds = 20
OptionParser.new do |o|
  o.on("--host FILE", "accuracy-host of that Ruby") { |v| host = File.expand_path(v) }
  o.on("--seconds N", Integer, "of each window") { |v| seconds = v }
end.parse!
abort "report.rb: --host is needed" unless host

# One run: its FIGURE lines {name => [truth, profiled]}, its other figures {name => value}, nil when it was skipped.
Measured = Struct.new(:figures, :values, :about)

def measure(host, seconds, mode, interval, program)
  env = { "RBPROF_ACCURACY_SECONDS" => seconds.to_s, "RBPROF_ACCURACY_TRIES" => "1" }
  out, err, status = Open3.capture3(env, host, mode, interval, File.join(__dir__, "programs", "#{program}.rb"))
  return nil if status.exitstatus == 77
  abort "report.rb: #{mode} #{program}: #{out}#{err}" unless [0, 1].include?(status.exitstatus)
  figures = out.scan(/^FIGURE (.+) (\S+) (\S+)$/).to_h { |n, t, p| [n, [t, p]] }
  warn out[/^NOTE .*/] if out.include?("NOTE")
  values = out.scan(/^(?:HELD|MISSED|MEASURED) (.+?) (-?[\d.]+)(?: [<>]= \S+)?$/).to_h
  Measured.new(figures, values, out[/^TRY 1 \S+ .*/])
end

ruby = nil
results = {}
MODES = %w[postponed_job signal handler unsound_handler].freeze
RUNS = [%w[mixed 1ms], %w[mixed 10ms], %w[wall 1ms], %w[wall 10ms], %w[blocks 1ms], %w[lines 1ms]].freeze
MODES.each do |mode|
  next if mode == "unsound_handler" && results.key?("handler")
  RUNS.each do |program, interval|
    warn "#{mode} #{program} #{interval}"
    measured = measure(host, seconds, mode, interval, program) or next
    ruby ||= measured.about[/ruby ([\d.]+)/, 1]
    (results[mode] ||= {})[[program, interval]] = measured
  end
end

def row(name, results) = puts("| #{name} | #{results.map { |r| yield(r) || '–' }.join(' | ')} |")
def head(first, results)
  puts "| #{first} | #{results.keys.map { |m| "`#{m}`" }.join(' | ')} |", "|---|#{'---|' * results.size}"
end
def pair(measured, name) = measured&.figures&.[](name)&.join(" → ")

all = results.values
puts "### Ruby #{ruby}", ""
puts "#{seconds} s each. The first row's windows: " +
     results.map { |m, r| "`#{m}` #{r[%w[mixed 1ms]].about[/cpu .*/]}" }.join("; ") + ". A signal's way to a busy core: " +
     "#{all.map { |r| r[%w[blocks 1ms]].values["a signal's way to a busy core, us (median)"].to_i }.min} us.", ""
head "error in points, mean / largest", results
{ "1ms" => "1 kHz", "10ms" => "100 Hz" }.each do |interval, rate|
  row("cpu, inclusive shares, #{rate}", all) do |r|
    v = r[["mixed", interval]].values
    "#{v['mean error of an inclusive share']} / #{v['largest error of an inclusive share']}"
  end
  row("wall, inclusive shares, #{rate}", all) do |r|
    figures = r[["wall", interval]]&.figures&.values&.map { |t, p| (t.to_f - p.to_f).abs }
    figures && format("%.2f / %.2f", figures.sum / figures.size, figures.max)
  end
end
puts
[["truth → profile, %, cpu at 1 kHz", "mixed", "1ms"], ["truth → profile, %, wall at 100 Hz", "wall", "10ms"],
 ["truth → profile, %, self time", "blocks", "1ms"], ["truth → profile, %, lines", "lines", "1ms"]].each do |title, *key|
  names = all.filter_map { |r| r[key]&.figures&.keys }.first or next
  head title, results
  names.each { |n| row(n.start_with?("op_") ? "`#{n}`" : n, all) { |r| pair(r[key], n) } }
  if key.first == "lines"
    row("lone C call: share on its line", all) { |r| r[key].values["lone C call: share of its method's cpu that is on its line"] }
  end
  puts
end
