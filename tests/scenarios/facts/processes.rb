# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# Children, signals, ends of processes, and what else a profiler must not disturb.

scenario "s29" do
  exactly "children that ended as they should", ground.values_at(:ok, :of), [12, 12]
  exactly "profiles that were written", Dir["#{run.files.first.delete_suffix('.pb.gz')}*.pb.gz"].size, 1
  exactly "rows of the parent with the children's work", profile.holding("child_only").rows.size, 0
  sure "the parent's work is there", profile.cum_cpu("parent_only").positive?, profile.cum_cpu("parent_only")
  main_wall = profile.account(profile.id_of("main")).wall
  near "wall booked for main = elapsed", main_wall, profile.duration, percent: 3
end

scenario "s30", options: %w[--interval 1ms] do
  exactly "children that died", ground.values_at(:runs, :bad), [240, 0]
  waits = profile.thread("main").ending_in("system", "`", "wait", "spawn", "fork")
  at_least "share of main's wall in calls that wait for children", waits.wall / main.wall, 0.5
end

scenario "s31", options: %w[--interval 1ms] do
  exactly "timeouts, done, killed, raised", ground.values_at(:timeouts, :done, :killed, :raised), [10, 10, 6, 6]
  sure "sampling goes on to the end: tail_spin", profile.cum_cpu("tail_spin").positive?, profile.cum_cpu("tail_spin")
  not_covered "strings of tail_alloc", "this host profiles no allocations"
end

scenario "s32", options: %w[--interval 1ms] do
  near "cpu of exit_work", profile.cum_cpu("exit_work"), ground[:exit_cpu_s], percent: 20
  at_most "seconds that it ran", run.seconds, 8
end

scenario "s36", fine: true do
  exactly "replaced methods that the profiler called", ground[:calls], 0
  work = profile.holding("under_fake_clock")
  near "cpu of under_fake_clock", work.cpu, ground[:real_cpu_s], percent: 15
  sure "the thread has its true name", profile.labels_of("thread name").include?("true-name"), profile.labels_of("thread name")
end

scenario "s37", fine: true, varying: [] do
  near "cpu of main_spin", main.cum_cpu("main_spin"), ground[:main_cpu_s], percent: 10
  sure "a mark says what Ractors take away", profile.comments.any? { |c| c.match?(/ractor/i) }, profile.comments
end

scenario "s38", options: %w[--interval 1ms], varying: %w[ran] do
  at_most "finalizers that did not run", ground[:defined] - ground[:ran], 50
  sure "sampling goes on to the end: closing_spin", profile.cum_cpu("closing_spin").positive?, profile.cum_cpu("closing_spin")
end
