/* See exhausted.h. */
#include "session/exhausted.h"

#include "base/known.h"
#include "base/vec.h"
#include "decode/decode.h"
#include "ledger/captured.h"
#include "program/hlo.h"
#include "program/print.h"
#include "session/exhausted_program.h"

/* ---- the programs ---- */

struct opened {
    struct stet_file file;
    struct stet_program program;
    bool open;
};

static bool open_program(struct opened *o, const char *folder, struct stet_hash hash)
{
    *o = (struct opened){.open = false};
    if (stet_ledger_captured_program(&o->file, folder, hash, NULL) != STET_OK)
        return false;
    o->open = stet_decode(&o->program, o->file.bytes, NULL) == STET_OK;
    if (!o->open)
        stet_file_close(&o->file);
    return o->open;
}

static void close_program(struct opened *o)
{
    if (!o->open)
        return;
    stet_program_release(&o->program);
    stet_file_close(&o->file);
    o->open = false;
}

static struct stet_view type_text(struct stet_arena *a, const struct stet_type *t)
{
    struct stet_buf b = STET_BUF_INIT;
    struct stet_view v = {0};

    if (t)
        stet_print_hlo_type(&b, t, false);
    if (!b.failed)
        v = stet_arena_copy(a, stet_buf_as_view(&b));
    stet_buf_release(&b);
    return v;
}

/* ---- what changed ---- */

static void compare(struct stet_exhausted *e, struct stet_arena *a, const struct stet_program *now,
                    const struct stet_program *before)
{
    STET_KNOWN(before->arguments || !before->argument_count);
    for (uint32_t i = 0; i < now->argument_count; i++) {
        const struct stet_argument *x = &now->arguments[i], *y = NULL;

        for (uint32_t k = 0; k < before->argument_count && !y; k++) {
            if (x->name.len ? stet_view_eq(before->arguments[k].name, x->name) : k == i)
                y = &before->arguments[k];
        }
        if (!x->value || (y && y->value && stet_type_eq(x->value->type, y->value->type)))
            continue;
        if (e->change_count == STET_EXHAUSTED_CHANGES) {
            e->more_changes++;
            continue;
        }
        e->changes[e->change_count++] = (struct stet_exhausted_change){
            .argument = stet_arena_copy(a, x->name),
            .from = y && y->value ? type_text(a, y->value->type) : (struct stet_view){0},
            .to = type_text(a, x->value->type)};
    }
}

/* ---- lines ---- */

/* Of the message, where it lists buffers. */
static void told_lines(struct stet_exhausted *e)
{
    for (uint32_t i = 0; i < e->oom.buffer_count; i++) {
        const struct stet_oom_buffer *b = &e->oom.buffers[i];
        struct stet_exhausted_line *at = NULL;

        for (size_t k = 0; k < e->line_count && !at; k++) {
            if (b->line && e->lines[k].line == b->line && stet_view_eq(e->lines[k].file, b->file))
                at = &e->lines[k];
        }
        if (!at && e->line_count < STET_EXHAUSTED_LINES) {
            at = &e->lines[e->line_count++];
            *at = (struct stet_exhausted_line){.file = b->file,
                                               .line = b->line,
                                               .shape = b->shape,
                                               .operation = b->argument ? STET_VIEW("argument")
                                                                        : b->op_name};
        }
        if (at) {
            at->bytes += b->size;
            at->count++;
        }
    }
}

static void program_lines(struct stet_exhausted *e, struct stet_arena *a,
                          const struct stet_program *p)
{
    struct stet_remedy_line lines[STET_EXHAUSTED_LINES];

    e->line_count = stet_remedy_lines(p, lines, STET_EXHAUSTED_LINES);
    e->whole = true;
    for (size_t i = 0; i < e->line_count; i++)
        e->lines[i] =
            (struct stet_exhausted_line){.file = stet_arena_copy(a, lines[i].file),
                                         .line = lines[i].line,
                                         .operation = stet_arena_copy(a, lines[i].operation),
                                         .shape = type_text(a, lines[i].type),
                                         .count = lines[i].count,
                                         .bytes = lines[i].bytes};
}

/* ---- one of them ---- */

static void advise(struct stet_exhausted *e, struct stet_arena *a, const struct stet_program *p,
                   uint32_t devices, uint64_t known)
{
    uint64_t temporaries = e->oom.temporaries;

    if (!temporaries && e->oom.kind == STET_OOM_PROGRAM && e->oom.needed > e->oom.arguments)
        temporaries = e->oom.needed - e->oom.arguments;
    e->advice_count = stet_remedy_make(p, devices, temporaries ? temporaries : known, e->advice);
    for (size_t i = 0; i < e->advice_count; i++) { /* the program is closed soon */
        e->advice[i].name = stet_arena_copy(a, e->advice[i].name);
        e->advice[i].file = stet_arena_copy(a, e->advice[i].file);
    }
}

