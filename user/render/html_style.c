/* The style sheet of the page, as a string. */
#include "render/html.h"

const char html_style[] = {
#include "page_css.h"
	0};
