/* See reading.h. */
#include "intercept/reading.h"

#include "abi/api.h"
#include "base/mem.h"
#include "decode/decode.h"
#include "intercept/local.h"

void stet_intercept_reading_init(struct stet_reading *r, const PJRT_Program *program, bool own)
{
    *r = (struct stet_reading){0};
    if (!program || !STET_HAS(program, format_size) || !program->code)
        return;
    r->bytes = stet_view_of(program->code, program->code_size);
    r->own = own ? stet_mem_alloc(r->bytes.len) : NULL;
    if (!r->own)
        return;
    memcpy(r->own, r->bytes.ptr, r->bytes.len);
    r->bytes.ptr = r->own;
}

void stet_intercept_reading_release(struct stet_reading *r)
{
    stet_program_release(&r->program);
    stet_mem_free(r->own);
    *r = (struct stet_reading){0};
}

const struct stet_program *stet_intercept_reading_program(struct stet_reading *r)
{
    if (!r->decoded && !r->undecodable) {
        r->decoded = r->bytes.ptr && stet_decode(&r->program, r->bytes, NULL) == STET_OK;
        r->undecodable = !r->decoded;
        if (!r->decoded)
            r->program = (struct stet_program){0};
    }
    return r->decoded ? &r->program : NULL;
}

const struct stet_fingerprint *stet_intercept_reading_print(struct stet_reading *r)
{
    const struct stet_program *program = stet_intercept_reading_program(r);

    if (!r->printed)
        r->printed = program && stet_fingerprint_make(&r->print, program, (struct stet_view){0},
                                                      NULL) == STET_OK;
    return r->printed ? &r->print : NULL;
}

bool stet_intercept_reading_is_local(struct stet_reading *r)
{
    const struct stet_program *program = stet_intercept_reading_program(r);

    if (program && !r->examined)
        r->local = stet_intercept_program_is_local(program);
    r->examined = true;
    return r->local;
}
