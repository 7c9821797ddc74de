# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# The collector.

scenario "s19", fine: true, varying: %w[gc_count] do
  gc = profile.collector
  exactly "the collector's place", gc.frames.map(&:name), ["Garbage Collection"]
  if mruby? # which tells nothing of its collector; a tick that finds it running is its
    # The cpu clock around the two functions that collect says 23 to 25 % in 3.3, and 66 % in 4.0.
    points "share of the collector", gc.cpu / profile.cpu, ground[:mruby] < 4 ? 0.2 : 0.6, 15
    next totals
  end
  near "cpu of the collector", gc.cpu, ground[:gc_s], percent: 25
  majors = gc.rows.select { |r| r.label("gc type").to_s.start_with?("major") }.sum(&:samples)
  at_most "reports a second, majors aside", (gc.samples - majors) / profile.duration, 100
  totals
end

scenario "s20", fine: true do
  gc = profile.collector
  id = profile.id_of("main")
  account = profile.account(id)
  at_least "share of the collector", gc.cpu / account.cpu, 0.30
  exactly "the thread that ran it", gc.labels_of("gc thread id"), [id]
  if mruby?
    share = gc.cpu / (gc.cpu + main.cum_cpu("busy_between"))
    points "share of the collector beside busy_between", share, ground[:gc_s] / (ground[:gc_s] + ground[:busy_s]), 8
    next totals
  end
  forced = gc.where("gc cause", "GC.start()").cpu # the program's own measure is of its loop alone
  points "share of the collector in the loop", forced / (forced + main.cum_cpu("times")), ground[:gc_s] / ground[:cpu_s], 8
  at_least "reports", gc.samples, ground[:majors]
  sure "a reason", gc.labels_of("gc reason").any?, gc.labels_of("gc reason")
  sure "type major", gc.labels_of("gc type").include?("major"), gc.labels_of("gc type")
  near "cpu of busy_between", main.cum_cpu("busy_between"), ground[:busy_s], percent: 15
  totals
end
