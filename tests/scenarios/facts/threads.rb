# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# Several threads: whose time it is, and what they wait for.

scenario "s03", fine: true do
  span = ground[:wall_s]
  # Not the span: a thread may wait 0.1 s for the lock before it begins, and another at the end of it.
  near "wall of sleeper", thread("sleeper").wall, ground[:sleeper_wall_s], percent: 5
  at_most "cpu of sleeper, share of the span", thread("sleeper").cpu / span, 0.02
  waits_in "sleeper", thread("sleeper"), "sleep", share: 0.95
  near "wall of spinner", thread("spinner").wall, ground[:spinner_wall_s], percent: 5
  near "cpu of spinner", thread("spinner").cpu, ground[:spinner_cpu_s], percent: 5
  near "cpu of half", thread("half").cpu, ground[:half_cpu_s], percent: 8
  near "wall of main", main.wall, span, percent: 5
  at_most "cpu of main, share of the span", main.cpu / span, 0.03
  waits_in "main", main, "join", share: 0.95
  profile.threads.labels_of("thread id").each do |id|
    rows = profile.account(id)
    at_most "cpu : wall of #{rows.labels_of('thread name').first}", rows.cpu / rows.wall, 1.02
  end
end

# Every fact here is of clocks, not of samples: the interval that users have.
scenario "s04", varying: %w[parked_s] do
  threads = profile.threads
  exactly "thread ids", threads.labels_of("thread id").size, ground[:threads]
  names = threads.rows.group_by { |r| r.label("thread id") }.transform_values { |rows| rows.map { |r| r.label("thread name") }.uniq }
  sure "no id has two names", names.values.all? { |n| n.size == 1 }, names.values.select { |n| n.size > 1 }.first(3)
  wanted = Array.new(64) { |i| "idle-#{i}" } + Array.new(4) { |i| "work-#{i}" }
  sure "all names are there", (wanted - names.values.flatten).empty?, (wanted - names.values.flatten).first(5)
  idle = Array.new(64) { |i| thread("idle-#{i}") }
  at_most "cpu : wall of the busiest idle thread", idle.map { |t| t.cpu / t.wall }.max, 0.01
  parked = ground[:parked_s].scan(/[\d.]+/).map(&:to_f)
  ratios = idle.zip(parked).map { |t, s| t.wall / s }
  near "least wall of an idle thread : its own measure", ratios.min, 1.0, percent: 10
  near "most wall of an idle thread : its own measure", ratios.max, 1.0, percent: 10
  works = Array.new(4) { |i| thread("work-#{i}").cpu }
  at_least "share of cpu in the workers", works.sum / profile.cpu, 0.90
  works.each_with_index { |c, i| points "share of work-#{i} among them", c / works.sum, 0.25, 8 }
  at_most "the profiler's own share of process cpu", (profile.overhead.cpu + truth[:ticker_cpu_s]) / truth[:process_cpu_s], 0.05
end

scenario "s27", fine: true do
  waits = { "wait-sleep" => %w[sleep], "wait-pipe" => %w[read], "wait-select" => %w[select], "wait-queue" => %w[pop],
            "wait-cv" => %w[wait sleep], "wait-sock" => %w[readpartial wait_readable] }
  waits.each do |name, frames|
    rows = thread(name)
    near "wall of #{name}", rows.wall, 0.25, percent: 15
    at_most "cpu of #{name}", rows.cpu, 0.010
    waits_in name, rows, *frames, share: 0.85
    at_most "wall of #{name} in rows that had cpu", rows.where("state", "had cpu").wall, 0.25 * 0.15
  end
  exactly "waits that ended early, EINTR seen", ground.values_at(:early, :eintr), [0, 0]
end

scenario "s28", fine: true, varying: %w[gvl_cpu_each_s] do
  4.times do |i|
    rows = thread("lock-#{i}")
    # A lock thread is done after its own eight turns, so the last one to finish has the group's whole wall.
    at_most "wall of lock-#{i}", rows.wall, ground[:lock_wall_s] * 1.05
    at_most "cpu of lock-#{i}, share of the group's wall", rows.cpu / ground[:lock_wall_s], 0.05
    waits_in "lock-#{i}", rows, "synchronize", "lock", "sleep", share: 0.9
  end
  near "longest wall of a lock thread", Array.new(4) { |i| thread("lock-#{i}").wall }.max, ground[:lock_wall_s], percent: 5
  # On a quiet machine each measures a quarter of the group's wall; on a busy one, what it got.
  group = Array.new(4) { |i| thread("gvl-#{i}") }
  measured = ground[:gvl_cpu_each_s].scan(/[\d.]+/).map(&:to_f)
  group.each_with_index do |rows, i|
    points "cpu of gvl-#{i}, share of the group's cpu", rows.cpu / group.sum(&:cpu), 0.25, 8
    points "cpu of gvl-#{i}, share of the group's wall", rows.cpu / ground[:gvl_wall_s], measured[i] / ground[:gvl_wall_s], 8
    near "cpu of gvl-#{i} against its own clock", rows.cpu, measured[i], percent: 5
    sure "wall of gvl-#{i} is over its cpu", rows.wall > rows.cpu, [rows.wall, rows.cpu]
  end
  at_most "cpu of all threads : elapsed", profile.threads.cpu / profile.duration, 1.05
end

scenario "s35", fine: true do
  %w[reader writer].each { |n| sure "#{n} is there", thread(n).wall.positive?, thread(n).wall }
  waits_in "reader", thread("reader"), "readpartial", share: 0.5
  # How long is no truth of the program: it works for what it writes, and waits for the lock there too.
  if profile.sees_other_stacks?
    waits_in "writer", thread("writer"), "write", share: 0.001
  else
    not_covered "writer in write", "it is seen there only when a signal meets it with the VM lock"
  end
end

scenario "s39", varying: [] do
  near "wall of main", main.wall, profile.duration, percent: 3
  near "wall of parked", thread("parked").wall, profile.duration, percent: 5
  waits_in "main", main.select { |r| !r.holds?("wake_burst") }, "sleep", share: 0.95
  waits_in "parked", thread("parked"), "sleep", "stop", share: 0.95
  at_most "process cpu while idle, s", ground[:process_cpu_s], 0.020
  burst = main.holding("wake_burst")
  sure "wake_burst is seen", burst.rows.any?, burst.cpu
  at_most "cpu : wall of wake_burst", burst.cpu / burst.wall, 1.02
  at_most "longest wait for a row of main", main.wall / [main.samples, 1].max, 2.1
end

scenario "s41", fine: true do
  phases = %w[phase-1 phase-2 phase-3].map { |n| thread(n) }
  exactly "ids of a thread that is renamed", phases.flat_map { |p| p.labels_of("thread id") }.uniq.size, 1
  phases.each_with_index { |p, i| near "cpu under phase-#{i + 1}", p.cpu, 0.1, percent: 25 }
  at_most "most cpu of a thread but main", profile.threads.rows.reject { |r| r.label("thread name") == "main" }.group_by { |r| r.label("thread id") }.values.map { |rs| rs.sum(&:cpu) }.max, 0.45
  unnamed = profile.threads.rows.map { |r| r.label("thread name") }.uniq - %w[main phase-1 phase-2 phase-3]
  sure "a thread without a name has the place of its block", unnamed.all? { |n| n.match?(/:\d+\z|\A\(/) }, unnamed.first(5)
  sure "main is called main", main.rows.any?
end
