#!/bin/sh
# Recordings rendered in every format, byte for byte as expected, and JSON against its schema.
#
#   tests/golden/run.sh BINARY     UPDATE=1 rewrites the expected files: read the difference
#
# Prints "ok - name" or "not ok - name" for each case and "N passed, N failed" at the end.
set -u

wakewhy=$(realpath "$1") || exit 2
cd "$(dirname "$0")" || exit 2
export TZ=UTC LC_ALL=C.UTF-8 NO_COLOR=1
unset COLUMNS TERM

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# verdict STATUS NAME
verdict()
{
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok - $2"
	else
		failed=$((failed + 1))
		echo "not ok - $2"
	fi
}

# same EXPECTED GOT: status 0 when they are; shows where they are not.
same()
{
	if [ "${UPDATE:-}" = 1 ]; then
		cp "$2" "$1"
		return
	fi
	cmp -s "$1" "$2" && return
	diff -u "$1" "$2" | head -n 20 | sed 's/^/# /'
	return 1
}

# renders EXPECTED STATUS ARGUMENTS...: what 'report ARGUMENTS' prints, and how it ends.
renders()
{
	expected=$1 status=$2
	shift 2
	"$wakewhy" report "$@" > "$scratch/out" 2> "$scratch/err"
	got=$?
	[ "$got" -eq "$status" ] || echo "# exit status $got, not $status"
	[ -s "$scratch/err" ] && sed 's/^/# /' "$scratch/err"
	same "$expected" "$scratch/out" && [ "$got" -eq "$status" ] && [ ! -s "$scratch/err" ]
	verdict $? "report $*"
}

# differs EXPECTED STATUS ARGUMENTS...: the same for 'diff ARGUMENTS'.
differs()
{
	expected=$1 status=$2
	shift 2
	"$wakewhy" diff "$@" > "$scratch/out" 2> "$scratch/err"
	got=$?
	[ "$got" -eq "$status" ] || echo "# exit status $got, not $status"
	[ -s "$scratch/err" ] && sed 's/^/# /' "$scratch/err"
	same "$expected" "$scratch/out" && [ "$got" -eq "$status" ] && [ ! -s "$scratch/err" ]
	verdict $? "diff $*"
}

# refuses MESSAGE ARGUMENTS...: status 1, nothing on standard output, MESSAGE in what is said.
refuses()
{
	message=$1
	shift
	"$wakewhy" report "$@" > "$scratch/out" 2> "$scratch/err"
	got=$?
	[ "$got" -eq 1 ] && [ ! -s "$scratch/out" ] && grep -qF -- "$message" "$scratch/err" ||
		{
			sed 's/^/# /' "$scratch/err"
			echo "# exit status $got"
			false
		}
	verdict $? "report refuses: $message"
}

