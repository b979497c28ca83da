/* HLO text: reading ends in a program or an error with line and column; what is printed of a
 * program reads back and prints the same. */
#include "fuzz.h"

#include "base/buf.h"
#include "decode/decode.h"
#include "legalize/hlo_to_stablehlo.h"
#include "program/hlo.h"

#include <string.h>

static void round_trip(const struct stet_program *p)
{
    struct stet_hlo_print how = stet_hlo_print_long;
    struct stet_buf a = {.cap = 16 << 20}, b = {.cap = 16 << 20};
    struct stet_err err = STET_ERR_INIT;
    struct stet_program q;

    how.large_constants = true;
    how.frame_ids = false;
    if (stet_print_hlo(p, &how, &a, NULL) != STET_OK) {
        stet_buf_release(&a);
        return;
    }
    if (stet_decode_hlo_text(&q, stet_buf_as_view(&a), &err) != STET_OK) {
        fprintf(stderr, "%s\n%s\n", err.text, a.ptr);
        CHECK(err.rc == STET_OK);
    }
    CHECK(stet_print_hlo(&q, &how, &b, NULL) == STET_OK);
    if (!stet_view_eq(stet_buf_as_view(&a), stet_buf_as_view(&b)))
        fprintf(stderr, "%s\n----\n%s\n", a.ptr, b.ptr);
    CHECK(stet_view_eq(stet_buf_as_view(&a), stet_buf_as_view(&b)));
    stet_program_release(&q);
    stet_buf_release(&a);
    stet_buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p, q;

    if (stet_decode_hlo_text(&p, stet_view_of(data, size), &err) == STET_OK) {
        round_trip(&p);
        if (stet_legalize_hlo(&q, &p, NULL) == STET_OK)
            stet_program_release(&q);
        stet_program_release(&p);
    } else {
        CHECK(err.rc != STET_OK && err.text[0]);
        CHECK(err.offset == STET_NO_OFFSET || (err.offset <= size && strstr(err.text, "column")));
    }
    return 0;
}
