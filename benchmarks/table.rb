# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# One table out of Google Benchmark's files: the least of all repetitions, beside the least of the floor.
#
#   table.rb FILE.json...

require "json"

# What the floor is, by the first pattern that fits.
FLOORS = {
  /^(paced_)?sample_/ => "stack read + 3 clocks",
  /^(allocation|mruby)_/ => "without a profiler",
  /^record_/ => "hash of the stack",
  /^encode_/ => "memcpy of the bytes"
}.freeze

def figure(ns)
  return "" unless ns
  ns < 100_000 ? format("%.0f ns", ns) : ns < 10_000_000 ? format("%.0f us", ns / 1e3) : format("%.0f ms", ns / 1e6)
end

def extras(rows)
  least = ->(key) { rows.filter_map { |r| r[key] }.min }
  all = []
  all << format("%.0f ns beside the floor", least["over_ns"]) if rows[0]["over_ns"]
  if rows[0]["median_ratio"]
    medians = rows.map { |r| r["median_ratio"] }.sort
    all << format("%+.2f %% in the median pair", (medians[medians.size / 2] - 1) * 100)
  end
  all << format("%.0f MB/s", rows.filter_map { |r| r["mb_per_s"] }.max) if rows[0]["mb_per_s"]
  all << format("%.1f MB more at the peak", least["peak_bytes"] / 1e6) if rows[0]["peak_bytes"]
  all << format("%g mallocs", least["mallocs"]) if rows[0]["mallocs"]
  all << format("%g objects", least["objects"]) if rows[0]["objects"]
  all.join(", ")
end

puts format("%-48s %10s %10s %7s  %-22s %s", "benchmark", "least", "floor", "ratio", "the floor is", "also")
ARGV.sort.each do |file|
  data = JSON.parse(File.read(file), allow_nan: true)  # a spread of zeroes is NaN
  rows = data["benchmarks"].reject { |r| r["run_type"] == "aggregate" }
  rows.group_by { |r| r["name"].sub(%r{/iterations.*}, "") }.each do |name, all|
    if (wrong = all.find { |r| r["error_occurred"] })
      abort "#{name}: #{wrong["error_message"]}"
    end
    unit = {"ns" => 1, "us" => 1e3, "ms" => 1e6}.fetch(all[0]["time_unit"])
    ns = all[0]["ns"] ? all.map { |r| r["ns"] }.min : all.map { |r| r["cpu_time"] }.min * unit
    floor = all.filter_map { |r| r["floor_ns"] }.min
    floor = nil if floor && floor < 1  # an empty loop
    ratio = floor ? format("%.2f", ns / floor) : ""
    what = floor ? FLOORS.find { |pattern, _| pattern.match?(name) }&.last : ""
    puts format("%-48s %10s %10s %7s  %-22s %s", name, figure(ns), figure(floor), ratio, what, extras(all)).rstrip
  end
end
