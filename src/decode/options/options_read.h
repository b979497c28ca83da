/* Shared by options_read.c, which reads the fields of compile options, and options.c, which orders
 * them. */
#ifndef STET_DECODE_OPTIONS_READ_H
#define STET_DECODE_OPTIONS_READ_H

#include "decode/hlo/hlo_proto.h"
#include "decode/options.h"

/* One of the canonical form, "3.3.31=2\n". */
struct stet_options_line {
    uint64_t begin; /* of its code, to compare by: few need more */
    const char *text;
    size_t code, len;
    size_t order; /* lines of one code keep the order of the input, which matters for a repeated
                   * field */
};

struct stet_options_reader {
    struct stet_hlo_reader hlo; /* arena, fault, scratch; shapes are HLO's */
    struct stet_program holder; /* owns the arena while reading */
    struct stet_options_item *items;
    struct stet_options_line *lines;
    size_t count, room, line_count, line_room;
    bool brief;             /* only lines: no paths and no printed values */
    struct stet_buf *files; /* names and values of options that name files, instead of their lines;
                             * NULL: their lines are written as for
                             * others */
};

/* Reads every field of a CompileOptionsProto, as lines and (unless brief) as items, in the order of
 * the input. Faults stay in r->hlo; the caller frees items and lines with stet_mem_free. */
void stet_options_read(struct stet_options_reader *r, struct stet_view bytes);

#endif
