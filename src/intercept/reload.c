/* Key, lookup, comparison, load. Any failure on the way leads to an ordinary compile. */
#include "intercept/reload.h"

#include "base/mem.h"
#include "decode/decode.h"
#include "decode/options.h"
#include "intercept/ahead.h"
#include "intercept/executable_memory.h"
#include "intercept/executables.h"
#include "intercept/identity.h"
#include "intercept/layer.h"
#include "intercept/load_watch.h"
#include "intercept/local.h"
#include "intercept/memo.h"
#include "intercept/named_files.h"
#include "intercept/ranks.h"
#include "program/compare.h"
#include "store/quarantine.h"
#include "wire/message.h"

#include <stdio.h>
#include <unistd.h>

static struct stet_view hash_text(struct stet_arena *a, unsigned version, struct stet_hash h)
{
    char text[STET_HASH_TEXT];

    stet_hash_format(h, text);
    return stet_arena_printf(a, "%u:%s", version, text);
}

/* NONE, or why the program has no key. */
static enum stet_outcome program_part(struct stet_reload *r)
{
    const struct stet_fingerprint *print;

    if (!stet_intercept_reading_program(r->reading))
        return STET_OUTCOME_UNDECODABLE;
    if (stet_intercept_reading_is_local(r->reading))
        return STET_OUTCOME_PROCESS_LOCAL;
    print = stet_intercept_reading_print(r->reading);
    if (!print)
        return STET_OUTCOME_NO_MEMORY;
    r->program = print->key;
    r->parts.part[STET_COMPONENT_PROGRAM] =
        hash_text(&r->arena, STET_FINGERPRINT_VERSION, r->program);
    return STET_OUTCOME_NONE;
}

/* The text at the beginning of `rest`, up to its zero; removes both. */
static struct stet_view next_text(struct stet_view *rest)
{
    struct stet_view text = stet_view_of(rest->ptr, strnlen(rest->ptr, rest->len));
    size_t n = text.len < rest->len ? text.len + 1 : text.len;

    *rest = stet_view_of(rest->ptr + n, rest->len - n);
    return text;
}

/* The files that options name, by their content: " name=content" for each. */
static enum stet_outcome put_files(struct stet_buf *out, struct stet_view named)
{
    struct stet_file_watch unused = {0}; /* the files are checked again for each compile */
    enum stet_outcome why = STET_OUTCOME_NONE;

    while (named.len && !why) {
        struct stet_view name = next_text(&named), value = next_text(&named);
        size_t before = out->len;

        stet_buf_printf(out, " %.*s=", STET_FMT(name));
        why = stet_named_value(out, name, value, &unused);
        if (stet_view_ends(stet_buf_as_view(out), "={}")) /* a folder without tools is none */
            out->len = before;
    }
    stet_intercept_file_watch_release(&unused);
    return why;
}

static enum stet_outcome options_part(struct stet_reload *r, struct stet_view bytes)
{
    struct stet_buf files = STET_BUF_INIT, text = STET_BUF_INIT;
    char hash_words[STET_HASH_TEXT];
    enum stet_outcome why = STET_OUTCOME_OPTIONS_UNDECODABLE;
    struct stet_hash hash;

    if (stet_memo_options(bytes, &hash, &files) == STET_OK) {
        stet_hash_format(hash, hash_words);
        stet_buf_printf(&text, "%u:%s", STET_OPTIONS_VERSION, hash_words);
        why = put_files(&text, stet_buf_as_view(&files));
        r->parts.part[STET_COMPONENT_OPTIONS] = stet_arena_copy(&r->arena, stet_buf_as_view(&text));
        r->arena.failed |= text.failed || files.failed;
    }
    stet_buf_release(&files);
    stet_buf_release(&text);
    return why;
}

/* All of the key but the program's own part. */
static enum stet_outcome begin_key(struct stet_reload *r, struct stet_plugin *p,
                                   const PJRT_Client_Compile_Args *args, struct stet_view code)
{
    enum stet_outcome why =
        stet_identity_of(p, args->client, &r->arena, &r->parts, &r->plugin_path);

    stet_identity_program(&r->parts, code);
    if (!why)
        why = options_part(r, stet_view_of(args->compile_options, args->compile_options_size));
    return why;
}

static enum stet_outcome end_key(struct stet_reload *r)
{
    enum stet_outcome why = program_part(r);

