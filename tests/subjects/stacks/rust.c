/* chain → four functions under the names that rustc gives: two in its older way, two in its newer one. */
#include "call.h"
#include "known.h"

void legacy_outer(uint64_t ns) __asm__("_ZN7subject5outer17h0123456789abcdefE");
void legacy_impl(uint64_t ns) __asm__(
	"_ZN65_$LT$subject..Timer$u20$as$u20$core..future..Future$LT$u8$GT$$GT$4poll17hfedcba9876543210E");
void modern_outer(uint64_t ns) __asm__("_RNvNtCs1234_7subject5sleep5outer");
void modern_inner(uint64_t ns) __asm__("_RNvMNtCs1234_7subject5sleepNtB2_5Timer5sleep");

KNOWN void modern_inner(uint64_t ns)
{
	call_sleep(ns);
	KNOWN_END();
}

KNOWN void modern_outer(uint64_t ns)
{
	modern_inner(ns);
	KNOWN_END();
}

KNOWN void legacy_impl(uint64_t ns)
{
	modern_outer(ns);
	KNOWN_END();
}

KNOWN void legacy_outer(uint64_t ns)
{
	legacy_impl(ns);
	KNOWN_END();
}

KNOWN void chain(uint64_t ns)
{
	legacy_outer(ns);
	KNOWN_END();
}
