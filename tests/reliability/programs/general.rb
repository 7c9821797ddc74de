# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# general.rb SECONDS [NAME,NAME...]: everything that moves frames, methods, stacks, threads and objects about, in random
# order. Errors of the program itself are counted; what matters is that it ends, and that it ends well.
require "json"
require "objspace"
require "set"
require "timeout"
require "tmpdir"

SEED = Integer(ENV.fetch("RBPROF_STORM_SEED", Random.new_seed % 100_000))
srand(SEED)
$VERBOSE = nil
Warning[:experimental] = false
Thread.report_on_exception = false

module General
  module_function

  def down(n) = n.zero? ? 0 : 1 + down(n - 1)
  def endless(n) = endless(n + 1)

  class Anything
    def method_missing(name, *args) = name == :none ? super : (block_given? ? yield(args) : args.size)
    def respond_to_missing?(*) = true
  end

  class Version
    include Comparable
    include Enumerable
    attr_reader :number

    def initialize(number) = @number = number
    def <=>(other) = @number <=> other.number
    def hash = @number
    def eql?(other) = @number == other.number
    def to_s = "v#{@number}"
    def to_ary = [@number]
    def each = [1, 2].each { |x| yield x }
  end

  module Refined
    refine String do
      def twice = self + self
      def upcase = "#{super}!"
    end
  end
  using Refined

  def refinements = 200.times { "abc".twice; "abc".upcase; "x".then { |s| s.twice } }

  def depth
    down(5000)
    down(rand(8000))
    endless(0) if rand < 0.03
  rescue SystemStackError
    nil
  end

  def missing_methods
    any = Anything.new
    300.times do |i|
      any.foo(i)
      any.bar(i) { |x| x.size }
      any.none rescue nil
    end
  end

  def defined_methods
    c = Class.new
    20.times do |i|
      c.define_method(:"m#{i}") { |x = 1| x + i }
      c.class_eval("def n#{i}(a, b = 2, *c, k: 1, &d) = a + b")
    end
    o = c.new
    20.times { |i| o.send("m#{i}"); o.send("n#{i}", 1); o.public_send("n#{i}", 1, k: 3) }
    20.times { |i| c.undef_method(:"m#{i}"); c.remove_method(:"n#{i}") }
  end

  def evals
    10.times do |i|
      eval("def self.e#{i} = [1, 2, 3].map { |x| x * #{i} }\ne#{i}")
      singleton_class.undef_method(:"e#{i}")
    end
  end

  def exceptions
    200.times { begin; raise ArgumentError, "x"; rescue => e; e.backtrace.size; ensure; down(1); end }
    50.times { catch(:a) { catch(:b) { [1].each { throw :a, 3 } } } }
    20.times { [1, 2, 3].each { |x| break x if x == 2 }; [1].each { next }; Integer("zz") rescue 0 }
    tries = 0
    begin
      raise "again" if (tries += 1) < 20
    rescue RuntimeError
      retry
    end
  end

  def fibers
    f = Fiber.new { loop { Fiber.yield(down(50)) } }
    50.times { f.resume }
    30.times { Fiber.new { Fiber.new { Fiber.yield 1; 2 }.resume; down(20) }.resume }
  end

  def enumerators
    e = Enumerator.new { |y| 30.times { |i| y << i; y.yield(i + 1) } }
    20.times { e.next }
    e.lazy.map { |x| x * 2 }.select(&:even?).first(5)
    short = [1, 2, 3].each
    loop { short.next }
    [1, 2, 3].each_with_index.map { |a, b| a * b }
  end

  def threads
    6.times.map { Thread.new { down(30); Thread.pass; sleep 0.0002 if rand < 0.3; Thread.current[:x] = 1 } }.each(&:join)
    killed = Thread.new { sleep }
    Thread.pass
    killed.kill.join
    raised = Thread.new { Thread.current.report_on_exception = false; sleep }
    Thread.pass
    raised.raise("x")
    raised.join
  rescue RuntimeError
    nil
  end

  def queues
    queue = Queue.new
    mutex = Mutex.new
    all = 3.times.map { Thread.new { 50.times { queue << 1; mutex.synchronize { down(5) } } } }
    150.times { queue.pop }
    all.each(&:join)
  end

  def stressed
    GC.stress = true
    20.times { [1, 2].map { |x| x.to_s } }
  ensure
    GC.stress = false
  end

  def compaction = GC.respond_to?(:compact) && GC.compact

  def moving
    return unless GC.respond_to?(:auto_compact=)
    GC.auto_compact = true
    3.times { GC.start; Array.new(2000) { |i| "s#{i}" }.each_slice(2) { |x| x } }
  ensure
    GC.auto_compact = false if GC.respond_to?(:auto_compact=)
  end

  def collections
    GC.start(full_mark: true, immediate_sweep: false)
    Array.new(3000) { Object.new }
    GC.start(full_mark: false)
  end

  def object_space
    ObjectSpace.each_object(Class).first(50).each(&:name)
    ObjectSpace.count_objects
    ObjectSpace.each_object(Proc) { |x| x.arity }
    ObjectSpace.define_finalizer(Object.new, proc { General.down(10) })
    ObjectSpace.garbage_collect if rand < 0.1
  end

  def reachable
    ObjectSpace.reachable_objects_from(General)
    ObjectSpace.reachable_objects_from_root
    ObjectSpace.memsize_of_all(Array)
  end

  def callables
    loose = proc { |x, *y| x }
    strict = lambda { |x| x + 1 }
    bound = method(:down)
    unbound = String.instance_method(:upcase)
    100.times do |i|
      loose.call(i, 2)
      strict.(i)
      bound.call(5)
      unbound.bind_call("x")
      [1, 2].map(&:to_s)
      [1].each(&loose)
      (bound >> strict).call(1)
      strict.curry
      define_singleton_method(:defined_here, &strict)
      defined_here(3)
    end
  end

  def environments
    all = 60.times.map { |i| x = i; lambda { x += 1; proc { binding } } }
    all.each { |l| l.call.call.local_variables; l.call.binding.local_variable_set(:x, 3) }
    kept = tap { y = 1; break binding }
    20.times { kept.eval("y += 1; [1].map { |q| q + y }") }
  end

  def traced
    seen = 0
    TracePoint.new(:call, :return, :c_call, :c_return, :line, :b_call, :b_return, :raise) { |x| seen += x.path.size }.enable do
      down(10)
      [1, 2].map { |x| x.to_s }
      raise "a" rescue nil
    end
    TracePoint.new(:line) {}.enable(target: method(:down)) { down(5) }
  end

  def loaded
    Dir.mktmpdir do |dir|
      k = rand(10**9)
      File.write("#{dir}/r#{k}.rb", "class Loaded#{k}; def x = 1; end; Loaded#{k}.new.x")
      require "#{dir}/r#{k}.rb"
      load "#{dir}/r#{k}.rb"
      Object.autoload(:"Auto#{k}", "#{dir}/a#{k}.rb")
      File.write("#{dir}/a#{k}.rb", "class Auto#{k}; Y = 1; end")
      Object.const_get("Auto#{k}")::Y
      Object.send(:remove_const, "Auto#{k}")
      Object.send(:remove_const, "Loaded#{k}")
    end
  end

  def callbacks
    a = Array.new(200) { rand(1000) }
    a.sort_by { |x| -x }
    a.sort { |x, y| y <=> x }
    a.inject { |x, y| x + y }
    ("hello world " * 20).gsub(/o/) { |m| m.upcase }
    a.group_by { |x| x % 3 }.map { |_, v| v.sum }
    a.each_with_object({}) { |x, m| m[x] = 1 }.each_pair { |k, _| k }
    Hash.new { |h, k| h[k] = down(3) }[1]
    a.min_by { down(1) }
    [1, 2, 3].permutation { |p| p }
    (1..30).each_slice(3) { |x| x }
    a.flat_map { |x| [x, x] }.uniq { |x| x % 7 }
  end

  def compared
    a = Array.new(60) { Version.new(rand(100)) }
    a.sort
    a.minmax
    a[0].clamp(a[1], a[1])
    a.uniq
    { a[0] => 1 }[a[1]]
    "#{a.join(",")} #{a[0]}"
    Set.new(a).size
    [a[0]].flatten
    a[0].sort_by { |x| x }
  end

  def encoded
    JSON.parse(JSON.generate({ "a" => [1, 2, { "b" => "c" * 30 }] * 30 }))
    Marshal.load(Marshal.dump([1, "a", { b: 2.0 }] * 50))
    [1, 2, 3].pack("L*").unpack("L*")
    (3**4000).to_s.size
    Rational(3, 7)**50
    "a".encode("UTF-16LE")
    format("%08.3f %s", 1.5, :x)
  end

  def matched
    case { a: [1, { b: 2 }] }
    in { a: [Integer => x, { b: }] } then x + b
    end
    case [1, [2, 3]]
    in [a, [*, b]] then a + b
    end
  end

  def inherited
    c = Class.new(Array) do
      def initialize(*) = super
      def <<(x) = super
      def each(&) = super
      prepend(Module.new { def size = super })
    end
    o = c.new
    50.times { |i| o << i }
    o.each { |x| x }
    o.size
    o.dup.freeze
  end

  def objects
    s = Struct.new(:a, :b, keyword_init: true) { def x = a }
    50.times { s.new(a: 1, b: 2).x }
    o = Class.new { attr_accessor :a }.new
    30.times { |i| o.instance_variable_set("@v#{i}", i) }
    o.instance_eval { @v1 }
    o.instance_exec(3) { |x| x }
    o.singleton_class.class_eval { def q = 1 }
    o.q
    NoSuchConstant rescue nil
  end

  def backtraces
    caller(0).size
    caller_locations(1, 2)
    Thread.list.each(&:backtrace)
    raise "a" rescue $!.full_message
  end

  def compiled
    i = RubyVM::InstructionSequence.compile("1 + 1; [1].map { |x| x }")
    i.eval
    RubyVM::InstructionSequence.load_from_binary(i.to_binary).eval
  end

  def interrupts
    Thread.handle_interrupt(RuntimeError => :never) do
      down(50)
      Thread.handle_interrupt(RuntimeError => :immediate) { down(5) }
    end
    Timeout.timeout(0.0005) { loop { down(10) } }
  rescue Timeout::Error
    nil
  end

  def processes
    Process.wait(fork { exit!(0) })
    `true`
    system("true")
  end

  def streams
    r, w = IO.pipe
    reader = Thread.new { r.read }
    w.write("x" * 1000)
    w.close
    reader.value
    r.close
    File.foreach(__FILE__) { |l| l }
    Dir.children(__dir__).size
    IO.select([File.open(File::NULL)], nil, nil, 0.0001)
  end

  def spins
    i = 0
    i += 1 while i < 20_000
    3000.times { |j| i += j }
    500.times { down(3) }
  end
end

HELPERS = %i[down endless].freeze
SELDOM = %i[moving stressed reachable processes compaction].freeze
ways = ARGV[1] ? ARGV[1].split(",").map(&:to_sym) : General.singleton_methods.sort - HELPERS
limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Float(ENV.fetch("RBPROF_STORM_SECONDS", ARGV[0]))
rounds = 0
errors = Hash.new(0)
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
  way = ways.sample
  next if SELDOM.include?(way) && ways.size > SELDOM.size && rand < 0.7
  begin
    General.send(way)
  rescue StandardError, SystemStackError => e
    errors["#{way}: #{e.class} #{e.message[0, 100]}"] += 1
  end
  rounds += 1
end
puts "seed #{SEED}, #{rounds} rounds, errors #{errors}"
exit(errors.empty?)
