# SHA-256 of a short text to hex, over and over: VARIANT ops N | VARIANT ns N.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

use constant TEXT => "Hello world!!!";
use constant WARM_UP_NS => 200e6;
use constant SLICE_NS => 5e6; # between two looks at the clock

$| = 1;
my ($variant, $unit, $limit) = @ARGV;
my $last = ""; # the digest
my $fold = 0;  # over every digest, so that none is dead code

sub sync_batch {
	my ($n) = @_;
	for (my $i = 0; $i < $n; $i++) {
		my $sha = Digest::SHA->new(256);
		$sha->add(TEXT);
		$last = $sha->hexdigest;
		$fold ^= ord substr $last, $i & 63, 1;
	}
}

sub oneshot_batch {
	my ($n) = @_;
	for (my $i = 0; $i < $n; $i++) {
		$last = Digest::SHA::sha256_hex(TEXT);
		$fold ^= ord substr $last, $i & 63, 1;
	}
}

sub now_ns { return clock_gettime(CLOCK_MONOTONIC) * 1e9 }

# Until $ns have passed; returns how many. The size of a batch follows the pace, so that the looks at
# the clock cost nothing that could be measured.
sub run_for_ns {
	my ($batch, $ns) = @_;
	my ($start, $done, $elapsed, $size) = (now_ns(), 0, 0, 100);
	while ($elapsed < $ns) {
		$batch->($size);
		$done += $size;
		$elapsed = now_ns() - $start;
		my $slice = $ns - $elapsed < SLICE_NS ? $ns - $elapsed : SLICE_NS;
		$size = int($done / ($elapsed || 1) * $slice);
		$size = 1 if $size < 1;
	}
	return $done;
}

if (!eval { require Digest::SHA; 1 }) {
	print "unsupported no module Digest::SHA\n";
	exit 0;
}
my $batch = { sync => \&sync_batch, oneshot => \&oneshot_batch }->{$variant};
if (!$batch) {
	print "unsupported no variant $variant\n";
	exit 0;
}
run_for_ns($batch, WARM_UP_NS);
print "ready\n";
exit 0 if (readline(STDIN) // "") ne "go\n";
my $done = $limit;
if ($unit eq "ops") {
	$batch->($limit);
} else {
	$done = run_for_ns($batch, $limit);
}
print "done $done $last\n";
print STDERR "fold\n" if $fold > 255;
readline(STDIN);
