/* Recordings with nonsense in them that the reader cannot see go through everything behind it. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/decode.h"
#include "record/encode.h"
#include "record/pack.h"
#include "render/render.h"
#include "report/report.h"
#include "sample.h"

#define ROUNDS 400

static uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

/* The sample as the JSON text inside a recording. */
static struct strbuf sample_text(void)
{
	struct recording recording;
	struct packer packer;
	struct strbuf plain;
	char *bytes;
	size_t n;
	FILE *file = open_memstream(&bytes, &n);

	sample_recording(&recording);
	packer_init(&packer);
	recording_encode(&recording, &packer);
	assert_int_equal(packer_write(&packer, file, NULL), 0);
	packer_free_members(&packer);
	recording_free_members(&recording);
	fclose(file);
	file = fmemopen(bytes, n, "rb");
	assert_int_equal(pack_read(file, "x", &plain, NULL), 0);
	fclose(file);
	free(bytes);
	return plain;
}

/* What an attacker would write where a number stands, and letters where letters stand. */
static void damage(struct strbuf *text, uint32_t *random)
{
	static const char *const numbers[] = {
		"0",	      "1",  "9223372036854775807",  "\"18446744073709551615\"",
		"4294967295", "-1", "-9223372036854775808", "2147483647"};
	size_t at = next_random(random) % text->n, end;
	const char *number = numbers[next_random(random) % 8];
	struct strbuf damaged = {};

	/* The next number, whole; JSON stays JSON. */
	while (at < text->n && !strchr(",[:", text->text[at]))
		at++;
	at += at < text->n;
	for (end = at; end < text->n && strchr("0123456789.-", text->text[end]);)
		end++;
	if (end == at) {
		if (at < text->n && text->text[at] >= 'a' && text->text[at] < 'z')
			text->text[at]++;
		return;
	}
	strbuf_add_bytes(&damaged, text->text, at);
	strbuf_add(&damaged, number);
	strbuf_add_bytes(&damaged, text->text + end, text->n - end);
	strbuf_free_members(text);
	*text = damaged;
}

static void render_all(const struct recording *recording)
{
	const struct render_style style = {.width = 80};
	struct report_options options = {.max_threads = 10};
	struct result result;
	struct report report = {};

	result_init(&result, recording);
	report_build(&report, &result, &options);
	for (const struct format *format = formats; format->name; format++) {
		struct diag diag;
		char *bytes = NULL;
		size_t n = 0;
		FILE *out = open_memstream(&bytes, &n);

		assert_int_equal(format->render(out, &result, &report, &style, &diag), 0);
		fclose(out);
		/* Nothing is all that a folded file can say where there are no stacks. */
		assert_true(n > 0 || !strncmp(format->name, "folded", 6));
		if (!format->binary)
			assert_null(memchr(bytes, '\x1b', n));
		free(bytes);
	}
	report_free_members(&report);
	result_free_members(&result);
}

static void nonsense_is_rendered_without_harm(void **state)
{
	struct strbuf sound = sample_text();
	uint32_t random = 88172645;
	size_t rendered = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct recording recording;
		struct strbuf text = {};
		struct diag diag;

		strbuf_add_bytes(&text, sound.text, sound.n);
		for (uint32_t n = next_random(&random) % 6 + 1; n > 0; n--)
			damage(&text, &random);
		if (recording_decode(text.text, text.n, "x", &recording, &diag) == 0) {
			render_all(&recording);
			recording_free_members(&recording);
			rendered++;
		}
		strbuf_free_members(&text);
	}
	assert_true(rendered > ROUNDS / 4);
	strbuf_free_members(&sound);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nonsense_is_rendered_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
