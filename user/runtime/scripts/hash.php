<?php
// SHA-256 of a short text to hex, over and over: VARIANT ops N | VARIANT ns N.
const TEXT = "Hello world!!!";
const WARM_UP_NS = 200000000;
const SLICE_NS = 5000000; // between two looks at the clock

// Both return the last digest, and a sum over all of them so that none is dead code.
function sync_batch(int $n): array
{
	$fold = 0;
	$last = "";
	for ($i = 0; $i < $n; $i++) {
		$context = hash_init("sha256");
		hash_update($context, TEXT);
		$last = hash_final($context);
		$fold ^= ord($last[$i & 63]);
	}
	return [$last, $fold];
}

function oneshot_batch(int $n): array
{
	$fold = 0;
	$last = "";
	for ($i = 0; $i < $n; $i++) {
		$last = hash("sha256", TEXT);
		$fold ^= ord($last[$i & 63]);
	}
	return [$last, $fold];
}

// Until ns have passed. The size of a batch follows the pace, so that the looks at the clock cost
// nothing that could be measured.
function run_for_ns(callable $batch, int $ns): array
{
	$start = hrtime(true);
	$done = $elapsed = $fold = 0;
	$last = "";
	$size = 100;
	while ($elapsed < $ns) {
		[$last, $part] = $batch($size);
		$fold ^= $part;
		$done += $size;
		$elapsed = hrtime(true) - $start;
		$size = max(1, (int)($done / $elapsed * min(SLICE_NS, $ns - $elapsed)));
	}
	return [$done, $last, $fold];
}

function main(string $variant, string $unit, int $limit): void
{
	if (!function_exists("hash_init")) {
		echo "unsupported no extension hash\n";
		return;
	}
	$batch = ["sync" => "sync_batch", "oneshot" => "oneshot_batch"][$variant] ?? null;
	if (!$batch) {
		echo "unsupported no variant $variant\n";
		return;
	}
	run_for_ns($batch, WARM_UP_NS);
	echo "ready\n";
	if (fgets(STDIN) !== "go\n")
		return;
	$done = $limit;
	if ($unit === "ops")
		[$last, $fold] = $batch($limit);
	else
		[$done, $last, $fold] = run_for_ns($batch, $limit);
	echo "done $done $last\n";
	if ($fold > 255)
		fwrite(STDERR, "fold\n");
	fgets(STDIN);
}

set_time_limit(0);
main($argv[1], $argv[2], (int)$argv[3]);
