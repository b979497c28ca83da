/* See fit_fragments.h. Fragments have no names and no lines: an instruction is recognised by its
 * signature. */
#include "fit/fit_fragments.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/vec.h"
#include "fit/fit_inspect.h"
#include "fit/fit_internal.h"
#include "ledger/captured.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_FRAGMENTS_FILE = 16 << 20 };

/* ---- in a child ---- */

/* 0 if it cannot be read. It goes through a file because the compiler may have compressed it. */
static uint64_t signature_of(struct stet_view fragment, const char *folder, size_t number)
{
    struct stet_footprint f;
    struct stet_file file = {0};
    uint64_t signature = 0;
    char path[PATH_MAX];

    stet_fit_inspect_path(path, sizeof path, folder, number, "fragment");
    if (stet_fs_write_unsynced(path, fragment, NULL) != STET_OK ||
        stet_ledger_captured_open(&file, path, 0, NULL) != STET_OK)
        return 0;
    stet_footprint_init(&f);
    if (stet_footprint_read_program(&f, file.bytes, NULL) == STET_OK && f.root)
        signature = f.root->signature;
    stet_footprint_release(&f);
    stet_file_close(&file);
    return signature;
}

static bool generate(const struct stet_fit_phases *p, struct stet_view fragment,
                     struct stet_view environment, struct stet_view options, uint64_t *ns)
{
    const struct stet_view in[] = {fragment, environment};
    struct stet_fit_partials out;
    uint64_t begin = stet_clock_cpu_ns();
    PJRT_Error *error = stet_fit_phases_run(p, STET_FIT_PHASE_LOWER, in, 2, options, &out);

    *ns = stet_clock_cpu_ns() - begin;
    if (error)
        p->api->PJRT_Error_Destroy(&(PJRT_Error_Destroy_Args){
            .struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error});
    else
        stet_fit_phases_release(p, &out);
    return !error;
}

void stet_fit_fragments_measure(const struct stet_fit_phases *p, const struct stet_fit_partials *in,
                                struct stet_view options, const char *folder, size_t number)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_view environment = {0};
    char path[PATH_MAX];
    uint64_t ns;

    for (size_t i = 0; i < in->count; i++) {
        struct stet_fit_partial part = stet_fit_phases_part(in, i);

        if (stet_view_is(part.name, "modified_comp_envs"))
            environment = part.whole;
    }
    for (size_t i = 0; environment.len && i < in->count; i++) {
        struct stet_fit_partial part = stet_fit_phases_part(in, i);

        if (stet_view_is(part.format, "dedup_hlo") &&
            generate(p, part.whole, environment, options, &ns))
            stet_buf_printf(&out, "%016" PRIx64 " %" PRIu64 "\n",
                            signature_of(part.program, folder, number), ns);
    }
    stet_fit_inspect_path(path, sizeof path, folder, number, "fragments");
    if (out.len && !out.failed)
        stet_fs_write_unsynced(path, stet_buf_as_view(&out), NULL);
    stet_buf_release(&out);
}

/* ---- by line ---- */

/* All fragments of one signature, and the instructions that have it. */
struct group {
    uint64_t signature, ns, largest;
    size_t fragments, instructions;
};

static int by_signature(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    return x->signature < y->signature ? -1 : x->signature > y->signature;
}

static struct group *find(struct group *groups, size_t count, uint64_t signature)
{
    const struct group key = {.signature = signature};

    return count ? bsearch(&key, groups, count, sizeof key, by_signature) : NULL;
}

/* Sorts the lines of the file, and puts fragments of one signature together. */
static size_t read_groups(struct stet_view text, struct group *groups, size_t room)
{
    size_t count = 0, kept = 0;
    char *end = (char *)(uintptr_t)text.ptr;

    while (count < room && *end) {
        struct group g = {.signature = strtoull(end, &end, 16), .fragments = 1};

        g.ns = g.largest = strtoull(end, &end, 10);
        while (*end == '\n')
            end++;
        groups[count++] = g;
    }
    if (count)
        qsort(groups, count, sizeof *groups, by_signature);
    for (size_t i = 0; i < count; i++) {
        struct group *last = kept ? &groups[kept - 1] : NULL;

        if (!last || last->signature != groups[i].signature) {
            groups[kept++] = groups[i];
            continue;
        }
        last->ns += groups[i].ns;
        last->fragments++;
        if (groups[i].ns > last->largest)
            last->largest = groups[i].ns;
    }
    return kept;
}

