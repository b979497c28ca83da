/* A notice is two lines: what happened and where, and what to do. A frame that keeps recompiling
 * for the same reason is reported at its first, second, fourth, eighth… time. */
#include "monitor/torch_follow.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/text.h"
#include "launch/torch_learn.h"
#include "monitor/live.h"
#include "session/torch_divergence.h"
#include "session/torch_ranks.h"
#include "session/torch_rows.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Ranks that do the same do it within moments of each other; a rank that has not followed so long
 * after a compile was first seen, or after it ended, has diverged. */
static const uint64_t running_ns = 3000000000, ended_ns = 1000000000;

enum { WAITING = 256, HELD = 64, OPEN = 1024 };

struct waiting {
    uint32_t compile;
    uint64_t due_ns;
};

/* A recording that the printed log has before the trace names its function. */
struct held {
    uint32_t compile, again;
};

struct stet_monitor_torch {
    struct stet_torch torch;
    struct stet_torch_files *files;
    bool quiet, complained;
    struct waiting waiting[WAITING];
    size_t waiting_count;
    struct held held[HELD];
    size_t held_count;
    struct stet_buf out;
    struct stet_learn *learn;
    const char *folder, *links;
    char *printed; /* the output file of TORCH_LOGS, to be linked into the next field's folder */
    const char *printed_links;
    struct stet_live *live; /* --json-events */
    void (*differ)(const struct stet_divergence *d);
    struct stet_map differences; /* that were reported */
    uint64_t ended;              /* compiles */
    uint64_t compared;           /* what there was when ranks were last compared */
    uint32_t breaks_told;
    uint32_t open; /* compiles before this one have ended */
};

static bool event(void *context, const struct stet_recompile *row)
{
    stet_live_event(context, row);
    return true;
}

static void who(const struct stet_torch *t, uint32_t compile, struct stet_buf *out)
{
    const struct stet_torch_frame *f = &t->frames[t->compiles[compile].frame];
    int64_t rank = t->processes[f->process].rank;

    stet_buf_str(out, "stet: ");
    if (rank >= 0)
        stet_buf_printf(out, "rank %" PRId64 ": ", rank);
    if (!f->code.function.len) {
        stet_buf_str(out, "an unknown function");
        return;
    }
    stet_buf_printf(out, "%.*s (", STET_FMT(f->code.function));
    stet_session_torch_text_place(&f->code, out);
    stet_buf_char(out, ')');
}

static bool is_power_of_two(uint32_t n)
{
    return n && !(n & (n - 1));
}

static bool is_new_difference(void *context, uint64_t key)
{
    struct stet_monitor_torch *r = context;

    return stet_map_get(&r->differences, key) == STET_MAP_NONE &&
           stet_map_put(&r->differences, key, 1);
}

/* Looks later whether other ranks have followed; once for each compile. */
static void await_ranks(struct stet_monitor_torch *r, uint32_t compile, uint64_t patience_ns)
{
    uint64_t due_ns = stet_clock_ns() + patience_ns;

    for (size_t i = 0; i < r->waiting_count; i++) {
        struct waiting *w = &r->waiting[i];

        if (w->compile != compile)
            continue;
        w->due_ns = due_ns < w->due_ns ? due_ns : w->due_ns;
        return;
    }
    if (r->waiting_count < WAITING &&
        is_new_difference(r, stet_hash_mix_u64((struct stet_hash){3, 0}, compile).lo))
        r->waiting[r->waiting_count++] = (struct waiting){compile, due_ns};
}

