# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# A batch job as people run them: RDoc over some of Ruby's own library, into a directory that is thrown away.
#
#   rdoc_of_library.rb [FILES]

require "rbconfig"
require "rdoc"
require "tmpdir"

library = RbConfig::CONFIG.fetch("rubylibdir")
files = Dir[File.join(library, "{net,uri,rdoc,reline}/**/*.rb")].sort.first(Integer(ARGV.fetch(0, "60")))

Dir.mktmpdir("rbprof-demo") do |dir|
  RDoc::RDoc.new.document(["--quiet", "--format=ri", "--output", File.join(dir, "doc"), *files])
  made = Dir[File.join(dir, "doc", "**", "*.ri")].size
  puts "RDoc read #{files.size} files and wrote #{made} pages"
end
