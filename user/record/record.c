/* Recordings: a JSON text in a checked and compressed envelope. */
#include "record/record.h"

#include "base/mem.h"
#include "record/decode.h"
#include "record/encode.h"
#include "record/pack.h"

/* Memory that a byte of the text takes, decoded and reported: 12 measured for ten thousand threads. */
#define DECODED_BYTES 16

int record_write(FILE *out, const struct recording *recording, struct diag *diag)
{
	struct packer packer;
	int err;

	packer_init(&packer);
	recording_encode(recording, &packer);
	err = packer_write(&packer, out, diag);
	packer_free_members(&packer);
	return err;
}

int record_read(FILE *in, const char *name, struct recording *ret_recording, struct diag *diag)
{
	struct strbuf plain;
	int err = pack_read(in, name, &plain, diag);

	if (err)
		return err;
	mem_expect(plain.n * DECODED_BYTES);
	err = recording_decode(strbuf_text(&plain), plain.n, name, ret_recording, diag);
	strbuf_free_members(&plain);
	return err;
}