static void notice(void *context, struct stet_torch *t, uint32_t compile)
{
    struct stet_monitor_torch *r = context;
    const struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_torch_why why;

    r->ended++;
    if (!stet_session_torch_is_again(c))
        return;
    if (r->live)
        stet_session_torch_row(t, STET_ROW_COMPILE, compile, event, r->live);
    await_ranks(r, compile, ended_ns);
    if (!c->limit && !is_power_of_two(c->number))
        return;
    stet_torch_explain(t, compile, &why);
    who(t, compile, &r->out);
    if (c->limit)
        stet_buf_printf(&r->out, " reached %.*s (%" PRIu64 ") and runs eagerly from here on",
                        STET_FMT(t->frames[c->frame].limit), t->frames[c->frame].limit_value);
    else
        stet_buf_str(&r->out, " compiled again");
    if (c->limit && t->frames[c->frame].nested != STET_TORCH_NONE) {
        stet_buf_str(&r->out, " with everything it calls");
        stet_session_torch_text_nested(t, &t->frames[c->frame], &r->out);
    }
    stet_buf_printf(&r->out,
                    ", %s: ", stet_cause_id(c->limit && why.also_count ? why.also[0] : why.cause));
    stet_session_torch_text_change(&why, &r->out);
    if (!c->limit) {
        stet_buf_str(&r->out, ", ");
        stet_text_duration(&r->out, stet_session_torch_cost(c) * 1000);
    }
    stet_buf_str(&r->out, "\n      at ");
    stet_session_torch_text_place(&why.origin, &r->out);
    stet_buf_str(&r->out, "; ");
    stet_torch_fix(t, &why, &r->out);
    stet_buf_char(&r->out, '\n');
}

static void tell_recording(struct stet_monitor_torch *r, uint32_t compile, uint32_t again)
{
    struct stet_torch *t = &r->torch;
    enum stet_rerecord kind = stet_torch_rerecord_kind(t, compile, t->compiles[compile].rerecords);

    if (r->live)
        stet_session_torch_row(t, STET_ROW_GRAPH, compile, event, r->live);
    who(t, compile, &r->out);
    stet_buf_printf(&r->out, " records its CUDA graph again (%u time%s), cudagraph-rerecord: %s\n",
                    again, again == 1 ? "" : "s", stet_torch_rerecord_words(kind));
    stet_buf_printf(&r->out, "      %s\n", stet_torch_rerecord_fix(kind));
}

static bool is_named(const struct stet_torch *t, uint32_t compile)
{
    return t->frames[t->compiles[compile].frame].code.function.len > 0;
}

/* Reports the first, second, fourth… time that a CUDA graph is recorded again. */
static void recording(void *context, struct stet_torch *t, uint32_t compile)
{
    struct stet_monitor_torch *r = context;
    uint32_t again = stet_torch_recordings(&t->compiles[compile]) - 1;
    size_t i = 0;

    if (!is_power_of_two(again))
        return;
    while (i < r->held_count && r->held[i].compile != compile)
        i++;
    if (is_named(t, compile) || i == HELD) {
        tell_recording(r, compile, again);
        return;
    }
    r->held[i] = (struct held){compile, again};
    r->held_count += i == r->held_count;
}

static void tell_held(struct stet_monitor_torch *r, bool all)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->held_count; i++) {
        if (all || is_named(&r->torch, r->held[i].compile))
            tell_recording(r, r->held[i].compile, r->held[i].again);
        else
            r->held[kept++] = r->held[i];
    }
    r->held_count = kept;
}

static void say(struct stet_monitor_torch *r)
{
    if (r->out.len && !r->quiet && !r->out.failed)
        stet_say_text(&r->out);
    r->out.len = 0;
}

static void tell_difference(void *context, const struct stet_divergence *d)
{
    struct stet_monitor_torch *r = context;

    if (r->differ && !r->quiet)
        r->differ(d);
    if (r->live)
        stet_live_difference(r->live, d);
}

/* A recompile of some ranks alone, and the lowest rank that did not follow. */
struct lone {
    struct stet_monitor_torch *follow;
    uint32_t without;
    int64_t other;
};

static bool tell_lone(void *context, const struct stet_recompile *row)
{
    const struct lone *l = context;
    uint64_t now_ns = stet_clock_wall_ns();
    struct stet_divergence d = {.finding = STET_AGREEMENT_DIFFERS,
                                .torch = true,
                                .rank = row->rank,
                                .other = l->other,
                                .function = row->function,
                                .other_function = row->function,
                                .time_ns = row->time_ns,
                                .after_ns = now_ns > row->time_ns ? now_ns - row->time_ns : 0,
                                .alone = true,
                                .missing_count = l->without,
                                .answered = true,
                                .explained = true,
                                .pair = *row,
                                .trigger = row->trigger};

    tell_difference(l->follow, &d);
    return true;
}