    if (!why && r->arena.failed)
        why = STET_OUTCOME_NO_MEMORY;
    if (!why)
        r->key = stet_store_key_of(&r->parts);
    return why;
}

/* Equal hashes are not enough: the programs themselves must be equal, apart from their
 * locations. */
static bool same_program(const struct stet_reload *r, struct stet_view a, struct stet_view b)
{
    struct stet_program x, y;
    struct stet_err why = STET_ERR_INIT;
    bool same = false;

    if (stet_view_eq(a, b) || r->exact)
        return stet_view_eq(a, b);
    if (stet_decode(&x, a, NULL) != STET_OK)
        return false;
    if (stet_decode(&y, b, NULL) == STET_OK) {
        same = stet_program_same(&x, &y, STET_COMPARE_NAMELESS, &why);
        stet_arena_release(&y.arena);
    }
    if (why.text[0])
        stet_layer_log("store: same key, other program: %s", why.text);
    stet_arena_release(&x.arena);
    return same;
}

/* Returns the plugin's own error if it fails. */
static PJRT_Error *load(struct stet_reload *r, struct stet_plugin *p,
                        PJRT_Client_Compile_Args *args, struct stet_view bytes)
{
    uint64_t before = stet_journal_now();
    PJRT_Error *error = stet_executables_load(p, args->client, bytes, &args->executable);

    r->load_ns = stet_journal_now() - before;
    return error;
}

static bool from_memory(struct stet_reload *r, struct stet_plugin *p,
                        PJRT_Client_Compile_Args *args, struct stet_view code)
{
    struct stet_remembered *m = stet_intercept_memory_get(r->key);
    bool served = m && same_program(r, m->program, code) &&
                  !stet_plugin_drop(p, load(r, p, args, m->executable));

    if (served) {
        r->served = STET_SERVED_MEMORY;
        r->compile_ns = m->compile_ns;
    }
    if (m)
        stet_intercept_memory_put_back(m);
    return served;
}

static enum stet_outcome load_entry(struct stet_reload *r, const struct stet_store *s,
                                    struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                                    struct stet_view executable, uint64_t compile_ns)
{
    PJRT_Error *error;
    struct stet_view why;

    stet_intercept_load_enter(s, r->key, compile_ns);
    error = load(r, p, args, executable);
    stet_intercept_load_leave();
    if (!error) {
        r->served = STET_SERVED_DISK;
        return STET_OUTCOME_HIT;
    }
    stet_plugin_error_text(p, error, &why);
    stet_store_quarantine_failed(s, r->key, why);
    stet_plugin_drop(p, error);
    return STET_OUTCOME_LOAD_FAILED;
}

static enum stet_outcome from_disk(struct stet_reload *r, const struct stet_store *s,
                                   struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                                   struct stet_view code)
{
    struct stet_buf program = STET_BUF_INIT, executable = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_entry_file entry;
    enum stet_outcome outcome = STET_OUTCOME_DAMAGED;
    enum stet_rc rc = stet_store_get(s, r->key, &entry, &err);

    if (rc == STET_NOT_FOUND)
        return STET_OUTCOME_MISS;
    if (rc != STET_OK) {
        stet_layer_log("store: %s", err.text);
        return rc == STET_UNSUPPORTED ? STET_OUTCOME_NEWER
               : rc == STET_REFUSED   ? STET_OUTCOME_UNSAFE_FOLDER
                                      : STET_OUTCOME_DAMAGED;
    }
    r->compile_ns = entry.compile_ns;
    if (stet_store_quarantine_condemned(s, r->key)) {
        outcome = STET_OUTCOME_CONDEMNED;
    } else if (stet_store_entry_program(&entry, &program, &err) == STET_OK &&
               stet_store_entry_executable(&entry, &executable, &err) == STET_OK) {
        if (same_program(r, stet_buf_as_view(&program), code))
            outcome = load_entry(r, s, p, args, stet_buf_as_view(&executable), entry.compile_ns);
        else
            outcome = STET_OUTCOME_OTHER_PROGRAM;
    } else {
        stet_layer_log("store: %s", err.text);
    }
    if (r->served == STET_SERVED_DISK)
        stet_intercept_memory_adopt(r->key, &program, &executable, r->compile_ns);
    stet_buf_release(&program);
    stet_buf_release(&executable);
    stet_store_entry_close(&entry);
    return outcome;
}