# valid FILE: JSON that keeps to the schema. The checker must also refuse a document that does not.
valid()
{
	python3 - ../../docs/wakewhy-1.schema.json "$1" << 'PYTHON'
import json, sys
import jsonschema

with open(sys.argv[1]) as schema_file, open(sys.argv[2], encoding="utf-8") as document_file:
    schema, document = json.load(schema_file), json.load(document_file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
errors = sorted(validator.iter_errors(document), key=lambda e: list(map(str, e.absolute_path)))
for error in errors[:10]:
    print("# " + "/".join(map(str, error.absolute_path)) + ": " + error.message[:200])
del document["runs"][0]["totals"]["wakeups"]
if validator.is_valid(document):
    sys.exit("# the schema does not miss runs/0/totals/wakeups")
document["runs"][0]["totals"]["wakeups"] = -1
if validator.is_valid(document):
    sys.exit("# the schema accepts -1 wakeups")
sys.exit(bool(errors))
PYTHON
}

# shown FILE NAME...: Markdown in which each name is shown as it is, by GitHub's own renderer.
shown()
{
	cmark-gfm --unsafe -e table -e autolink -e strikethrough "$1" > "$scratch/shown.html"
	python3 - "$scratch/shown.html" "$@" << 'PYTHON'
import collections, html.parser, sys

tags = collections.Counter()
text = []


class Reader(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        tags[tag] += 1

    def handle_data(self, data):
        text.append(data)


page, markdown = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
Reader().feed(page)
stray = set(tags) - set("blockquote p strong table thead tbody tr th td h3 details summary".split())
if stray:
    sys.exit(f"# {stray} in the page")
if tags["table"] != markdown.count("\n| :-") or tags["details"] != tags["summary"] or not tags["td"]:
    sys.exit(f"# {tags}")
shown = "".join(text).replace("\u2060", "")
for name in sys.argv[3:]:
    if name not in shown:
        sys.exit(f"# {name!r} is not shown as it is")
PYTHON
}

# sample.wkw has a run that is not to be trusted: status 5.
for format in text json csv; do
	renders sample.$format 5 -f $format sample.wkw
	renders idle.$format 0 -f $format idle.wkw
	renders machine.$format 0 -f $format machine.wkw
done
for format in text json html folded speedscope; do
	renders stacks.$format 0 -f $format stacks.wkw
done
renders stacks.md 0 -f markdown stacks.wkw
renders stacks.frames.text 0 --all-frames stacks.wkw
renders stacks.oncpu.folded 0 -f folded-oncpu stacks.wkw
renders stacks.wakeups.folded 0 -f folded-wakeups stacks.wkw
renders idle.html 0 -f html idle.wkw
renders merged.text 0 idle.wkw machine.wkw idle.wkw

# why.wkw holds what sample.wkw does, and causes; later.wkw one server of it, changed.
for format in text json; do
	renders why.$format 5 -f $format why.wkw
	differs later.diff.$format 5 -f $format why.wkw later.wkw
done
differs earlier.diff.text 5 later.wkw why.wkw

# What GitHub's own renderer makes of Markdown: tables and folds, no link, and nothing from a name.
renders why.md 5 -f markdown why.wkw
renders idle.runs.csv 0 -f csv-runs idle.wkw
renders why.causes.csv 5 -f csv-causes why.wkw
renders why.summary.csv 5 -f csv-summary why.wkw
shown why.md '<b>\x1b[31m\xff",\x0a' 'sh -c a\x1b]0;x\x07\xc3(\u{202e}=1,"<script>' 'bun#2' epoll_pwait2
verdict $? "why.md is shown as it should be"
shown stacks.md '</title>\x1b[31m;\xff&amp;' '← JS:*tick file:///srv/app.mjs:7:1 ←' \
	'pthread_cond_timedwait ← server+0x4788c15'
verdict $? "stacks.md is shown as it should be"

for name in sample idle machine why stacks; do
	valid $name.json
	verdict $? "$name.json keeps to the schema"
done

# A viewer of its own makes no remark on what it cannot read: the schema does.
python3 - speedscope.schema.json stacks.speedscope << 'PYTHON'
import json, sys
import jsonschema

schema, document = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(document, schema)
frames = len(document["shared"]["frames"])
for profile in document["profiles"]:
    if len(profile["samples"]) != len(profile["weights"]):
        sys.exit(f"# {profile['name']}: samples without weights")
    if not all(frame < frames for sample in profile["samples"] for frame in sample):
        sys.exit(f"# {profile['name']}: a frame that is not there")
    if abs(sum(profile["weights"]) - profile["endValue"]) > 1e-9 * profile["endValue"]:
        sys.exit(f"# {profile['name']}: weights do not add up")
document["profiles"][0]["unit"] = "ms"
sys.exit(jsonschema.Draft202012Validator(schema).is_valid(document))
PYTHON
verdict $? "stacks.speedscope keeps to its schema and adds up"

# What a budget says is in JSON too: which is over, and by how much.
"$wakewhy" report -q -f json --max-wakeups 1 idle.wkw > "$scratch/over.json" 2> "$scratch/err"
[ $? -eq 3 ] && grep -q '"option": "--max-wakeups"' "$scratch/over.json" && valid "$scratch/over.json"
verdict $? "a budget that is exceeded is in JSON, by the schema"

# Results in JSON tell the same difference as the recordings that they came from. A file's name says
# nothing about what is in it, and stands in the report.
for name in why later; do
	mkdir -p "$scratch/json"
	"$wakewhy" report -q -o "$scratch/$name.json" $name.wkw
	mv "$scratch/$name.json" "$scratch/json/$name.wkw"
done
for format in text json; do
	differs later.diff.$format 5 -f $format "$scratch/json/why.wkw" "$scratch/json/later.wkw"
done
differs later.diff.text 5 why.wkw "$scratch/json/later.wkw"
differs later.diff.md 5 -f markdown why.wkw later.wkw

# Rows of a difference add up, in a document that keeps to its schema.
python3 - ../../docs/wakewhy-diff-1.schema.json later.diff.json << 'PYTHON'
import json, sys
import jsonschema

schema, document = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(document, schema)
total = document["totals"][0]
for of, share in (("per_s", "share"), ("cpu_ns_per_s", "cpu_share")):
    for side in ("base", "other", "difference"):
        found = sum(row[f"{side}_{of}"] for row in document["rows"])
        if abs(found - total[f"{side}_{of}"]) > 1e-9 * abs(found):
            sys.exit(f"# {side}_{of}: rows add up to {found}")
    if abs(sum(row[share] for row in document["rows"]) - 1) > 1e-9:
        sys.exit(f"# {share} does not add up to 1")
del document["rows"][0]["share"]
sys.exit(jsonschema.Draft202012Validator(schema).is_valid(document))
PYTHON
verdict $? "later.diff.json keeps to its schema and adds up"

# The same bytes from standard input, into a file, and after a recording of the recording.
"$wakewhy" report - < idle.wkw > "$scratch/out"
same idle.text "$scratch/out"
verdict $? "report - reads standard input"
"$wakewhy" report -q -o "$scratch/a.json" -o "$scratch/b.wkw" idle.wkw &&
	"$wakewhy" report -f json "$scratch/b.wkw" > "$scratch/out" &&
	cmp -s "$scratch/a.json" "$scratch/out" && same idle.json "$scratch/out"
verdict $? "report -o writes what it prints"

head -c 400 sample.wkw > "$scratch/cut.wkw"
refuses cut.wkw "$scratch/cut.wkw"
"$wakewhy" diff idle.wkw later.wkw > "$scratch/out" 2> "$scratch/err"
[ $? -eq 1 ] && [ ! -s "$scratch/out" ] && grep -qF 'idle.wkw holds no causes' "$scratch/err"
verdict $? "diff refuses a recording without causes"
refuses 'not a recording' idle.text
refuses 'No such file' idle.wkw "$scratch/missing.wkw"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
