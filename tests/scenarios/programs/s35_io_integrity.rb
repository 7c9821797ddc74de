# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
# s35 IO under a hot sampler: nothing short, nothing doubled            engines: CRuby
# EXPECT:
#   * checksums equal (GROUND same=true), no Errno::EINTR, sleep never returns early (GROUND early == 0)
#   * writer/reader threads show `write`/`read` frames; time split as wall
require "digest"
rd, wr = IO.pipe
payload = Random.new(3).bytes(4_000_000)
got = +"".b
eintr = 0
reader = Thread.new do
  Thread.current.name = "reader"
  begin
    while (c = rd.readpartial(8192))
      got << c
    end
  rescue EOFError
    nil
  rescue Errno::EINTR
    eintr += 1
    retry
  end
end
writer = Thread.new { Thread.current.name = "writer"; payload.bytes.each_slice(40_000) { |s| wr.write(s.pack("C*")) }; wr.close }
[writer, reader].each(&:join)
early = 0
40.times { t = Process.clock_gettime(Process::CLOCK_MONOTONIC); sleep 0.01; early += 1 if Process.clock_gettime(Process::CLOCK_MONOTONIC) - t < 0.0099 }
same = Digest::MD5.hexdigest(payload) == Digest::MD5.hexdigest(got)
puts "GROUND same=#{same} eintr=#{eintr} early=#{early}"
raise "io broken" unless same && early == 0
