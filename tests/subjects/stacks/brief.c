/* brief: main → brief_outer → brief_sleep, 20 ms, and it is gone. */
#include "call.h"
#include "known.h"

void brief_outer(void), brief_sleep(void);

KNOWN void brief_sleep(void)
{
	call_sleep(20000000);
	KNOWN_END();
}

KNOWN void brief_outer(void)
{
	brief_sleep();
	KNOWN_END();
}

int main(void)
{
	brief_outer();
	return 0;
}