/* Takes what was loaded before it was needed: only the programs are still to be compared. */
static enum stet_outcome from_ahead(struct stet_reload *r, struct stet_plugin *p,
                                    PJRT_Client_Compile_Args *args, struct stet_view code)
{
    uint64_t before = stet_journal_now();
    bool stuck;
    struct stet_loaded *l = stet_ahead_get(p, args->client, r->key, &stuck);

    if (!l)
        return stuck ? STET_OUTCOME_LOAD_STUCK : STET_OUTCOME_NONE;
    r->load_ns = stet_journal_now() - before;
    if (!same_program(r, stet_buf_as_view(&l->program), code)) {
        stet_ahead_put_back(l);
        return STET_OUTCOME_OTHER_PROGRAM;
    }
    if (!l->handle) {
        stet_store_quarantine_failed(&stet_layer.store, r->key, stet_buf_as_view(&l->fault));
        stet_ahead_take(l);
        return STET_OUTCOME_LOAD_FAILED;
    }
    args->executable = l->handle;
    r->served = STET_SERVED_DISK;
    r->compile_ns = l->compile_ns;
    stet_intercept_memory_adopt(r->key, &l->program, &l->executable, r->compile_ns);
    stet_ahead_take(l);
    return STET_OUTCOME_HIT;
}

static void look_up(struct stet_reload *r, struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                    struct stet_view code)
{
    r->outcome = from_memory(r, p, args, code) ? STET_OUTCOME_HIT : from_ahead(r, p, args, code);
    if (!r->outcome)
        r->outcome = from_disk(r, &stet_layer.store, p, args, code);
}

/* Where the agent puts what it finds: into the store, or beside the journal if the store is
 * read-only. A failed load there is not recorded, because the next run would not find the
 * record. */
static bool make_place(struct stet_store *place)
{
    *place = stet_layer.store;
    if (!place->read_only)
        return true;
    place->group = false;
    return snprintf(place->folder, sizeof place->folder, "%s/fetched-%ld", stet_layer.dir,
                    (long)getpid()) < (int)sizeof place->folder;
}

/* Where the agent puts entries without a trusted signature. If the path is too long, there are
 * none. */
static void go_aside(struct stet_store *place)
{
    size_t n = strlen(place->folder);

    snprintf(place->folder + n, sizeof place->folder - n, "/%s", STET_STORE_ASIDE);
}

/* What the agent fetched is in the store, and is treated like any entry there; but a bad entry must
 * not stay. Ranks that compile `together` may need each other, so none may wait until another is
 * done. A read-only process cannot become the single-flight leader, so it does not wait either. */
static void from_agent(struct stet_reload *r, struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                       struct stet_view code, bool together)
{
    bool aside = stet_layer.store.read_only;
    struct stet_store place;

    if (!make_place(&place) ||
        (aside && stet_store_quarantine_condemned(&stet_layer.store, r->key)))
        return;
    r->remote.once = aside;
    if (!stet_remote_ask(&r->remote, place.folder, r->key, together || aside)) {
        if (aside) { /* it may have arrived too late */
            stet_store_remove(&place, r->key, NULL);
            go_aside(&place);
            stet_store_remove(&place, r->key, NULL);
        }
        return;
    }
    if (r->remote.aside)
        go_aside(&place);
    r->outcome = from_disk(r, &place, p, args, code);
    if (aside)
        stet_store_remove(&place, r->key, NULL);
    if (r->served == STET_SERVED_DISK && !r->remote.same_host)
        r->served = STET_SERVED_REMOTE;
    if (r->served) {
        stet_remote_took(&r->remote, r->key, r->compile_ns);
        return;
    }
    stet_remote_refuse(&r->remote, place.folder, r->key, stet_journal_outcome_word(r->outcome));
    if (r->outcome == STET_OUTCOME_OTHER_PROGRAM) {
        stet_store_remove(&place, r->key, NULL);
        r->outcome = STET_OUTCOME_REFUSED;
    }
}

static bool is_absent(const struct stet_reload *r)
{
    return r->outcome == STET_OUTCOME_MISS || r->outcome == STET_OUTCOME_DAMAGED;
}

/* Known bytes need not be decoded to find their program: true if that settled it. An entry that is
 * found this way is compared byte by byte. */
