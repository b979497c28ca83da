/* What compilers say about a program: the optimized program, its buffers as bytes and as text, what
 * is in use at the peak, and messages about exhausted memory. The first byte selects the reader;
 * each ends in an answer or an error. */
#include "fuzz.h"

#include "decode/decode.h"
#include "fit/fit_ablate.h"
#include "fit/fit_blocks.h"
#include "footprint/footprint.h"
#include "footprint/out_of_memory.h"

static const char text[] = "HloModule m\n\nENTRY %main (a: f32[16], b: f32[8]) -> f32[16] {\n"
                           "  %a = f32[16]{0} parameter(0)\n  %b = f32[8]{0} parameter(1)\n"
                           "  %n = f32[8]{0} negate(%b)\n  %d = f32[16]{0} negate(%a)\n"
                           "  ROOT %r = f32[16]{0} negate(%d)\n}\n";

static void check_memory(const struct stet_footprint *f)
{
    uint64_t largest = UINT64_MAX;

    CHECK(stet_footprint_total(&f->memory) >= f->memory.temporaries);
    CHECK(stet_footprint_total(&f->memory) <= 5 * STET_FOOTPRINT_MOST);
    for (size_t i = 0; i < f->buffer_count; i++) {
        CHECK(f->buffers[i].size <= largest); /* the largest first */
        largest = f->buffers[i].size;
    }
}

/* A program without operations of one kind is a program, and has these operations no more. */
static void leave_out(struct stet_view bytes)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_fit_blocks blocks;
    struct stet_program p, again;

    if (stet_decode(&p, bytes, NULL) != STET_OK)
        return;
    if (stet_fit_blocks_find(&blocks, &p, NULL) == STET_OK &&
        stet_fit_ablate(&out, &p, blocks.copy, NULL) == STET_OK &&
        stet_decode(&again, stet_buf_as_view(&out), NULL) == STET_OK) {
        CHECK(again.op_count <= p.op_count);
        stet_program_release(&again);
    }
    stet_fit_blocks_release(&blocks);
    stet_buf_release(&out);
    stet_program_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_view bytes = stet_view_of(data + 1, size ? size - 1 : 0);
    struct stet_err err = STET_ERR_INIT;
    struct stet_footprint f;
    struct stet_oom oom;
    enum stet_rc rc = STET_OK;

    if (!size)
        return 0;
    stet_footprint_init(&f);
    if (data[0] != 'p')
        CHECK(stet_footprint_read_program(&f, stet_view_str(text), NULL) == STET_OK);
    switch (data[0]) {
    case 'p':
        rc = stet_footprint_read_program(&f, bytes, &err);
        break;
    case 'b':
        rc = stet_footprint_read_assignment(&f, bytes, &err);
        break;
    case 'd':
        rc = stet_footprint_read_dump(&f, bytes, &err);
        if (rc == STET_OK)
            stet_footprint_read_live(&f, bytes, NULL);
        break;
    case 'l':
        leave_out(bytes);
        break;
    default:
        stet_oom_read(&oom, bytes);
        CHECK(oom.buffer_count <= STET_OOM_BUFFERS);
    }
    CHECK(rc == STET_OK || (err.rc != STET_OK && err.text[0]));
    if (rc == STET_OK)
        check_memory(&f);
    stet_footprint_release(&f);
    return 0;
}
