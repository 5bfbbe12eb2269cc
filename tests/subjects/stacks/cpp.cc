// chain → known::inner::Sleeper::overloaded(unsigned int) → … (unsigned int, long) → a template of it, in C++.
#include "call.h"
#include "known.h"

namespace known {
namespace inner {

template <typename First, typename Second> struct Pair {
	First first;
	Second second;
};

template <typename Time> KNOWN void asleep(const Pair<Time, int> &time)
{
	call_sleep(time.first);
	KNOWN_END();
}

struct Sleeper {
	KNOWN void overloaded(uint64_t ns, long more) const
	{
		asleep(Pair<uint64_t, int>{ns, static_cast<int>(more)});
		KNOWN_END();
	}
	KNOWN void overloaded(uint64_t ns) const
	{
		overloaded(ns, 1L);
		KNOWN_END();
	}
	KNOWN const Sleeper &operator<<(uint64_t ns) const
	{
		overloaded(ns);
		KNOWN_END();
		return *this;
	}
};

} // namespace inner

namespace {
KNOWN void hidden(uint64_t ns)
{
	inner::Sleeper() << ns;
	KNOWN_END();
}
} // namespace
} // namespace known

KNOWN void chain(uint64_t ns)
{
	known::hidden(ns);
	KNOWN_END();
}
