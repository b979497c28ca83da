/* Families that an earlier run lifted. A note in the store names the entry of a family's first
 * program and the places of its arguments. With both, the first program of this run is lifted: the
 * executables of the family are loaded from the store. Nothing in a note is trusted: the programs
 * are compared as always, and the lifted program is tested again at its first execution. */
#include "base/buf.h"
#include "base/mem.h"
#include "intercept/identity.h"
#include "intercept/layer.h"
#include "intercept/lift_family.h"
#include "intercept/ranks.h"
#include "intercept/reload.h"
#include "store/lift_note.h"

struct stet_hash stet_intercept_lift_note_of(struct stet_plugin *p, PJRT_Client *client,
                                             struct stet_hash family)
{
    struct stet_key_parts parts = {0};
    struct stet_view plugin_path;
    struct stet_hash name = {0};
    struct stet_arena arena;

    if (!stet_layer.storing || (stet_ranks_span(p, client) && !stet_ranks_can(p, client)))
        return name;
    stet_arena_init(&arena, (size_t)1 << 20);
    if (stet_identity_of(p, client, &arena, &parts, &plugin_path) == STET_OUTCOME_NONE &&
        !arena.failed)
        name = stet_store_lift_name(family, &parts);
    stet_arena_release(&arena);
    return name;
}

/* The bytes of the first program of the family, as they were when its entry was written. */
static bool read_entry(const struct stet_lift_family *f, struct stet_buf *bytes)
{
    struct stet_entry_file entry;
    bool read;

    if (stet_store_get(&stet_layer.store, f->entry, &entry, NULL) != STET_OK)
        return false;
    read = stet_store_entry_program(&entry, bytes, NULL) == STET_OK;
    stet_store_entry_close(&entry);
    return read;
}

/* Its executable, which answers the framework's questions, and which the lifted program is compared
 * with. */
static bool load_base(struct stet_lift_family *f, PJRT_Client_Compile_Args *args,
                      struct stet_reading *reading)
{
    struct stet_reload r;
    bool loaded = stet_reload_try(&r, f->plugin, args, reading, NULL);

    if (loaded) {
        f->plain = args->executable;
        f->plain_ns = r.compile_ns;
    }
    stet_reload_end(&r);
    return loaded;
}

static bool open_base(struct stet_lift_family *f, const PJRT_Client_Compile_Args *like)
{
    struct stet_buf bytes = {.cap = STET_ENTRY_MAX};
    PJRT_Program program = *like->program;
    PJRT_Client_Compile_Args args = *like;
    struct stet_program converted = {0};
    const struct stet_program *base;
    struct stet_reading reading;
    bool opened = read_entry(f, &bytes);

    program.code = bytes.ptr;
    program.code_size = bytes.len;
    args.program = &program;
    stet_intercept_reading_init(&reading, opened ? &program : NULL, true);
    stet_buf_release(&bytes);
    program.code = reading.own;
    base = reading.own ? stet_intercept_lift_read(&reading, &converted, NULL) : NULL;
    opened =
        base && stet_intercept_lift_refuses(base, NULL) == STET_OK && load_base(f, &args, &reading);
    if (opened)
        stet_intercept_lift_adopt(f, &reading, &converted);
    stet_program_release(&converted);
    stet_intercept_reading_release(&reading);
    return opened;
}

/* Do the first program of the family and the plan fit the program that is compiled now? Then the
 * family can be lifted for it as the note says. */
static bool fits(const struct stet_lift_family *f, const struct stet_lift_candidate *c)
{
    struct stet_lift_match match;
    struct stet_lift_plan plan;
    bool fit;

    if (stet_lift_match(&match, &f->base, c->program, NULL) != STET_OK)
        return false;
    fit = stet_lift_plan_make(&plan, &match, &f->recalled, NULL) == STET_OK;
    if (fit)
        stet_lift_plan_release(&plan);
    stet_lift_match_release(&match);
    return fit;
}

static struct stet_lift_family *family_of(struct stet_plugin *p,
                                          const struct stet_lift_candidate *c,
                                          const PJRT_Client_Compile_Args *args,
                                          const struct stet_store_lift *note)
{
    struct stet_lift_family *f = stet_mem_calloc(1, sizeof *f);

    if (!f)
        return NULL;
    *f = (struct stet_lift_family){.plugin = p,
                                   .client = c->client,
                                   .key = c->key,
                                   .skeleton = c->skeleton,
                                   .index = STET_LIFTING_NO_COMPILE,
                                   .refs = 1,
                                   .ours = true,
                                   .refused = stet_hash_is_zero(note->base),
                                   .note = c->note,
                                   .entry = note->base,
                                   .checked = note->checked};
    stet_arena_init(&f->arena, (size_t)64 << 20);
    f->options = stet_arena_copy(&f->arena, c->options);
    if (f->refused ||
        (stet_lift_plan_recall(&f->recalled, note->kinds, note->argument_of, NULL) == STET_OK &&
         open_base(f, args) && fits(f, c)))
        return f;
    stet_intercept_lift_family_free(f);
    return NULL;
}

struct stet_lift_family *stet_intercept_lift_recall(struct stet_plugin *p,
                                                    const struct stet_lift_candidate *c,
                                                    const PJRT_Client_Compile_Args *args)
{
    struct stet_lift_family *f;
    struct stet_store_lift note;

    if (stet_hash_is_zero(c->note) || !stet_store_lift_open(&stet_layer.store, c->note, &note))
        return NULL;
    f = family_of(p, c, args, &note);
    stet_store_lift_close(&note);
    stet_layer_log("lift: an earlier run %s",
                   !f           ? "left a family whose first program is gone or does not fit"
                   : f->refused ? "found that a family must not be lifted"
                                : "lifted this family");
    return f;
}

bool stet_intercept_lift_recall_plan(struct stet_hash skeleton, struct stet_lift_plan *out)
{
    struct stet_store_lift note;
    bool read;

    if (!stet_layer.storing ||
        !stet_store_lift_open(&stet_layer.store, stet_store_lift_skeleton_name(skeleton), &note))
        return false;
    read = stet_lift_plan_recall(out, note.kinds, note.argument_of, NULL) == STET_OK;
    stet_store_lift_close(&note);
    return read;
}

void stet_intercept_lift_remember(const struct stet_lift_code *code)
{
    const struct stet_lift_family *f = code->family;
    char kinds[STET_LIFT_ARGUMENTS] = {0};
    struct stet_store_lift note = {
        .base = f->entry,
        .checked = code->checked,
        .kinds = stet_view_of(kinds, code->plan.argument_count),
        .argument_of = stet_view_of((const char *)code->plan.argument_of, code->plan.use_count)};

    if (stet_hash_is_zero(f->note) || stet_hash_is_zero(f->entry))
        return;
    for (uint32_t i = 0; i < code->plan.argument_count; i++)
        kinds[i] = (char)code->plan.arguments[i].kind;
    stet_store_lift_write(&stet_layer.store, f->note, &note);
    stet_store_lift_write(&stet_layer.store, stet_store_lift_skeleton_name(f->skeleton), &note);
}

void stet_intercept_lift_forbid(const struct stet_lift_family *f)
{
    if (!stet_hash_is_zero(f->note))
        stet_store_lift_write(&stet_layer.store, f->note, &(struct stet_store_lift){0});
}
