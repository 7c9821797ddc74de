# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# The command line of rbprof-cruby: a program under it can't tell, and a mistake costs one line.
#
#   ruby cli_test.rb --host build/rbprof-cruby --reader build/pprof_facts [part of a name...]
require "open3"
require "optparse"
require "rbconfig"
require "tmpdir"
require_relative "../scenarios/lib/profile"

class CommandLine
  TESTS = {}
  Ended = Struct.new(:out, :err, :status) do
    def how = status.signaled? ? "signal #{status.termsig}" : "status #{status.exitstatus}"
    def to_s = "#{how}\n      out: #{out[0, 400].inspect}\n      err: #{err[0, 800].inspect}"
  end
  Failed = Class.new(StandardError)

  def self.test(name, &body) = TESTS[name] = body

  def initialize(host, reader, dir)
    @host = host
    @reader = reader
    @dir = dir
  end

  attr_reader :dir, :reader

  def check(text, held, shown = nil)
    raise Failed, shown.nil? ? text : "#{text}\n      #{shown}" unless held
  end

  def same(text, actual, expected)
    check(text, actual == expected, "got #{actual.inspect}, want #{expected.inspect}")
  end

  def script(text, name = "program.rb")
    File.write(File.join(dir, name), text)
    name
  end

  def path(name) = File.join(dir, name)
  def written?(name) = File.exist?(path(name))
  def profile(name = "p.pb.gz") = Profile.read(reader, path(name))

  def host(*args, **how) = run([@host, *args.map(&:to_s)], **how)
  def ruby(*args, **how) = run([RbConfig.ruby, *args.map(&:to_s)], **how)
  # Under the profiler, with a profile p.pb.gz.
  def profiled(name, *args, **how) = host("--out", "p.pb.gz", name, *args, **how)

  # `signal` is sent when the program has printed "ready" and gone to sleep.
  def run(command, stdin: "", signal: nil, env: {})
    Open3.popen3(env, *command, chdir: dir) do |i, o, e, waiter|
      i.write(stdin)
      i.close
      err = Thread.new { e.read }
      out = +""
      if signal
        out << o.gets.to_s
        sleep 0.2 # so that it stands where it waits, and not in the middle of printing
        Process.kill(signal, waiter.pid)
      end
      rest = Thread.new { o.read }
      unless waiter.join(30)
        Process.kill(:KILL, waiter.pid)
        raise Failed, "#{command.join(' ')} did not end within 30 s"
      end
      Ended.new(out + rest.value, err.value, waiter.value)
    end
  rescue Errno::EPIPE
    raise Failed, "#{command.join(' ')} did not read its input"
  end

  # The same words, the same end, with and without the profiler.
  def as_ruby_does(text, *args, name: "program.rb", **how)
    script(text, name)
    plain = ruby("--", name, *args, **how)
    ours = host("--out", "p.pb.gz", "--", name, *args, **how)
    same("how it ends", ours.how, plain.how)
    same("standard output", ours.out, plain.out)
    same("standard error", ours.err, plain.err)
    ours
  end

  # One line, status 2, and neither Ruby nor a profile.
  def refused(*args, naming: nil)
    script(%(File.write("ran", "")))
    ended = host(*args)
    same("how #{args.inspect} ends", ended.how, "status 2")
    lines = ended.err.lines
    check("one line on standard error", lines.size == 1 && lines[0].start_with?("rbprof-cruby: "), ended)
    check("the line names #{naming}", lines[0].include?(naming), ended) if naming
    same("standard output", ended.out, "")
    check("the program did not run", !written?("ran"))
    check("no profile is left", Dir[path("*.pb*")].none? { |f| File.file?(f) })
  end
end

def test(name, &body) = CommandLine.test(name, &body)

Dir[File.join(__dir__, "*_cases.rb")].sort.each { |f| require f }

if $PROGRAM_NAME == __FILE__
  where = {}
  OptionParser.new do |o|
    o.on("--host FILE") { |v| where[:host] = File.expand_path(v) }
    o.on("--reader FILE") { |v| where[:reader] = File.expand_path(v) }
  end.parse!
  abort "cli_test.rb: --host and --reader are needed" unless where.size == 2
  chosen = CommandLine::TESTS.select { |n, _| ARGV.empty? || ARGV.any? { |part| n.include?(part) } }
  failures = chosen.count do |name, body|
    Dir.mktmpdir("rbprof-cli") do |dir|
      CommandLine.new(where[:host], where[:reader], dir).instance_eval(&body)
      puts "ok   #{name}"
      false
    rescue StandardError => e
      puts "FAIL #{name}\n    #{e.is_a?(CommandLine::Failed) ? e.message : e.full_message(highlight: false)}"
      true
    end
  end
  puts "#{chosen.size - failures} of #{chosen.size} held"
  exit(failures.zero? && !chosen.empty?)
end
