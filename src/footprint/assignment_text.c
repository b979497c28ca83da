/* Reads the assignment of buffers as XLA prints it with xla_dump_to, for compilers that give it in
 * no other way:
 *
 *     allocation 15: size 81952, page 0, preallocated-temp:
 *      value: <96 multiply_reduce_fusion{0} @0> (size=512,offset=0): f32[]{:T(128)}
 *
 * It does not say when a buffer is in use. Another file does:
 *
 *       Live ranges at 12 (peak):
 *         gemm_fusion_dot.5{}: 32768 bytes (cumulative: 32768 bytes) */
#include "footprint/footprint.h"

#include "base/mem.h"
#include "base/vec.h"
#include "footprint/footprint_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 4096 };

struct reading {
    struct stet_footprint *f;
    STET_VEC(struct stet_footprint_value) values;
    bool temporary; /* the allocation that values belong to */
};

/* The number behind `name`; false if the line does not have it. */
static bool number_after(const char *line, const char *name, uint64_t *out)
{
    const char *at = strstr(line, name);

    if (!at)
        return false;
    *out = strtoull(at + strlen(name), NULL, 10);
    return true;
}

static void take_allocation(struct reading *r, const char *line)
{
    struct stet_footprint_memory *m = &r->f->memory;
    bool parameter = strstr(line, ", parameter ") != NULL;
    bool live_out = strstr(line, "maybe-live-out") != NULL;
    uint64_t size = 0, color = 0;

    number_after(line, ": size ", &size);
    number_after(line, ", color ", &color);
    r->temporary = false;
    if (color != 0 || strstr(line, "thread-local"))
        return;
    if (parameter)
        stet_footprint_add(&m->arguments, size);
    if (parameter && live_out)
        stet_footprint_add(&m->aliased, size);
    if (live_out)
        stet_footprint_add(&m->outputs, size);
    r->temporary = !parameter && !live_out && !strstr(line, "constant");
    if (r->temporary)
        stet_footprint_add(&m->temporaries, size);
}

static void take_value(struct reading *r, const char *line)
{
    const char *open = strchr(line, '<'), *name = open ? strchr(open, ' ') : NULL;
    const char *end = name ? strpbrk(name + 1, "{ ") : NULL;
    struct stet_footprint_value v = {.temporary = true};

    if (!r->temporary || !end || !number_after(line, "(size=", &v.size))
        return;
    v.id = strtoull(open + 1, NULL, 10);
    v.name = stet_arena_copy(&r->f->arena, stet_view_of(name + 1, (size_t)(end - name) - 1));
    STET_VEC_PUSH(&r->values, v);
}

static enum stet_rc keep(struct reading *r, struct stet_err *err)
{
    const struct stet_footprint_value **list =
        stet_mem_calloc(r->values.count + 1, sizeof(struct stet_footprint_value *));
    enum stet_rc rc;

    if (!list || r->values.failed) {
        stet_mem_free(list);
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the buffers of a program");
    }
    for (size_t i = 0; i < r->values.count; i++)
        list[i] = &r->values.items[i];
    rc = stet_footprint_keep_buffers(r->f, list, r->values.count, err);
    stet_mem_free(list);
    return rc;
}

/* Takes the next line, or the beginning of a long one; false at the end. */
static bool next_line(struct stet_view *text, char line[MOST_LINE])
{
    const char *newline = text->len ? memchr(text->ptr, '\n', text->len) : NULL;
    size_t n = newline ? (size_t)(newline - text->ptr) : text->len;
    size_t kept = n < MOST_LINE ? n : MOST_LINE - 1;

    if (!text->len)
        return false;
    memcpy(line, text->ptr, kept);
    line[kept] = '\0';
    n += newline != NULL;
    *text = stet_view_of(text->ptr + n, text->len - n);
    return true;
}

enum stet_rc stet_footprint_read_dump(struct stet_footprint *f, struct stet_view text,
                                      struct stet_err *err)
{
    struct reading r = {.f = f};
    char line[MOST_LINE];
    bool any = false;
    enum stet_rc rc;

    f->memory = (struct stet_footprint_memory){.code = f->memory.code};
    while (next_line(&text, line)) {
        if (!strncmp(line, "allocation ", 11)) {
            take_allocation(&r, line);
            any = true;
        } else if (!strncmp(line, " value: <", 9)) {
            take_value(&r, line);
        }
    }
    rc = any ? keep(&r, err)
             : stet_fail(err, STET_BAD_INPUT, "the compiler's dump lists no allocations");
    STET_VEC_RELEASE(&r.values);
    return rc;
}

/* The instructions whose values are in use at the peak. False if the text does not have it. */
static bool read_peak(struct stet_view text, struct stet_map *live)
{
    char line[MOST_LINE];
    bool at_peak = false;

    while (next_line(&text, line)) {
        const char *name = line + strspn(line, " "), *end = strchr(name, '{');

        if (!strncmp(name, "Live ranges at ", 15) && strstr(name, "(peak)"))
            at_peak = true;
        else if (at_peak && (!end || !strstr(end, " bytes (")))
            break;
        else if (at_peak)
            stet_map_put(live, stet_map_text(stet_view_of(name, (size_t)(end - name))), 1);
    }
    return at_peak;
}

enum stet_rc stet_footprint_read_live(struct stet_footprint *f, struct stet_view text,
                                      struct stet_err *err)
{
    struct stet_map live = {0};
    bool found = read_peak(text, &live), failed = live.failed;
    size_t kept = 0;

    for (size_t i = 0; found && !failed && i < f->buffer_count; i++) {
        const struct stet_footprint_instruction *by = f->buffers[i].made_by;

        if (!by || stet_map_get(&live, stet_map_text(by->name)) == STET_MAP_NONE)
            continue;
        f->buffers[kept++] = f->buffers[i];
        stet_footprint_add(&f->peak, f->buffers[i].size);
    }
    stet_map_release(&live);
    if (failed)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the buffers of a program");
    if (!found)
        return stet_fail(err, STET_BAD_INPUT, "the compiler's dump does not say what is in use");
    f->buffer_count = kept;
    f->timed = true;
    return STET_OK;
}