static bool by_bytes(struct stet_reload *r, struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                     struct stet_view code)
{
    struct stet_hash program;

    r->bytes = stet_hash_bytes(code);
    if (!stet_store_alias(&stet_layer.store, r->bytes, STET_HINT_VERSION, &program))
        return false;
    r->parts.part[STET_COMPONENT_PROGRAM] = hash_text(&r->arena, STET_FINGERPRINT_VERSION, program);
    if (r->arena.failed)
        return false;
    r->key = stet_store_key_of(&r->parts);
    r->exact = true;
    look_up(r, p, args, code);
    r->exact = false;
    return r->served != STET_SERVED_COMPILED || r->outcome == STET_OUTCOME_LOAD_FAILED ||
           r->outcome == STET_OUTCOME_LOAD_STUCK;
}

/* Releases a loaded executable if another rank cannot load it. */
static void agree(struct stet_reload *r, struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                  const struct stet_ranks *ranks, struct stet_pod_turn *turn)
{
    if (stet_ranks_agree(ranks, &r->parts, r->served != STET_SERVED_COMPILED, turn) ||
        r->served == STET_SERVED_COMPILED)
        return;
    stet_executables_unload(p, args->executable);
    args->executable = NULL;
    r->served = STET_SERVED_COMPILED;
    r->outcome = STET_OUTCOME_RANKS_DIFFER;
}

bool stet_reload_try(struct stet_reload *r, struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                     struct stet_reading *reading, struct stet_pod_turn *turn)
{
    struct stet_view code = reading->bytes;
    struct stet_ranks ranks;

    *r = (struct stet_reload){.reading = reading, .outcome = stet_layer.no_store};
    if (!stet_layer.storing)
        return false;
    stet_arena_init(&r->arena, (size_t)1 << 20);
    if (!code.ptr) {
        r->outcome = STET_OUTCOME_NO_PROGRAM;
        return false;
    }
    r->outcome = begin_key(r, p, args, code);
    if (!r->outcome &&
        !stet_ranks_of(&ranks, p, args->client,
                       stet_view_of(args->compile_options, args->compile_options_size), &r->arena))
        r->outcome = STET_OUTCOME_MANY_PROCESSES;
    if (r->outcome)
        return false;
    if (!by_bytes(r, p, args, code)) {
        r->outcome = end_key(r);
        if (r->outcome) {
            r->key = (struct stet_hash){0};
            return false;
        }
        look_up(r, p, args, code);
    }
    if (is_absent(r))
        from_agent(r, p, args, code, ranks.count > 0);
    if (ranks.count)
        agree(r, p, args, &ranks, turn);
    r->keep = !stet_layer.store.read_only && stet_journal_outcome_keeps(r->outcome);
    return r->served != STET_SERVED_COMPILED;
}

void stet_reload_ahead(struct stet_reload *r, struct stet_plugin *p, const PJRT_Compile_Args *args,
                       struct stet_reading *reading)
{
    struct stet_entry_file entry;

    *r = (struct stet_reload){.reading = reading};
    if (!stet_layer.storing || !reading->bytes.ptr)
        return;
    stet_arena_init(&r->arena, (size_t)8 << 20);
    r->outcome = stet_identity_ahead(p, args->topology, &r->arena, &r->parts, &r->plugin_path);
    stet_identity_program(&r->parts, reading->bytes);
    if (!r->outcome)
        r->outcome =
            options_part(r, stet_view_of(args->compile_options, args->compile_options_size));
    if (!r->outcome)
        r->outcome = end_key(r);
    if (r->outcome)
        return;
    r->bytes = stet_hash_bytes(reading->bytes);
    if (stet_store_get(&stet_layer.store, r->key, &entry, NULL) == STET_OK) {
        stet_store_entry_close(&entry);
        r->outcome = STET_OUTCOME_KEPT_ALREADY;
    } else {
        r->outcome = STET_OUTCOME_MISS;
        r->keep = !stet_layer.store.read_only;
    }
}

struct stet_view stet_reload_words(const struct stet_reload *r, struct stet_arena *a)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_view text = {0};

    if (r->outcome != STET_OUTCOME_MISS)
        return text;
    stet_buf_printf(&out, "store=%s\n", stet_layer.store.folder);
    stet_store_key_words(&out, &r->parts);
    if (!out.failed)
        text = stet_arena_copy(a, stet_buf_as_view(&out));
    stet_buf_release(&out);
    return text;
}

void stet_reload_end(struct stet_reload *r)
{
    stet_remote_failed(r->remote.lease, r->key);
    if (r->arena.cap)
        stet_arena_release(&r->arena);
}