/* Where the message does not say how much there is, the options of the compile may. What is needed
 * is one allocation, so at least the rest is missing. */
static void take_limit(struct stet_exhausted *e, uint64_t memory)
{
    if (e->oom.available || e->oom.missing || !memory)
        return;
    e->limit = memory;
    if (e->oom.needed > memory)
        e->oom.missing = e->oom.needed - memory;
}

static void take_before(struct stet_exhausted *e, struct stet_exhausted_list *l,
                        const struct stet_program *now, const char *folder,
                        const struct stet_compile_event *before)
{
    struct opened last;

    if (!open_program(&last, folder, before->program))
        return;
    e->has_before = true;
    e->before_temporaries = before->temp_bytes;
    stet_hash_format(before->program, e->before);
    compare(e, &l->arena, now, &last.program);
    close_program(&last);
}

static void look_before(struct stet_exhausted *e, struct stet_exhausted_list *l,
                        const struct stet_run_digest *d, const char *folder,
                        const struct stet_compile_event *c, const struct stet_program *now)
{
    struct stet_view module = stet_op_symbol(now->module);
    const struct stet_compile_event *before =
        stet_exhausted_before(&d->processes[e->process], c, module);
    struct stet_exhausted_earlier earlier;

    if (before) {
        take_before(e, l, now, folder, before);
    } else if (stet_exhausted_earlier_open(&earlier, d, folder, module)) {
        take_before(e, l, now, earlier.run->folder, earlier.compile);
        e->before_run = stet_arena_copy(&l->arena, stet_view_str(earlier.run->id));
        e->before_command = stet_arena_copy(&l->arena, stet_view_str(earlier.run->command));
        stet_exhausted_earlier_close(&earlier);
    }
}

static void look(struct stet_exhausted *e, struct stet_exhausted_list *l,
                 const struct stet_run_digest *d, const char *folder,
                 const struct stet_compile_event *c)
{
    struct stet_exhausted_devices devices = stet_exhausted_devices(folder, c);
    struct opened now;

    stet_hash_format(c->program, e->hash);
    if (!e->line && c->trigger.line) {
        e->file = c->trigger.file;
        e->line = c->trigger.line;
    }
    if (!e->program.len)
        e->program = c->name;
    take_limit(e, devices.memory);
    if (!open_program(&now, folder, c->program))
        return;
    if (!e->program.len)
        e->program = stet_arena_copy(&l->arena, stet_op_symbol(now.program.module));
    if (!e->line_count)
        program_lines(e, &l->arena, &now.program);
    advise(e, &l->arena, &now.program, devices.count, c->temp_bytes);
    look_before(e, l, d, folder, c, &now.program);
    close_program(&now);
}

/* The framework may try again, and each result of a failed execution has its own error. */
static bool is_again(const struct stet_exhausted_list *l, const struct stet_exhausted *e)
{
    struct stet_exhausted *last = l->count ? &l->items[l->count - 1] : NULL;

    if (!last || last->pid != e->pid || !stet_view_eq(last->message, e->message))
        return false;
    last->times += e->times;
    return true;
}

enum stet_rc stet_session_exhausted(struct stet_exhausted_list *l, const struct stet_run_digest *d,
                                    const char *folder, struct stet_err *err)
{
    *l = (struct stet_exhausted_list){0};
    stet_arena_init(&l->arena, (size_t)1 << 28);
    for (size_t p = 0; p < d->process_count; p++) {
        for (size_t i = 0; i < d->processes[p].exhaustion_count; i++) {
            const struct stet_exhaustion *x = &d->processes[p].exhaustions[i];
            struct stet_exhausted e = {.message = x->message,
                                       .process = p,
                                       .pid = d->processes[p].pid,
                                       .compiling = x->compile != 0,
                                       .file = x->file,
                                       .line = x->line,
                                       .times = x->times};
            const struct stet_compile_event *c;

            stet_oom_read(&e.oom, x->message);
            if (is_again(l, &e))
                continue;
            e.program = e.oom.program;
            told_lines(&e);
            c = stet_exhausted_compile(&d->processes[p], x, &e.oom);
            if (c && c->trigger.line && !x->executable && !x->compile)
                e.line = 0; /* there the error was noticed, not made */
            if (c)
                look(&e, l, d, folder, c);
            if (!stet_vec_room(&l->items, &l->room, l->count, sizeof *l->items))
                return stet_fail(err, STET_NO_MEMORY, "out of memory for what ran out of memory");
            l->items[l->count++] = e;
        }
    }
    return STET_OK;
}

void stet_session_exhausted_release(struct stet_exhausted_list *l)
{
    stet_mem_free(l->items);
    stet_arena_release(&l->arena);
    *l = (struct stet_exhausted_list){0};
}