/* As STET_VEC, with a name. */
struct costs {
    struct stet_fit_cost *items;
    size_t count, room, cap;
    bool failed;
};

static struct stet_fit_cost *cost_of(struct costs *v, struct stet_view file, uint32_t line)
{
    struct stet_fit_cost *c;

    for (size_t i = 0; i < v->count; i++) {
        if (v->items[i].line == line && stet_view_eq(v->items[i].file, file))
            return &v->items[i];
    }
    c = STET_VEC_ADD(v);
    if (c)
        *c = (struct stet_fit_cost){.file = file, .line = line};
    return c;
}

/* Instructions that share a signature share its time evenly: which fragment is whose is not known.
 */
static void charge(struct costs *v, const struct stet_footprint_instruction *i,
                   const struct group *g)
{
    struct stet_fit_cost *c = cost_of(v, i->line ? i->file : (struct stet_view){0}, i->line);
    uint64_t share = g->ns / g->instructions;

    if (!c)
        return;
    c->ns += share;
    c->alike_ns += (g->ns - g->largest) / g->instructions;
    c->instructions++;
    if (share < c->largest)
        return;
    c->largest = share;
    c->op_name = i->op_name;
    c->opcode = i->opcode;
    c->function = i->function;
}

int stet_fit_costlier_first(const void *a, const void *b)
{
    const struct stet_fit_cost *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void spread(struct costs *v, const struct stet_footprint *f, struct group *groups,
                   size_t count)
{
    for (size_t i = 0; i < f->instruction_count; i++) {
        struct group *g = find(groups, count, f->instructions[i].signature);

        if (g && f->instructions[i].signature)
            g->instructions++;
    }
    for (size_t i = 0; i < f->instruction_count; i++) {
        const struct group *g = find(groups, count, f->instructions[i].signature);

        if (g && g->instructions && f->instructions[i].signature)
            charge(v, &f->instructions[i], g);
    }
    for (size_t i = 0; i < count; i++) {
        struct stet_fit_cost *c =
            groups[i].instructions ? NULL : cost_of(v, (struct stet_view){0}, 0);

        if (c)
            c->ns += groups[i].ns;
    }
}

enum stet_rc stet_fit_fragments_read(struct stet_fit *fit, struct stet_fit_program *p,
                                     size_t number, struct stet_err *err)
{
    struct costs v = {0};
    struct stet_file f = {0};
    struct group *groups = NULL;
    struct stet_view text;
    char path[PATH_MAX];
    size_t count = 0;

    stet_fit_inspect_path(path, sizeof path, fit->work, number, "fragments");
    if (!p->read || stet_file_open_small(&f, path, MOST_FRAGMENTS_FILE, NULL) != STET_OK)
        return STET_OK;
    text = stet_arena_copy(&fit->arena, f.bytes); /* with a NUL behind it */
    stet_file_close(&f);
    groups = text.ptr ? stet_mem_calloc(text.len / 2 + 1, sizeof *groups) : NULL;
    if (groups) {
        count = read_groups(text, groups, text.len / 2 + 1);
        spread(&v, &p->footprint, groups, count);
    }
    for (size_t i = 0; i < count; i++) {
        p->fragments += groups[i].fragments;
        p->fragments_ns += groups[i].ns;
    }
    if (v.count)
        qsort(v.items, v.count, sizeof *v.items, stet_fit_costlier_first);
    p->cost_count = v.count;
    p->costs = stet_arena_adopt(&fit->arena, v.items, v.count, sizeof *v.items);
    if (!groups || v.failed || (v.count && !p->costs)) {
        p->cost_count = 0;
        stet_mem_free(groups);
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the costs of a program");
    }
    stet_mem_free(groups);
    return STET_OK;
}
