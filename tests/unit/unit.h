/* What every unit test includes first: cmocka wants these four before it. */
#ifndef WAKEWHY_TESTS_UNIT_H
#define WAKEWHY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
