# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

WORK = SPIN + "def work = spin(0.3)\nwork\nputs 'done'\n"

test "without --out the profile is rbprof.pb.gz" do
  script(WORK)
  same "how it ends", host("program.rb").how, "status 0"
  check "it has the work", profile("rbprof.pb.gz").cum_cpu("work") > 0.2
end

test "every format is written, and each has the work" do
  script(WORK)
  names = %w[a.pb.gz a.pb a.html a.collapsed a.txt]
  ended = host(*names.flat_map { |n| ["--out", n] }, "program.rb")
  same "how it ends", [ended.how, ended.out, ended.err], ["status 0", "done\n", ""]
  names.each { |n| check "#{n} is there", written?(n) && File.size(path(n)).positive? }
  same "the program's directory has nothing else", Dir[path("*")].size, names.size + 1
  names.take(2).each { |n| check "#{n} has the work", profile(n).cum_cpu("work") > 0.2 }
  same "both pprof files say the same", *names.take(2).map { |n| profile(n).facts["totals"] }
  names.drop(2).each { |n| check "#{n} has the work", File.read(path(n)).include?("work") }
end

test "--out=FILE is --out FILE" do
  script(WORK)
  host("--out=q.pb", "program.rb")
  check "it is there", written?("q.pb")
end

test "an old profile is replaced" do
  script(WORK)
  File.write(path("p.pb.gz"), "old")
  profiled("program.rb")
  check "it is a profile", profile.cum_cpu("work").positive?
end

test "the profile is written where it was asked for, wherever the program has gone" do
  Dir.mkdir(path("away"))
  script(WORK + "Dir.chdir('away')")
  profiled("program.rb")
  check "there", written?("p.pb.gz")
  check "not where the program went", Dir[path("away/*")].empty?
end

test "a place that goes away costs one line, and not the program's status" do
  Dir.mkdir(path("gone"))
  script("Dir.rmdir('gone'); puts 'done'; exit 3")
  ended = host("--out", "gone/p.pb.gz", "--out", "q.pb.gz", "program.rb")
  same "how it ends", [ended.how, ended.out], ["status 3", "done\n"]
  check "one line", ended.err.lines.size == 1 && ended.err.start_with?("rbprof-cruby: ") && ended.err.include?("gone/p.pb.gz"), ended
  check "the other profile is written", written?("q.pb.gz")
end

test "a place where nothing can be made costs one line, and not the program's status" do
  script("puts 'done'; exit 3")
  ended = host("--out", "/proc/p.pb.gz", "program.rb")
  check "refused at once, or told of in the end", (ended.how == "status 2" && ended.out.empty?) || (ended.how == "status 3" && ended.out == "done\n"), ended
  check "one line", ended.err.lines.size == 1 && ended.err.start_with?("rbprof-cruby: ") && ended.err.include?("/proc/p.pb.gz"), ended
end

test "--top prints so many functions on standard error" do
  script(WORK)
  ended = profiled("program.rb").then { host("--out", "p.pb.gz", "--top", "3", "program.rb") }
  same "standard output", ended.out, "done\n"
  check "where the program spends its time is in it", ended.err.match?(/Process\.clock_gettime/), ended
  same "functions", ended.err.lines.grep(/%.*%.*%.*\w/).drop_while { |l| l.include?("flat%") }.size, 3
end

test "--stats prints names and values on standard error" do
  script(WORK)
  ended = host("--out", "p.pb.gz", "--stats", "program.rb")
  same "standard output", ended.out, "done\n"
  check "every line is a name and a number", ended.err.lines.all? { |l| l.match?(/\A[a-z0-9_]+ \d+\n\z/) }, ended
  stats = ended.err.lines.to_h { |l| l.split.then { |k, v| [k, v.to_i] } }
  same "ticks add up", stats.values_at("samples", "skipped", "coalesced", "missed").sum, stats["ticks"]
  check "samples were taken", stats["samples"].positive?
end

test "the interval is the profile's period" do
  script(WORK)
  { "1ms" => 0.001, "5" => 0.005, "2500us" => 0.0025, "0.02s" => 0.02 }.each do |given, wanted|
    host("--out", "p.pb.gz", "--interval", given, "program.rb")
    same "period of --interval #{given}", profile.period, wanted
  end
end

test "--max-frames limits stacks" do
  script(SPIN + "def down(n) = n.zero? ? spin(0.2) : down(n - 1)\ndown(100)")
  host("--out", "p.pb.gz", "--max-frames", "10", "program.rb")
  same "frames, and the mark", profile.facts["max_depth"], 11
end

test "--no-gc leaves the collector out" do
  script("200_000.times { |i| 'x' * 50 }; 5.times { GC.start }")
  profiled("program.rb")
  check "else it is there", profile.collector.rows.any?
  host("--out", "p.pb.gz", "--no-gc", "program.rb")
  check "it is not there", profile.collector.rows.empty?
  check "the profile says so", profile.comments.any? { |c| c.start_with?("gc: off") && c.include?("option") }, profile.comments
end

test "the profile says what the VM can do" do
  script(WORK)
  profiled("program.rb")
  on = profile.comments.find { |c| c.start_with?("capabilities:") }.to_s
  check "gc is on", on.split.include?("gc"), profile.comments
  check "thread_cpu is on", on.split.include?("thread_cpu"), profile.comments
  off = profile.comments.grep(/\A(other_stacks|lock|foreign_request|async_capture): off/)
  check "what this VM lacks says why", off.all? { |c| c.match?(/: off, ./) }, off
end

test "with a JIT compiler on, stacks are not taken in the handler, and the profile says so" do
  script(WORK)
  # --yjit alone is no proof: a Ruby that was built without warns and runs.
  next unless ruby("--yjit", "-e", "exit RubyVM::YJIT.enabled?").how == "status 0"
  ended = host("--unsound-handler-capture", "--interval", "1ms", "--out", "p.pb.gz", "program.rb", env: { "RUBYOPT" => "--yjit" })
  same "how it ends", ended.how, "status 0"
  said = profile.facts["comments"].grep(/async_capture/)
  check "the comment names the compiler", said.size == 1 && said[0].include?("JIT"), said
end