static void divergence(struct stet_monitor_torch *r, uint32_t compile)
{
    struct lone l = {.follow = r};
    uint32_t with;

    /* In a tie it is unknown which rank is wrong; the rank with more programs is reported
     * anyway. */
    if (stet_torch_diverges(&r->torch, compile, &with, &l.without, &l.other) && with <= l.without)
        stet_session_torch_row(&r->torch, STET_ROW_COMPILE, compile, tell_lone, &l);
}

/* A pair is considered as soon as both ranks have a graph, and again when their settings are known.
 */
static void compare_graphs(struct stet_monitor_torch *r)
{
    struct stet_torch_divergence_sink sink = {
        .context = r, .is_new = is_new_difference, .visit = tell_difference};
    const struct stet_torch *t = &r->torch;
    uint64_t known =
        t->compile_count + r->ended + t->graph_bytes + t->settings_told + t->torch_key_count;
    struct stet_arena arena;

    if (r->compared == known)
        return;
    r->compared = known;
    stet_arena_init(&arena, (size_t)4 << 20);
    sink.arena = &arena;
    sink.now_ns = stet_clock_wall_ns();
    stet_session_torch_differences(&r->torch, &sink);
    stet_arena_release(&arena);
}

/* Recompiles that go on, whose reason is known: the trace has it when they begin. */
static void look_at_running(struct stet_monitor_torch *r)
{
    const struct stet_torch *t = &r->torch;

    while (r->open < t->compile_count && t->compiles[r->open].ended)
        r->open++;
    for (uint32_t i = r->open; i < t->compile_count && i - r->open < OPEN; i++) {
        if (!t->compiles[i].ended && t->compiles[i].number &&
            stet_session_torch_is_again(&t->compiles[i]))
            await_ranks(r, i, running_ns);
    }
}

static void look_at_ranks(struct stet_monitor_torch *r, bool all)
{
    uint64_t now = stet_clock_ns();
    size_t kept = 0;

    for (size_t i = 0; i < r->waiting_count; i++) {
        if (all || now >= r->waiting[i].due_ns)
            divergence(r, r->waiting[i].compile);
        else
            r->waiting[kept++] = r->waiting[i];
    }
    r->waiting_count = kept;
}

struct stet_monitor_torch *stet_monitor_torch_start(const char *folder, bool quiet)
{
    struct stet_monitor_torch *r = stet_mem_calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->quiet = quiet;
    r->out = (struct stet_buf)STET_TEXT_INIT;
    stet_torch_init(&r->torch);
    r->torch.on_compile = notice;
    r->torch.on_recording = recording;
    r->torch.context = r;
    r->files = stet_torch_files_new(&r->torch);
    if (!r->files || stet_torch_files_add(r->files, folder, NULL) != STET_OK) {
        r->quiet = true;
        stet_monitor_torch_end(r, false);
        return NULL;
    }
    return r;
}

void stet_monitor_torch_foreign(struct stet_monitor_torch *r, const char *links)
{
    if (r) {
        stet_torch_files_skip(r->files);
        r->links = links;
    }
}

void stet_monitor_torch_printed(struct stet_monitor_torch *r, const char *path, const char *links)
{
    struct stat st;

    if (!r || !path || !*path)
        return;
    if (stat(path, &st) != 0 || !st.st_size) {
        r->printed = stet_mem_strdup(path);
        r->printed_links = links;
    }
    stet_torch_files_tail(r->files, path, NULL);
}

void stet_monitor_torch_events(struct stet_monitor_torch *r, struct stet_live *live)
{
    if (r)
        r->live = live;
}

void stet_monitor_torch_learn(struct stet_monitor_torch *r, struct stet_learn *learn,
                              const char *folder)
{
    if (r) {
        r->learn = learn;
        r->folder = folder;
    }
}

void stet_monitor_torch_differ(struct stet_monitor_torch *r,
                               void (*differ)(const struct stet_divergence *d))
{
    if (r)
        r->differ = differ;
}

