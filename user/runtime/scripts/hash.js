// SHA-256 of a short text to hex, over and over: VARIANT ops N | VARIANT ns N.
// It is read as CommonJS by bun and node and as a module by deno, so it uses neither's own syntax.
const TEXT = "Hello world!!!";
const WARM_UP_NS = 200e6;
const SLICE_NS = 5e6; // between two looks at the clock

const now_ns = () => performance.now() * 1e6;
let last = ""; // the digest
let fold = 0; // of every digest, so that none is dead code

function sync_batch(crypto, n) {
	for (let i = 0; i < n; i++) {
		last = crypto.createHash("sha256").update(TEXT).digest("hex");
		fold = (fold + last.charCodeAt(i & 63)) | 0;
	}
}

function oneshot_batch(crypto, n) {
	for (let i = 0; i < n; i++) {
		last = crypto.hash("sha256", TEXT, "hex");
		fold = (fold + last.charCodeAt(i & 63)) | 0;
	}
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const BYTES = new TextEncoder().encode(TEXT);

async function webcrypto_batch(crypto, n) {
	const subtle = crypto.webcrypto.subtle;
	for (let i = 0; i < n; i++) {
		const digest = new Uint8Array(await subtle.digest("SHA-256", BYTES));
		let hex = "";
		for (let j = 0; j < digest.length; j++) hex += HEX[digest[j]];
		last = hex;
		fold = (fold + hex.charCodeAt(i & 63)) | 0;
	}
}

function why_unsupported(variant, crypto) {
	if (variant === "oneshot" && typeof crypto.hash !== "function") return "no crypto.hash";
	if (variant === "webcrypto" && !crypto.webcrypto?.subtle) return "no crypto.subtle";
	return ["sync", "oneshot", "webcrypto"].includes(variant) ? "" : `no variant ${variant}`;
}

// Until ns have passed; returns how many. The size of a batch follows the pace, so that the looks at
// the clock cost nothing that could be measured.
async function run_for_ns(batch, crypto, ns, size) {
	const start = now_ns();
	let done = 0;
	let elapsed = 0;
	while (elapsed < ns) {
		const pending = batch(crypto, size);
		if (pending) await pending;
		done += size;
		elapsed = now_ns() - start;
		const in_slice = Math.floor((done / elapsed) * Math.min(SLICE_NS, ns - elapsed));
		size = Math.max(1, in_slice);
	}
	return done;
}

// Blocks in read(2) of this thread: no other one has anything to do with it.
function read_line(fs) {
	const byte = new Uint8Array(1);
	let line = "";
	while (fs.readSync(0, byte, 0, 1, null) === 1 && byte[0] !== 10)
		line += String.fromCharCode(byte[0]);
	return line;
}

async function main() {
	const { default: crypto } = await import("node:crypto");
	const { default: fs } = await import("node:fs");
	const say = (text) => fs.writeSync(1, text + "\n");
	// Not by import("node:process"): that touches process.stdin, which stops blocking then.
	const [variant, unit, limit] = globalThis.Deno ? Deno.args : process.argv.slice(2);
	const why = why_unsupported(variant, crypto);
	if (why) return say(`unsupported ${why}`);
	const batch = { sync: sync_batch, oneshot: oneshot_batch, webcrypto: webcrypto_batch }[variant];

	await run_for_ns(batch, crypto, WARM_UP_NS, 100);
	say("ready");
	if (read_line(fs) !== "go") return;
	let done = Number(limit);
	if (unit === "ops") {
		const pending = batch(crypto, done);
		if (pending) await pending;
	} else {
		done = await run_for_ns(batch, crypto, done, 100);
	}
	say(`done ${done} ${last}`);
	if (fold === -1) fs.writeSync(2, "fold -1\n"); // a use of it, which changes nothing
	read_line(fs);
}

main();
