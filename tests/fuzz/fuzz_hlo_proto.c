/* HLO protos: whatever the bytes, reading ends in a program or an error; a program can be printed
 * and brought over to StableHLO. */
#include "fuzz.h"

#include "base/buf.h"
#include "decode/decode.h"
#include "legalize/hlo_to_stablehlo.h"
#include "program/hlo.h"
#include "program/print.h"

static void use(const struct stet_program *p)
{
    struct stet_buf out = {.cap = 16 << 20};
    struct stet_program q;

    stet_print_hlo(p, &stet_hlo_print_long, &out, NULL);
    if (stet_legalize_hlo(&q, p, NULL) == STET_OK) {
        out.len = 0;
        stet_print_program(&out, &q, NULL, NULL);
        stet_program_release(&q);
    }
    stet_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p;

    if (stet_decode_hlo_proto(&p, stet_view_of(data, size), &err) == STET_OK) {
        CHECK(p.module && p.entry);
        CHECK(p.arena.used <= (64 * size) + (2 << 20));
        use(&p);
        stet_program_release(&p);
    } else {
        CHECK(err.rc != STET_OK && err.text[0]);
        CHECK(err.offset == STET_NO_OFFSET || err.offset <= size);
    }
    return 0;
}
