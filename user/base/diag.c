/* An error for people. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

int diag_set(struct diag *diag, int err, const char *fmt, ...)
{
	va_list args;

	if (!diag)
		return err;
	diag->hint[0] = '\0';
	va_start(args, fmt);
	vsnprintf(diag->what, sizeof(diag->what), fmt, args);
	va_end(args);
	return err;
}

int diag_hint(struct diag *diag, int err, const char *fmt, ...)
{
	va_list args;

	if (!diag)
		return err;
	va_start(args, fmt);
	vsnprintf(diag->hint, sizeof(diag->hint), fmt, args);
	va_end(args);
	return err;
}
