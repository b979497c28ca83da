/* Collectives: their kinds, the devices of a group, the bytes that they move. */
#include "footprint/footprint_internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[STET_COLLECTIVES] = {
#define COLLECTIVE(identifier, opcode) [STET_##identifier] = opcode,
#include "footprint/collectives.def"
#undef COLLECTIVE
};

const char *stet_footprint_collective_name(enum stet_collective c)
{
    return names[c];
}

static bool is_start(struct stet_view opcode, const char *name)
{
    size_t n = strlen(name);

    return opcode.len == n + 6 && !memcmp(opcode.ptr, name, n) &&
           !memcmp(opcode.ptr + n, "-start", 6);
}

enum stet_collective stet_footprint_collective(const struct stet_op *op)
{
    struct stet_view opcode = stet_footprint_opcode(op);

    for (int i = 0; i < STET_COLLECTIVES; i++) {
        if (stet_view_is(opcode, names[i]) || is_start(opcode, names[i]))
            return (enum stet_collective)i;
    }
    return STET_COLLECTIVES;
}

/* ---- the devices of a group ---- */

/* "[2,4]<=[8]" and "[2,4]<=[4,2]T(1,0)": two groups of four. */
static double iota_group(struct stet_view text)
{
    const char *comma = memchr(text.ptr, ',', text.len);
    const char *close = memchr(text.ptr, ']', text.len);

    return comma && close && comma < close ? strtod(comma + 1, NULL) : 0;
}

/* "mesh['x'=4,'y'=2] {'y'}": the axes in the braces. */
static double mesh_group(struct stet_view text)
{
    const char *brace = memchr(text.ptr, '{', text.len), *end = text.ptr + text.len;
    double n = 1;

    for (const char *at = brace; at && at < end;) {
        const char *open = memchr(at, '\'', (size_t)(end - at));
        const char *close = open ? memchr(open + 1, '\'', (size_t)(end - open) - 1) : NULL;
        size_t len;
        const char *size;

        if (!close)
            break;
        len = (size_t)(close - open) + 1; /* with its quotes */
        size = memmem(text.ptr, (size_t)(brace - text.ptr), open, len);
        if (!size || size[len] != '=')
            return 0;
        n *= strtod(size + len + 1, NULL);
        at = close + 1;
    }
    return brace ? n : 0;
}

/* 0 when it is not known. */
static double group_size(const struct stet_op *op)
{
    const struct stet_attr *a = stet_op_attr(op, "replica_groups");
    char copy[512];
    struct stet_view text;

    if (!a)
        return 0;
    if (a->kind == STET_ATTR_ARRAY)
        return a->count && a->items[0]->kind == STET_ATTR_INTS ? (double)a->items[0]->count : 0;
    text = stet_attr_text(a);
    if (!text.len || text.len >= sizeof copy)
        return 0;
    memcpy(copy, text.ptr, text.len); /* strtod needs an end */
    copy[text.len] = '\0';
    text.ptr = copy;
    if (stet_view_starts(text, "mesh["))
        return mesh_group(text);
    return *text.ptr == '[' ? iota_group(text) : 0;
}

/* ---- bytes ---- */

/* The result of an asynchronous start is (operands, results, …). */
static double result_bytes(const struct stet_op *op)
{
    const struct stet_type *t = op->results[0].type;
    bool start = stet_view_ends(stet_footprint_opcode(op), "-start");

    if (start && t && t->kind == STET_TYPE_TUPLE && t->member_count > 1 &&
        op->known != STET_HLO_ALL_REDUCE_START)
        return stet_footprint_bytes(t->members[1], true);
    return stet_footprint_bytes(t, true);
}

/* The part of the payload that a device must send: a ring of n devices passes on (n-1)/n of it, and
 * an all-reduce does so twice. */
static double sent(enum stet_collective c, double payload, double devices)
{
    double part = devices > 1 ? (devices - 1) / devices : devices == 1 ? 0 : 1;

    if (c == STET_COLLECTIVE_PERMUTE || c == STET_COLLECTIVE_BROADCAST)
        return payload;
    return payload * part * (c == STET_ALL_REDUCE ? 2 : 1);
}

void stet_footprint_count_collective(struct stet_footprint_traffic *t, const struct stet_op *op,
                                     double times)
{
    enum stet_collective c = stet_footprint_collective(op);
    double in = 0, out = result_bytes(op), payload;

    for (uint32_t i = 0; i < op->operand_count; i++)
        in += stet_footprint_bytes(stet_op_operand(op, i)->type, true);
    payload = in > out ? in : out;
    t[c].sites++;
    t[c].times += times;
    t[c].payload += times * payload;
    t[c].wire += times * sent(c, payload, group_size(op));
}
