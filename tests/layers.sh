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

# may_know ROOM: the rooms whose headers it may include, itself left out.
may_know()
{
	case $1 in
	base) ;;
	stat | sym) echo base ;;
	model) echo base stat sym bpf ;;
	record) echo base stat sym model bpf ;;
	report) echo base stat sym model bpf ;;
	render) echo base stat sym model record report bpf ;;
	collect) echo base stat sym model bpf ;;
	runtime) echo base stat sym model bpf ;;
	cmd) echo base stat sym model record report render collect runtime bpf ;;
	main) echo base cmd ;;
	*)
		echo "layers.sh: no rule for user/$1" >&2
		exit 1
		;;
	esac
}

# may_include ROOM: the library headers that only some rooms may see.
may_include()
{
	case $1 in
	collect) echo bpf/libbpf.h bpf/bpf.h bpf/btf.h ;;
	sym) echo libelf.h gelf.h elf.h ;;
	record) echo jansson.h zlib.h ;;
	render) echo jansson.h zlib.h ;;
	esac
}

check_include()
{
	file=$1 room=$2 header=$3
	case $header in
	bpf/abi.h | bpf/account.h | bpf/config.h) other=bpf ;;
	bpf/*) other= ;;
	*/*) other=${header%%/*} ;;
	*) other=$room ;;
	esac
	if [ -n "$other" ] && { [ "$other" = bpf ] || [ -d "user/$other" ]; }; then
		case " $room $(may_know "$room") " in
		*" $other "*) ;;
		*) echo "$file: user/$room may not include $header" ;;
		esac
		return
	fi
	case $header in
	bpf/* | libelf.h | gelf.h | jansson.h | zlib.h)
		case " $(may_include "$room") " in
		*" $header "*) ;;
		*) echo "$file: user/$room may not include <$header>" ;;
		esac
		;;
	esac
}

check_includes()
{
	find user -name '*.[ch]' -exec grep -Hn '^[[:space:]]*#[[:space:]]*include' {} + |
		sed -n 's/^\([^:]*:[0-9]*\):[^"<]*["<]\([^">]*\)[">].*/\1 \2/p' > "$scratch/includes"
	while read -r file header; do
		room=${file#user/}
		case $room in
		*/*) room=${room%%/*} ;;
		*) room=main ;;
		esac
		check_include "$file" "$room" "$header"
	done < "$scratch/includes"
}

# What a pure object may call: memory, strings, arithmetic, sorting, formatting into memory or into
# a FILE that it was given. Anything else wants a reason and a place here. 'stderr' is for running
# out of memory alone.
common='abort bsearch calloc exit free malloc memchr memcmp memcpy memmem memmove memrchr memset qsort qsort_r
	realloc reallocarray snprintf vsnprintf asprintf vasprintf sscanf stpcpy strcasecmp strcat strchr
	strchrnul strcmp strcpy strcspn strdup strerror strerror_r strerrorname_np strerrordesc_np strlen
	strncasecmp strncmp strncpy strndup strnlen strpbrk strrchr strsep strspn strstr strtod strtok_r
	strtol strtoll strtoul strtoull strncat fnmatch errno_location ctype_b_loc ctype_tolower_loc
	ctype_toupper_loc isalnum isalpha isdigit isprint isspace tolower toupper iswprint wcwidth mbrtowc
	assert_fail stack_chk_fail GLOBAL_OFFSET_TABLE_ bcmp divti3 modti3 udivti3 umodti3 udivmodti4 multi3
	popcountdi2 aarch64_.*
	ceil copysign exp fabs floor fmax fmin fmod isnan isinf finite fpclassify signbit ldexp log log10
	log1p log2 lround llround modf nearbyint pow rint round sqrt trunc erf erfc lgamma tgamma frexp'
stream='clearerr fclose feof ferror fflush fgetc fgets fmemopen fprintf fputc fputs fread fseek fseeko ftell
	ftello fwrite getc open_memstream overflow putc rewind uflow ungetc vfprintf getline getdelim'

allowed_of()
{
	case $1 in
	base) echo "$common $stream stderr write gmtime_r strftime" ;;
	# fcntl: a stream that appends cannot go back to its header, and only its descriptor knows.
	record) echo "$common $stream fileno fcntl json_.* crc32 crc32_z adler32 compress2 compressBound uncompress zError
		deflate deflateBound deflateEnd deflateInit_ deflateInit2_ deflateReset
		inflate inflateEnd inflateInit_ inflateInit2_ inflateReset" ;;
	report) echo "$common open_memstream fclose" ;;
	render) echo "$common $stream json_.*" ;;
	sym) echo "$common $stream elf_.* elf64_.* elf32_.* gelf_.*" ;;
	*) echo "$common" ;;
	esac
}

# The plain name of a symbol: fortified, C23 and internal spellings of the C library undone.
plain_names()
{
	sed -E 's/^__isoc(99|23)_//; s/^__(.*)_chk$/\1/; s/^_+//'
}

check_symbols()
{
	set --
	for room in base model stat sym record report render; do
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
	"$NM" -A --defined-only "$@" | awk '{ print $NF }' | sort -u > "$scratch/own"
	for object; do
		room=$(basename "$(dirname "$object")")
		allowed_of "$room" | tr -s ' \t\n' '\n' | sed 's/.*/^&$/' > "$scratch/allowed"
		"$NM" -u "$object" | awk '{ print $NF }' | sed 's/@.*//' |
			grep -vxFf "$scratch/own" | plain_names | sort -u |
			grep -vEf "$scratch/allowed" |
			while read -r name; do
				echo "${object#"$build"/}: user/$room may not use $name"
			done
	done
	# base/mem.c alone ends the program, where memory is out; base/log.c alone speaks to people.
	for object; do
		case $object in
		*/user/base/mem.o | */user/base/log.o) continue ;;
		esac
		"$NM" -u "$object" | grep -wE 'stderr|stdout|write|exit|abort|log_[a-z]+' |
			while read -r _ name; do
				echo "${object#"$build"/}: only base/mem.c and base/log.c may use $name"
			done
	done
}

check_includes > "$scratch/breaches"
[ -z "$build" ] || check_symbols >> "$scratch/breaches"
if [ -s "$scratch/breaches" ]; then
	cat "$scratch/breaches" >&2
	exit 1
fi
