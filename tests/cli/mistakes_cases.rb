# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

test "an unknown option is refused" do
  refused("--frobnicate", "program.rb", naming: "--frobnicate")
  refused("-x", "program.rb", naming: "-x")
end

test "without a script it is refused" do
  refused
  refused("--interval", "1ms")
  refused("--")
end

test "an option at the end that needs a value is refused" do
  %w[--out --interval --trigger --overhead --max-frames --top].each { |o| refused(o, naming: o) }
end

test "a flag with a value is refused" do
  refused("--stats=yes", "program.rb", naming: "--stats")
  refused("--no-gc=1", "program.rb", naming: "--no-gc")
end

test "a bad interval is refused" do
  ["", "0", "0ms", "-1ms", "abc", "1x", "5us", "2s", "1e99s", "nan", "inf"].each do |v|
    refused("--interval", v, "program.rb", naming: "--interval")
  end
end

test "a bad overhead target is refused" do
  ["", "0", "0%", "-2%", "21%", "100", "2x", "two", "nan", "inf"].each { |v| refused("--overhead", v, "program.rb", naming: "--overhead") }
end

test "a bad trigger is refused" do
  ["", "timer", "SIGNAL"].each { |v| refused("--trigger", v, "program.rb", naming: "--trigger") }
  refused("--trigger", "postponed_job", "program.rb", naming: "3.3") if RUBY_VERSION < "3.3"
end

test "a bad number of frames is refused" do
  ["", "0", "4", "3001", "-5", "4e2", "ten"].each { |v| refused("--max-frames", v, "program.rb", naming: "--max-frames") }
end

test "a bad number of functions is refused" do
  ["", "-1", "1.5", "ten"].each { |v| refused("--top", v, "program.rb", naming: "--top") }
end

test "a file that can't be written is refused" do
  refused("--out", "/no/such/directory/p.pb.gz", "program.rb", naming: "/no/such/directory")
  Dir.mkdir(path("d.pb.d"))
  refused("--out", "d.pb.d", "program.rb")
  Dir.rmdir(path("d.pb.d"))
  refused("--out", "", "program.rb", naming: "--out")
  refused("--out", "p.unknown", "program.rb", naming: "p.unknown")
  refused("--out", "p.pb.gz", "--out", "/no/such/directory/p.html", "program.rb", naming: "/no/such/directory")
end

test "a script that is not there, or is a directory, is refused" do
  refused("no_such_script.rb", naming: "no_such_script.rb")
  refused(dir, naming: dir)
end

test "help is no mistake" do
  ended = host("--help")
  same "how it ends", ended.how, "status 0"
  check "usage on standard output", ended.out.start_with?("usage: rbprof-cruby") && ended.err.empty?, ended
  %w[--out --interval --trigger --overhead --no-gc --max-frames --top --stats].each { |o| check "it names #{o}", ended.out.include?(o) }
end
