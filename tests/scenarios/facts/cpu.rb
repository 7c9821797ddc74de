# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# Where cpu time goes in one thread.

scenario "s01", fine: true do
  a, b = main.flat_cpu("busy_a"), main.flat_cpu("busy_b")
  near "self cpu busy_a : busy_b", a / b, 3, percent: 10
  burned = mruby? ? main.cum_cpu("busy_a") + main.cum_cpu("busy_b") : a + b # in mruby Integer#& is a method in C
  at_least "share of the thread's cpu in busy_a + busy_b", burned / main.cpu, 0.90
  near "inclusive cpu of round = busy_a + busy_b", main.cum_cpu("round"), main.cum_cpu("busy_a") + main.cum_cpu("busy_b"), percent: 5
  unless mruby? # where the program reads the time of day
    near "cpu of the thread, all told = its own clock", profile.account(profile.id_of("main")).cpu, ground[:cpu_s], percent: 5
  end
  totals
end

scenario "s02", fine: true do
  leaf = main.ending_in("leaf")
  big, small = leaf.holding("caller_big"), leaf.holding("caller_small")
  at_least "share of cpu in leaf itself", leaf.cpu / main.cpu, 0.85
  near "leaf under caller_big : under caller_small", big.cpu / small.cpu, 4, percent: 12
  exactly "rows that hold both callers", big.holding("caller_small").rows.size, 0
  exactly "rows of leaf without a caller", leaf.rows.size - big.rows.size - small.rows.size, 0
end

scenario "s26", fine: true do
  natives = { "do_sort" => %w[sort sort_by], "do_regex" => %w[scan match?], "do_bignum" => %w[** to_s pack unpack] }
  natives["do_regex"] << "gsub" if profile.captures_in_handler?
  natives.each do |method, leaves|
    rows = main.holding(method)
    near "inclusive cpu of #{method}, without the collector", rows.cpu, ground[:"#{method}_s"] - ground[:"#{method}_gc_s"], percent: 12
    at_most "share of #{method} that is its own", main.flat_cpu(method) / rows.cpu, 0.15
    leaves.each { |n| at_least "cpu of a C method that is a leaf of #{method}, in ms: #{n}", rows.flat_cpu(n) * 1e3, 1 }
  end
  sure "gsub is called by do_regex", main.holding("do_regex").rows.any? { |r| r.holds?("gsub") }
  not_covered "gsub as a leaf", "its block has its time, because stacks are taken at safe points" unless profile.captures_in_handler?
  sure "C methods have no Ruby file", main.frames_of("sort").all?(&:native?), main.frames_of("sort").map(&:file).uniq
  strangers = main.holding("do_sort").ending_in("gsub", "scan", "**", "pack")
  at_most "share of do_sort that is another method's work", strangers.cpu / main.holding("do_sort").cpu, 0.05
end
