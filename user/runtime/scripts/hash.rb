# SHA-256 of a short text to hex, over and over: VARIANT ops N | VARIANT ns N.
TEXT = "Hello world!!!".freeze
WARM_UP_NS = 200_000_000
SLICE_NS = 5_000_000 # between two looks at the clock

# Both return the last digest, and a sum over all of them so that none is dead code.
def sync_batch(n)
  fold = 0
  last = ""
  n.times do |i|
    last = Digest::SHA256.new.update(TEXT).hexdigest
    fold ^= last.getbyte(i & 63)
  end
  [last, fold]
end

def oneshot_batch(n)
  fold = 0
  last = ""
  n.times do |i|
    last = Digest::SHA256.hexdigest(TEXT)
    fold ^= last.getbyte(i & 63)
  end
  [last, fold]
end

def now_ns
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

# Until ns have passed. The size of a batch follows the pace, so that the looks at the clock cost
# nothing that could be measured.
def run_for_ns(batch, ns)
  start = now_ns
  done = elapsed = fold = 0
  last = ""
  size = 100
  while elapsed < ns
    last, part = batch.call(size)
    fold ^= part
    done += size
    elapsed = now_ns - start
    size = [1, (done.to_f / elapsed * [SLICE_NS, ns - elapsed].min).to_i].max
  end
  [done, last, fold]
end

$stdout.sync = true
variant, unit, limit = ARGV
begin
  require "digest"
rescue LoadError
  puts "unsupported no library digest"
  exit
end
batch = { "sync" => method(:sync_batch), "oneshot" => method(:oneshot_batch) }[variant]
unless batch
  puts "unsupported no variant #{variant}"
  exit
end
run_for_ns(batch, WARM_UP_NS)
puts "ready"
exit if $stdin.gets != "go\n"
done = limit.to_i
if unit == "ops"
  last, fold = batch.call(done)
else
  done, last, fold = run_for_ns(batch, done)
end
puts "done #{done} #{last}"
warn "fold" if fold > 255
$stdin.gets
