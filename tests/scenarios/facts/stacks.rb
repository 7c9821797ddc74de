# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# Stacks: depth, recursion, blocks, jumps out of them, fibers.

DEFAULT_MAX_FRAMES = 400
TRUNCATED = "Truncated Frames"

scenario "s06", fine: true do
  deep = main.rows.select { |r| r.holds?("bottom_spin") }
  if mruby? # whose own limit of depth is lower than ours
    sure "no stack is cut", main.rows.none? { |r| r.holds?(TRUNCATED) }
    near "depth", deep.map { |r| r.frames.size }.max, ground[:depth_total], percent: 2
  else
    exactly "deepest stack with its mark", profile.facts["max_depth"], DEFAULT_MAX_FRAMES + 1
    sure "a stack that is cut carries the mark, at its root", deep.all? { |r| r.frames.last.name == TRUNCATED && r.frames.size == DEFAULT_MAX_FRAMES + 1 }
    sure "only stacks that are cut carry the mark", main.rows.all? { |r| !r.holds?(TRUNCATED) || r.frames.size == DEFAULT_MAX_FRAMES + 1 }
  end
  # In mruby Integer#& is a method in C, above it.
  spin = ->(r) { r.frames.index { |f| f.is?("bottom_spin") } }
  kept = deep.select { |r| spin[r] < 2 }.sum(&:cpu)
  at_least "share of cpu in bottom_spin: the leaf is kept", kept / main.cpu, 0.5
  sure "bottom_spin is called by descend", deep.all? { |r| r.frames[spin[r] + 1].is?("descend") }
  at_most "inclusive share of descend", main.cum_cpu("descend") / main.cpu, 1.0
  next not_covered("a stack of exactly the limit", "the program counts its frames as CRuby does") if mruby?
  # Stacks of exactly the limit, and of one frame more.
  exact = bench.program("s06_exact_depth")
  [0, 1].each do |over|
    again = bench.profiled(exact, args: [100 + over], options: %w[--interval 1ms --overhead 20% --max-frames 100])
    rows = bench.profile_of(again).thread("main").holding("bottom_spin")
    exactly "depth of #{100 + over} frames", again.ground[:depth], 100 + over
    sure "#{over} frames over the limit: #{over.zero? ? 'no mark' : 'the mark'}",
         rows.rows.any? && rows.rows.all? { |r| r.holds?(TRUNCATED) == (over == 1) }, rows.rows.map { |r| r.frames.size }.uniq
  end
end

scenario "s07", fine: true do
  order = { "ping" => "pang", "pong" => "ping", "pang" => "pong" } # who calls whom
  chains = main.rows.map { |r| r.frames.map(&:method_name).select { |m| order.key?(m) } }
  sure "each is called by the one before", chains.all? { |c| c.each_cons(2).all? { |callee, caller| order[callee] == caller } }
  order.each_key { |m| at_most "inclusive share of #{m}", main.cum_cpu(m) / main.cpu, 1.0 }
  one = main.flat_cpu("ping")
  near "self cpu pong : ping", main.flat_cpu("pong") / one, 2, percent: 15
  near "self cpu pang : ping", main.flat_cpu("pang") / one, 3, percent: 15
end

scenario "s10", fine: true do
  lines = ->(from, to) { (line_of(from)..line_of(to)) }
  bodies = { "lambda" => lines[/^LAM = /, /^PRC = /], "proc" => lines[/^PRC = /, /^def run_lambda/] }
  blocks = main.frames.select { |f| f.block? && f.method_name == "outer_blocks" }
  sure "blocks of outer_blocks are told from it", blocks.any?, blocks.map(&:name).uniq
  sure "their lines are those of the blocks", blocks.all? { |f| f.line.between?(line_of(/^def outer_blocks/) + 1, line_of(/^LAM = /) - 1) }
  outer = main.frames.select { |f| f.is?("outer_blocks") }
  exactly "lines of outer_blocks itself", outer.map(&:line).uniq, [line_of(/^def outer_blocks/) + 1]
  bodies.each do |kind, range|
    leaves = main.holding("run_#{kind}").rows.map(&:leaf).reject(&:native?).reject { |f| f.is?("run_#{kind}") }
    sure "the #{kind}'s frames have lines of its body", leaves.any? && leaves.all? { |f| range.cover?(f.line) }, leaves.map(&:line).uniq.sort
  end
  # mruby reaches a block's outer variables more slowly than its own.
  shares = mruby? ? [0.58, 0.21, 0.21] : [1 / 3r] * 3
  %w[outer_blocks run_lambda run_proc].zip(shares) { |m, share| points "share of #{m}", main.cum_cpu(m) / main.cpu, share, 8 }
  between = main.rows.select { |r| r.leaf.block? && r.leaf.method_name == "outer_blocks" }
  # Integer#times is Ruby since 3.3, Array#each since 3.4: then their frames have a file like <internal:numeric>.
  # In mruby they are Ruby without a file.
  core = between.map { |r| r.frames[1] }
  own = ->(f) { mruby? ? f.file.empty? : f.native? || f.file.start_with?("<internal:") }
  sure "Ruby's own frames lie between method and block",
       core.any? && core.all? { |f| own[f] && %w[times each].include?(f.method_name) },
       core.map { |f| "#{f.name} in #{f.file}" }.uniq
end

scenario "s16", fine: true do
  ratio = main.flat_cpu("rescue_work") / main.flat_cpu("ensure_work")
  near "cpu rescue_work : ensure_work", ratio, 2, percent: 20
  %w[rescue_work ensure_work].each do |m|
    from = line_of(/^def #{m}/)
    sure "#{m} has lines of its own", main.frames_of(m).all? { |f| f.line.between?(from, from + 5) }, main.frames_of(m).map(&:line).uniq
  end
  exactly "$! is nil in the end", ground[:errinfo_nil], "true"
  not_covered "count of class Boom", "this host profiles no allocations"
end

scenario "s17", fine: true do
  both = main.holding("inner_throw").holding("after_catch")
  exactly "rows that hold a frame that was left", both.rows.size, 0
  %w[inner_throw after_catch].each { |m| at_least "share of #{m}", main.cum_cpu(m) / main.cpu, 0.3 }
  exactly "jumps", ground.values_at(:caught, :early, :broke), [200, 200, 200]
  not_covered "strings of tail_alloc", "this host profiles no allocations"
end

scenario "s18", fine: true do
  near "cpu of fiber a : fiber b", main.cum_cpu("fiber_a_work") / main.cum_cpu("fiber_b_work"), 2, percent: 12
  works = %w[fiber_a_work fiber_b_work gen_work]
  sure "no stack holds frames of two fibers", main.rows.all? { |r| works.count { |w| r.holds?(w) } <= 1 }
  unless mruby?
    near "cpu of all rows and the ticker = process cpu", profile.cpu + truth[:ticker_cpu_s], truth[:process_cpu_s], percent: 5
  end
  sure "a generator's work is seen", main.cum_cpu("gen_work").positive?, main.cum_cpu("gen_work")
  exactly "values drawn", ground[:drained], 40
end

scenario "s42", fine: true do
  roots = main.holding("inner_spin").rows.map { |r| r.frames.map(&:method_name) }
  sure "a call holds no frames of a call before", roots.all? { |names| names.count("inner_spin") == 1 }
  at_least "share of host_tick", main.cum_cpu("host_tick") / main.cpu, 0.5
  sure "stacks of fibers hold no host_tick", main.holding("host_fiber_step").holding("host_tick").rows.empty?
end