struct stet_torch *stet_monitor_torch_model(struct stet_monitor_torch *r)
{
    return r ? &r->torch : NULL;
}

void stet_monitor_torch_ranks(struct stet_monitor_torch *r, const struct stet_live *live)
{
    if (r && live)
        stet_session_torch_take_ranks(&r->torch, stet_live_digest(live));
}

bool stet_monitor_torch_compiled(struct stet_monitor_torch *r)
{
    if (r)
        stet_torch_files_poll(r->files, NULL);
    return r && r->torch.compile_count;
}

void stet_monitor_torch_poll(struct stet_monitor_torch *r, bool last)
{
    struct stet_err err = STET_ERR_INIT;

    if (!r)
        return;
    if (stet_torch_files_poll(r->files, &err) != STET_OK && !r->complained && !r->quiet) {
        stet_buf_printf(&r->out, "stet: torch trace: %s\n", err.text);
        r->complained = true;
    }
    for (; r->live && r->breaks_told < r->torch.break_count; r->breaks_told++)
        stet_session_torch_row(&r->torch, STET_ROW_BREAK, r->breaks_told, event, r->live);
    tell_held(r, last);
    look_at_running(r);
    look_at_ranks(r, false);
    compare_graphs(r);
    if (last && r->live)
        stet_session_torch_each(&r->torch, event, r->live);
    say(r);
}

static void summary(struct stet_monitor_torch *r)
{
    const struct stet_torch *t = &r->torch;
    uint64_t cost = 0, limits = 0, again = 0;

    if (!t->compile_count)
        return;
    for (size_t i = 0; i < t->compile_count; i++) {
        cost += stet_session_torch_cost(&t->compiles[i]);
        limits += t->compiles[i].limit;
        again += stet_session_torch_is_again(&t->compiles[i]);
    }
    stet_buf_str(&r->out, "stet: torch.compile: ");
    stet_text_count(&r->out, t->frame_count, "frame");
    stet_buf_str(&r->out, ", ");
    stet_text_count(&r->out, t->compile_count, "compile");
    stet_buf_str(&r->out, " in ");
    stet_text_duration(&r->out, cost * 1000);
    if (again)
        stet_buf_printf(&r->out, ", %" PRIu64 " of them again", again);
    if (t->break_count)
        stet_buf_printf(&r->out, ", %zu graph break%s", t->break_count,
                        t->break_count == 1 ? "" : "s");
    if (limits)
        stet_buf_printf(&r->out, ", %" PRIu64 " frame%s gave up", limits, limits == 1 ? "" : "s");
    stet_buf_str(&r->out, "; see `stet torch frames`\n");
    stet_session_torch_text_damage(t, &r->out);
}

/* Links the printed log into the run, so that later commands find it. */
static void link_printed(const struct stet_monitor_torch *r)
{
    char link[PATH_MAX], *full = r->printed ? realpath(r->printed, NULL) : NULL;

    if (full &&
        snprintf(link, sizeof link, "%s/torch_logs_out.txt", r->printed_links) < (int)sizeof link &&
        stet_fs_mkdirs(r->printed_links, NULL) == STET_OK && symlink(full, link) != 0)
        link[0] = '\0'; /* later reports then lack its details, nothing else */
    free(full);
}

void stet_monitor_torch_end(struct stet_monitor_torch *r, bool fine)
{
    if (!r)
        return;
    if (r->files)
        stet_torch_files_finish(r->files, NULL);
    tell_held(r, true);
    look_at_ranks(r, true);
    compare_graphs(r);
    if (r->links)
        stet_session_torch_link_logs(&r->torch, r->links, NULL);
    else
        link_printed(r);
    summary(r);
    stet_launch_learn_judge(r->learn, &r->torch, r->folder, fine, &r->out);
    say(r);
    stet_map_release(&r->differences);
    stet_torch_files_free(r->files);
    stet_torch_release(&r->torch);
    stet_buf_release(&r->out);
    stet_mem_free(r->printed);
    stet_mem_free(r);
}
