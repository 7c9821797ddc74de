# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

SPIN = "def spin(s) = (t = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID); " \
       "nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - t < s)\n"

test "a program sees its own name and arguments" do
  as_ruby_does('p $0, ARGV, __FILE__, __FILE__ == $0, $PROGRAM_NAME, __dir__ == Dir.pwd', "a", "b c", "", "--out", "x.pb.gz", "-v")
  check "an option after the script is the program's", !written?("x.pb.gz")
  check "the profile is there", profile.comments.any?
end

test "a program reads its standard input and DATA" do
  as_ruby_does("puts $stdin.read.upcase\nputs DATA.read\n__END__\ntail\n", stdin: "a\nb\n")
end

test "a script whose name begins with '-' is no option" do
  as_ruby_does("p $0, ARGV", "-x", name: "-e.rb")
end

test "a script in another directory finds its neighbours" do
  Dir.mkdir(path("lib"))
  script("def neighbour = 7", "lib/neighbour.rb")
  as_ruby_does('require_relative "neighbour"; p neighbour, $0, __FILE__', name: "lib/main.rb")
end

[0, 1, 3, 255].each { |n| test("exit #{n} keeps its status") { as_ruby_does("exit #{n}") && check("a profile", written?("p.pb.gz")) } }

test "exit! keeps its status; it leaves no profile, as it runs nothing of what is due at the end" do
  as_ruby_does("$stdout.sync = true; puts 1; exit! 4")
  check "no half of a profile", Dir[path("*")].map { |f| File.basename(f) } == ["program.rb"], Dir[path("*")].inspect
end

test "abort keeps its words and status" do
  as_ruby_does('abort "that is it"')
  check "a profile", written?("p.pb.gz")
end

test "an exception ends a program with status 1 and its own words" do
  as_ruby_does("def f = raise(ArgumentError, \"boom\\n  second line\")\ndef g\n  f\nrescue\n  raise 'outer'\nend\ng")
  check "a profile", written?("p.pb.gz")
end

test "a syntax error is told as Ruby tells it" do
  as_ruby_does("def f(\nend end")
end

test "an exception in a thread, warnings and throw are told as Ruby tells them" do
  as_ruby_does("warn 'careful'; t = Thread.new { Thread.current.report_on_exception = false; raise 'in thread' }; t.join")
  as_ruby_does("throw :nobody")
end

test "at_exit blocks run in their order, are in the profile, and may change the status" do
  as_ruby_does(SPIN + "at_exit { spin(0.3); puts 'first in'; exit 9 }\nat_exit { puts 'last in' }\n")
  at_least = profile.cum_cpu("spin")
  check "work of an at_exit block is in the profile", at_least > 0.2, at_least
end

%w[INT TERM HUP].each do |name|
  test "SIG#{name} ends a program as it ends it under Ruby, and the profile is written" do
    as_ruby_does(SPIN + "$stdout.sync = true\nspin(0.2)\nputs 'ready'\nsleep", signal: name.to_sym).tap do |ended|
      same "the signal", ended.status.termsig, Signal.list[name]
    end
    check "the profile has the work", profile.cum_cpu("spin") > 0.1, profile.cum_cpu("spin")
  end
end

test "a program that handles a signal itself does so" do
  as_ruby_does("$stdout.sync = true\ntrap(:TERM) { puts 'caught'; exit 5 }\nputs 'ready'\nsleep", signal: :TERM)
  check "a profile", written?("p.pb.gz")
end

test "SIGKILL leaves no half of a profile" do
  as_ruby_does("$stdout.sync = true\nputs 'ready'\nsleep", signal: :KILL)
  check "nothing is left", Dir[path("*")].size == 1, Dir[path("*")].inspect
end

test "a program that replaces itself by exec ends as the new one does" do
  as_ruby_does(SPIN + 'spin(0.05); exec("sh", "-c", "echo $0 $1; exit 6", "x", "y")')
end

test "no program that exec starts is killed by a signal of the sampler" do
  script('x = 0; 20_000.times { |i| x ^= i }; exec("true")')
  ends = Array.new(60) { host("--interval", "100us", "--trigger", "signal", "program.rb").how }
  same "how they end", ends.tally, { "status 0" => 60 }
end

test "after an exec of what is not there, sampling goes on" do
  script(SPIN + 'begin; exec("/nothing/here"); rescue Errno::ENOENT => e; puts e.class; end; spin(0.2)')
  ended = host("--interval", "1ms", "--trigger", "signal", "--out", "p.pb.gz", "program.rb")
  same "standard output", ended.out, "Errno::ENOENT\n"
  check "the work afterwards is in the profile", profile.threads.cpu > 0.1, profile.threads.cpu
end

test "a forked child neither writes nor spoils the profile" do
  as_ruby_does("pid = fork { at_exit { puts 'child' }; exit 3 }; Process.wait(pid); p $?.exitstatus")
  same "profiles", Dir[path("*.pb.gz")].size, 1
  check "a valid one", profile.duration.positive?
end

test "threads still running at the end don't hold it up" do
  as_ruby_does(SPIN + "Thread.new { loop { spin(0.01) } }; Thread.new { sleep }; spin(0.1); puts 'end'")
end

test "a deadlock is told as Ruby tells it" do
  script("Thread.new { Thread.stop }; Queue.new.pop")
  plain = ruby("program.rb")
  ours = profiled("program.rb")
  same "how it ends", ours.how, plain.how
  check "the word", ours.err.include?("No live threads left. Deadlock?"), ours
end
