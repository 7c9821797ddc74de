# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# Runs programs with a known truth under rbprof-cruby, or rbprof-mruby, and checks that their profiles tell it.
#
#   ruby check.rb --host build/rbprof-cruby --reader build/pprof_facts [s01 s02...]
require "optparse"
require "tmpdir"
require_relative "lib/scenario"
Dir[File.join(__dir__, "facts", "*.rb")].sort.each { |f| require f }

where = {}
keep = nil
OptionParser.new do |o|
  o.on("--host FILE", "the command-line host") { |v| where[:host] = File.expand_path(v) }
  o.on("--reader FILE", "pprof_facts, built") { |v| where[:reader] = File.expand_path(v) }
  o.on("--engine NAME", %w[cruby mruby], "what the host embeds: cruby (default), mruby") { |v| where[:engine] = v }
  o.on("--keep DIR", "leave the profiles there") { |v| keep = File.expand_path(v) }
  o.on("--list", "print the names of all scenarios") { puts Scenario::ALL.keys.sort; exit }
end.parse!
abort "check.rb: --host and --reader are needed" unless where[:host] && where[:reader]
names = ARGV.empty? ? Scenario::ALL.keys.sort : ARGV
unknown = names - Scenario::ALL.keys
abort "check.rb: no scenario #{unknown.join(', ')}" unless unknown.empty?

$stdout.sync = true
Dir.mktmpdir("rbprof-scenarios") do |dir|
  bench = Bench.new(**where, dir: keep || dir)
  results = names.to_h { |n| [n, Scenario::ALL[n].check(bench)] }
  results.each { |n, held| puts "#{held ? 'held  ' : 'FAILED'} #{n}" }
  exit(results.values.all?)
end
