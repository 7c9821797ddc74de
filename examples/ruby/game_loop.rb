# SPDX-FileCopyrightText: 2026 The rbprof authors
# SPDX-License-Identifier: MIT
#
# A small game without a window: bodies move in a box, bump into each other, and are drawn into a frame of
# characters. Pure Ruby, the same every time, and with a known answer for a profiler: World#collide compares every
# body with every other, in a loop of its own, and costs most by far.
#
#   game_loop.rb [FRAMES]

class Body
  attr_accessor :x, :y, :dx, :dy

  def initialize(x, y, dx, dy)
    @x = x
    @y = y
    @dx = dx
    @dy = dy
  end

  def move(width, height)
    @x += @dx
    @y += @dy
    @dx = -@dx if @x < 0 || @x >= width
    @dy = -@dy if @y < 0 || @y >= height
  end
end

# Numbers that look random, and are the same in every run and version of Ruby.
class Dice
  def initialize(seed)
    @state = seed
  end

  def roll(sides)
    @state = (@state * 1_103_515_245 + 12_345) & 0x7fff_ffff
    (@state >> 8) % sides
  end
end

class World
  WIDTH = 120
  HEIGHT = 40

  attr_reader :bumps

  def initialize(count)
    dice = Dice.new(42)
    @bodies = []
    while @bodies.size < count
      @bodies << Body.new(dice.roll(WIDTH), dice.roll(HEIGHT), dice.roll(3) - 1, dice.roll(3) - 1)
    end
    @bumps = 0
  end

  def tick
    move
    collide
    draw
  end

  def move
    @bodies.each { |body| body.move(WIDTH, HEIGHT) }
  end

  # Every pair: the hot spot.
  def collide
    bodies = @bodies
    count = bodies.size
    i = 0
    while i < count
      a = bodies[i]
      j = i + 1
      while j < count
        b = bodies[j]
        across = a.x - b.x
        down = a.y - b.y
        if across * across + down * down < 2
          a.dx, b.dx = b.dx, a.dx
          a.dy, b.dy = b.dy, a.dy
          @bumps += 1
        end
        j += 1
      end
      i += 1
    end
  end

  def draw
    rows = Array.new(HEIGHT) { " " * WIDTH }
    @bodies.each do |body|
      rows[body.y.clamp(0, HEIGHT - 1)][body.x.clamp(0, WIDTH - 1)] = "o"
    end
    rows.join("\n")
  end
end

frames = Integer(ARGV.fetch(0, "120"))
world = World.new(300)
picture = nil
frames.times { picture = world.tick }
puts "#{frames} frames, #{world.bumps} bumps, #{picture.count("o")} bodies in sight"
