# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT

# The one place where a fact may be weaker than a scenario's header says, and why: an API that the VM lacks. In force
# only when the profile itself says `other_stacks: off`. Whatever is used is printed.
module LesserFacts
  OTHER_STACKS = "rb_profile_thread_frames (CRuby 3.3): no stack of a thread that does not run"
  NOT_RUNNING = "(not running)"

  # What a thread's wait may be booked on instead of the frame that it waits in.
  WAITS_ON = {
    "s03" => OTHER_STACKS, # sleeper in sleep, main in join
    "s27" => OTHER_STACKS, # six waits
    "s28" => OTHER_STACKS, # Mutex#synchronize
    "s35" => OTHER_STACKS, # write and read
    "s39" => OTHER_STACKS, # the parked thread
  }.freeze

  # Only threads of the main Ractor are profiled, on every version: what another one does is left out, and the profile
  # says so.
  OTHER_RACTORS = "a thread list and stacks of other Ractors"
end
