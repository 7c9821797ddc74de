# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
require "zlib"

# What things are called.

scenario "s08", fine: true do
  at = ->(m) { main.frames_of(m).map { |f| [f.file, f.line] } }
  six = main.select { |r| r.frames.any? { |f| f.name.match?(/[#.]ev_/) } }
  %w[ev_plain ev_named ev_missing ev_empty ev_negline ev_utf8].each do |m|
    points "share of #{m} among the six", six.cum_cpu(m) / six.cpu, 1 / 6r, 6
  end
  sure "no file: (eval)", at["ev_plain"].all? { |f, l| f.match?(/\A\(eval/) && l.between?(1, 12) }, at["ev_plain"]
  sure "a file and a line given", at["ev_named"].all? { |f, l| f == "virtual/thing.rb" && l.between?(700, 712) }, at["ev_named"]
  sure "a file that is not there", at["ev_missing"].all? { |f, _| f == "/no/such/dir/x.erb" }, at["ev_missing"]
  sure "an empty file name", at["ev_empty"].any? && at["ev_empty"].all? { |f, _| ["", "(unknown)"].include?(f) }, at["ev_empty"]
  sure "a negative line", at["ev_negline"].all? { |f, l| f == "neg.rb" && l.between?(0, 12) }, at["ev_negline"]
  sure "a UTF-8 file name", at["ev_utf8"].all? { |f, _| f == "pfad/äöü.rb" }, at["ev_utf8"]
  gone = main.frames.select { |f| f.name.match?(/gone_\d+\z/) }
  sure "code that was collected keeps its names", gone.all? { |f| f.file.start_with?("(eval") }, gone.map(&:name).uniq.first(3)
end

scenario "s09", fine: true do
  body = (line_of(/define_method\(:dyn_spin\)/)...line_of(/def method_missing/))
  # truth.rb, which tells the program's own measure at its end, has such lines too.
  dyn = main.frames.select { |f| f.file.end_with?("/s09_define_method_and_missing.rb") && body.cover?(f.line) }
  sure "define_method has a name", dyn.any? && dyn.all? { |f| f.method_name == "dyn_spin" || f.block? }, dyn.map(&:name).uniq
  exactly "the name of a define_method is always the same", dyn.map(&:name).uniq.size, 1
  sure "ghost_work runs under method_missing", main.holding("ghost_work").rows.all? { |r| r.holds?("method_missing") }
  aliases = main.frames.select { |f| %w[alias_spin orig_spin].include?(f.method_name) }.map(&:name).uniq
  exactly "names of the aliased method", aliases.size, 1
  shares = { "dyn_spin" => main.select { |r| r.frames.any? { |f| dyn.include?(f) } }, "ghost_work" => main.holding("ghost_work"),
             aliases.first.to_s => main.holding(aliases.first.to_s) }
  shares.each { |m, rows| points "share of #{m}", rows.cpu / main.cpu, 1 / 3r, 10 }
end

scenario "s11", fine: true do
  labels = main.frames.select { |f| f.method_name == "slow_sum" }.map(&:name).uniq
  exactly "labels of slow_sum", labels.size, 1
  sure "no label has an address", main.frames.none? { |f| f.name.match?(/0x[0-9a-f]+/) }, labels
  below = main.rows.select { |r| r.frames.any? { |f| f.method_name == "to_s" && !f.native? } }
  at_least "share of the refined to_s", below.sum(&:cpu) / main.cpu, 0.1
end

scenario "s12", fine: true do
  exact = { "Svc.boot" => ["Svc.boot"], "Svc::Inner.go" => ["Svc::Inner.go"], "Helper.assist" => ["Helper.assist"],
            "mixin_spin" => %w[Mixin#mixin_spin User#mixin_spin], "solo" => ["#<Object>#solo", "Object#solo", "Object.solo", "#<Object>.solo"] }
  names = main.frames.map(&:name).uniq
  exact.each do |what, wanted|
    found = names.select { |n| n.match?(/[#.]#{what[/\w+\z/]}\z/) }
    exactly "labels of #{what}", found.size, 1
    sure "label of #{what}", wanted.include?(found.first), found.inspect
    points "share of #{what}", main.flat_cpu(found.first) / main.cpu, 1 / 5r, 6
  end
  sure "no label has an address", names.grep(/0x[0-9a-f]+/).empty?, names.grep(/0x/)
end

scenario "s14", fine: true, out: %w[.pb.gz .collapsed .txt .html] do
  run.files.drop(1).each { |f| sure "#{File.extname(f)} is UTF-8", File.read(f, encoding: "UTF-8").valid_encoding? }
  bad = File.readlines(run.files[1], encoding: "UTF-8").grep_v(/\A.+ \d+\n\z/)
  sure "every collapsed line is a stack and a count", bad.empty?, bad.first(2)
  names = profile.frames.map(&:name)
  sure "a UTF-8 method keeps its name", names.any? { |n| n.end_with?("zähle_日本") }, names.grep(/hle_/).uniq
  sure "a Latin-1 method is there in replaced form", names.any? { |n| n.match?(/lat.+in\z/) }, names.grep(/lat/).uniq
  near "cpu of main, in methods with Latin-1 names", main.cum_cpu("zähle_日本"), 0.10, percent: 20
  threads = profile.labels_of("thread name")
  sure "a UTF-8 thread keeps its name", threads.include?("ok-ümlaut"), threads.map { |n| n[0, 30] }.inspect
  %w[latin1- invalid- binary- long-].each do |start|
    next unless threads.any? { |n| n.start_with?(start) } # Ruby may refuse such a name
    mine = profile.threads.select { |r| r.label("thread name").start_with?(start) }
    near "cpu of #{start}", mine.cpu, ground[:cpu_each_s], percent: 20
  end
  near "cpu of ok-ümlaut", thread("ok-ümlaut").cpu, ground[:cpu_each_s], percent: 20
  at_least "cpu of all of them", profile.cum_cpu("zähle_日本"), 0.06 * 6 * 0.8
end

scenario "s15", fine: true do
  long = main.frames.select { |f| f.name.include?("yyyyyyyyyy") }
  sure "the long method is there, its name whole or cut", long.any? && long.all? { |f| f.name.match?(/\A[\w#.:]*my+(\W.{0,20})?\z/) }, long.map { |f| f.name.size }.uniq
  at_least "share of the long method", main.select { |r| r.frames.any? { |f| long.include?(f) } }.cpu / main.cpu, 0.8
  plain = run.files.first.sub(".pb.gz", ".pb")
  IO.binwrite(plain, Zlib.gunzip(IO.binread(run.files.first)))
  at_most "bytes of the profile, unpacked", File.size(plain), 400_000
  not_covered "class names of allocations", "this host profiles no allocations"
end

scenario "s40", fine: true, varying: %w[rss_kb] do
  made = main.frames.select { |f| f.name.include?("_tpl_page_") }.map(&:name).uniq
  unless mruby? # where the program runs longer, so more of them are sampled
    at_most "distinct names of generated methods", made.size, 600
    at_most "distinct functions", profile.facts["functions"], 700
  end
  at_most "distinct names of generated methods", made.size, ground[:methods]
  all = main.rows.select { |r| r.holds?("render_all") }
  own = all.select { |r| r.frames.any? { |f| f.name.include?("_tpl_page_") } }
  at_least "share of generated methods in render_all", own.sum(&:cpu) / all.sum(&:cpu), 0.95
  not_covered "memory over rounds", "the host has no checkpoints"
end
