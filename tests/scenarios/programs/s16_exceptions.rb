# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s16 exceptions: raise/rescue/ensure/retry in deep stacks    engines: CRuby, mruby
# EXPECT:
#   * the app's own result is unchanged by profiling: GROUND rescued/ensured/retried exact
#   * frames `ensure_work` and `rescue_work` are sampled with their own lines; cpu rescue_work : ensure_work == 2 : 1 (+-20 %)
#   * no exception of the profiler leaks into the app ($! is nil at the end)
#   * allocation profile shows class Boom about GROUND boom times (+-15 %)
class Boom < StandardError; end
$rescued = $ensured = $retried = $boom = 0
def deep(k)
  if k == 0
    $boom += 1
    raise Boom, "x"
  end
  deep(k - 1)
end
def ensure_work
  i = 0
  while i < 4_000
    i += 1
  end
end
def rescue_work
  i = 0
  while i < 4_000
    i += 1
  end
end
def attempt
  tries = 0
  begin
    tries += 1
    deep(40)
  rescue Boom
    rescue_work
    $rescued += 1
    if tries < 2
      $retried += 1
      retry
    end
  ensure
    ensure_work
    $ensured += 1
  end
end
1200.times { attempt }
puts "GROUND rescued=#{$rescued} ensured=#{$ensured} retried=#{$retried} boom=#{$boom}"
puts "GROUND errinfo_nil=#{$!.nil?}"
raise "changed behaviour" unless $rescued == 2400 && $ensured == 1200 && $retried == 1200
