#!/bin/sh
# The layer rule: which room may know which, and what the pure rooms may ask of the system.
#
#   tests/layers.sh [BUILD]    includes of user/; with BUILD also what its pure objects call
#
# Prints a line for each breach; status 1 if there is one. NM names the nm to use.
set -eu

cd "$(dirname "$0")/.."
build=${1:-}
: "${NM:=nm}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A room, and the rooms whose headers it may include. bpf is bpf/*.h, main is user/*.c.
rooms='
base
stat base
sym base
model base stat sym bpf
record base stat sym model bpf
report base stat sym model bpf
render base stat sym model record report bpf
collect base stat sym model bpf
runtime base stat sym model bpf
cmd base stat sym model record report render collect runtime bpf
main base cmd'

# Library headers that nobody may include but the rooms named.
libraries='
bpf/libbpf.h collect
bpf/bpf.h collect
bpf/btf.h collect
libelf.h sym
gelf.h sym
elfutils/libdw.h sym
elfutils/libdwfl.h sym
elfutils/libebl.h sym
libiberty/demangle.h sym
lzma.h sym
zlib.h record
jansson.h record render'

check_includes()
{
	find user -name '*.[ch]' -exec \
		grep -Hn '^[[:space:]]*#[[:space:]]*include' {} + > "$scratch/includes"
	awk -v rooms="$rooms" -v libraries="$libraries" '
	BEGIN {
		n = split(rooms, lines, "\n")
		for (i = 1; i <= n; i++) {
			m = split(lines[i], word, " ")
			room_is[word[1]] = 1
			for (j = 1; j <= m; j++)
				may[word[1], word[j]] = 1
		}
		n = split(libraries, lines, "\n")
		for (i = 1; i <= n; i++) {
			m = split(lines[i], word, " ")
			library_is[word[1]] = 1
			for (j = 2; j <= m; j++)
				may[word[j], word[1]] = 1
		}
	}
	{
		split($0, part, ":")
		room = part[1]
		sub("^user/", "", room)
		if (!sub("/.*", "", room))
			room = "main"
		header = $0
		gsub("^[^<\"]*[<\"]|[>\"].*$", "", header)
		other = header
		if (!sub("/.*", "", other))
			other = room
		if (!(room in room_is))
			print part[1] ":" part[2] ": no rule for user/" room
		else if (header in library_is || header ~ "^bpf/lib")
			other = header
		else if (!(other in room_is) && other != "bpf")
			next
		if (!((room, other) in may))
			print part[1] ":" part[2] ": user/" room " may not include " header
	}' "$scratch/includes"
}

# What a pure object may call: memory, strings, arithmetic, sorting, formatting into memory or into
# a FILE that it was given, and what compilers call on their own. Anything else wants a reason and a
# place here.
common='abort bsearch calloc exit free malloc memchr memcmp memcpy memmem memmove memrchr memset
	qsort qsort_r realloc reallocarray snprintf vsnprintf asprintf vasprintf sscanf stpcpy strcasecmp
	strcat strchr strchrnul strcmp strcpy strcspn strdup strerror strerror_r strlen strncasecmp
	strncmp strncpy strndup strnlen strpbrk strrchr strsep strspn strstr strtod strtok_r strtol
	strtoll strtoul strtoull strncat fnmatch errno_location ctype_b_loc ctype_tolower_loc
	ctype_toupper_loc isalnum isalpha isdigit isprint isspace tolower toupper
	ceil copysign exp fabs floor fmax fmin fmod isnan isinf finite fpclassify signbit ldexp log log10
	log1p log2 lround llround modf nearbyint pow rint round sqrt trunc erf erfc lgamma_r tgamma frexp
	assert_fail stack_chk_fail GLOBAL_OFFSET_TABLE_ bcmp divti3 modti3 udivti3 umodti3 udivmodti4
	multi3 popcountdi2 aarch64_.*'
stream='clearerr fclose feof ferror fflush fgetc fgets fmemopen fprintf fputc fputs fread fseek fseeko
	ftell ftello fwrite fwrite_unlocked getc open_memstream overflow putc rewind uflow ungetc vfprintf getline
	getdelim'

allowed_of()
{
	case $1 in
	base) echo "$common $stream stderr write gmtime_r strftime mallopt malloc_trim madvise sysconf" ;;
	# fcntl: a stream that appends cannot go back to its header, and only its descriptor knows.
	record) echo "$common $stream fileno fcntl json_.* crc32 crc32_z adler32 compress2 compressBound
		uncompress zError deflate deflateBound deflateEnd deflateInit_ deflateInit2_ deflateReset
		inflate inflateEnd inflateInit_ inflateInit2_ inflateReset" ;;
	report) echo "$common open_memstream fclose" ;;
	render) echo "$common $stream json_.*" ;;
	# Files come as descriptors and may be cut short while they are read: pread at chosen places, not mmap.
	# libdw and libdwfl are given memory, never a file or a process. jmp: out of the demangler, which has
	# no other way to stop.
	sym) echo "$common $stream elf_.* elf64_.* elf32_.* gelf_.* dwarf_.* dwfl_.* lzma_.*
		rust_demangle_callback cplus_demangle_v3_callback setjmp longjmp fcntl fcntl64 fstat pread
		pread64 close posix_memalign madvise" ;;
	*) echo "$common" ;;
	esac
}

# Lines of "object symbol": what each object takes from outside its own room's library, with the
# names of fortified, C23 and internal functions of the C library made plain.
taken()
{
	"$NM" -A --defined-only "$@" | awk '{ print $NF }' > "$scratch/own"
	"$NM" -A -u "$@" | awk '
	NR == FNR { own[$1] = 1; next }
	{
		name = $NF
		sub("@.*", "", name)
		if (name in own && name !~ /^log_/)
			next
		sub("^__isoc(99|23)_", "", name)
		if (name ~ /^__.*_chk$/)
			gsub("^__|_chk$", "", name)
		sub("^_+", "", name)
		sub(":.*", "", $1)
		print $1, name
	}' "$scratch/own" - | sort -u
}

# base/mem.c alone ends the program, where memory is out; base/log.c alone speaks to people.
check_speakers()
{
	awk '$1 !~ "/user/base/(mem|log)\\.o$" && $2 ~ /^(stderr|stdout|write|exit|abort|log_.*)$/ {
		print $1 ": only base/mem.c and base/log.c may use " $2
	}' "$scratch/taken"
}

check_symbols()
{
	set --
	for room in base model stat sym record report render; do
		allowed_of "$room" | tr -s ' \t\n' '\n' | sed "s/^/$room /" >> "$scratch/allowed"
		for object in "$build/user/$room"/*.o; do
			# An object whose source is gone is not part of anything.
			source=${object#"$build"/}
			[ -e "${source%.o}.c" ] && set -- "$@" "$object"
		done
	done
	[ $# -gt 0 ] || {
		echo "$build: no pure objects to look at"
		return
	}
	taken "$@" > "$scratch/taken"
	check_speakers
	awk '
	NR == FNR { pattern[$1] = pattern[$1] "|" $2; next }
	{
		room = $1
		sub("/[^/]*$", "", room)
		sub(".*/", "", room)
		if ($2 !~ "^(log_.*" pattern[room] ")$")
			print $1 ": user/" room " may not use " $2
	}' "$scratch/allowed" "$scratch/taken"
}

check_includes > "$scratch/breaches"
[ -z "$build" ] || check_symbols >> "$scratch/breaches"
if [ -s "$scratch/breaches" ]; then
	cat "$scratch/breaches" >&2
	exit 1
fi
