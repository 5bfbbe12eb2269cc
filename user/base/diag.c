/* An error for people. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

void diag_what(struct diag *diag, const char *fmt, ...)
{
	va_list args;

	if (!diag)
		return;
	diag->hint[0] = '\0';
	va_start(args, fmt);
	vsnprintf(diag->what, sizeof(diag->what), fmt, args);
	va_end(args);
}

void diag_advise(struct diag *diag, const char *fmt, ...)
{
	va_list args;

	if (!diag)
		return;
	va_start(args, fmt);
	vsnprintf(diag->hint, sizeof(diag->hint), fmt, args);
	va_end(args);
}
