/* See rank_beacon.h. The states are in <run folder>/state/<host>.json, as stet.ranks/1. */
#include "monitor/rank_beacon.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "monitor/rank_post.h"
#include "monitor/thread_state.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EVERY_MS = 5000, OLD_S = 60, LARGEST = 16 << 20 };

struct stet_beacon {
    char run[64], folder[PATH_MAX];
    int64_t next_ms;
    uint64_t progress;
    struct stet_rank_post post;
    bool open;
    struct stet_monitor_attach attach;
};

struct stet_beacon *stet_monitor_beacon_new(const char *run, const char *folder)
{
    struct stet_beacon *b = stet_mem_calloc(1, sizeof *b);

    if (b) {
        snprintf(b->run, sizeof b->run, "%s", run);
        snprintf(b->folder, sizeof b->folder, "%s", folder);
    }
    return b;
}

void stet_monitor_beacon_free(struct stet_beacon *b)
{
    if (b && b->open)
        stet_monitor_attach_close(&b->attach);
    stet_mem_free(b);
}

static void show_life(const struct stet_beacon *b)
{
    char path[PATH_MAX + 16];
    int fd;

    snprintf(path, sizeof path, "%s/%s", b->folder, STET_RUN_ALIVE);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    futimens(fd, NULL);
    close(fd);
}

static void write_states(struct stet_beacon *b)
{
    struct stet_buf out = STET_BUF_INIT;
    char path[PATH_MAX + 300], host[256] = "";
    struct stet_rank_states s;

    if (stet_monitor_ranks_look(&s, &b->attach, NULL) != STET_OK)
        return;
    stet_monitor_ranks_json(&out, &b->attach, &s);
    stet_monitor_post(&b->post, &s, &b->attach);
    stet_monitor_ranks_release(&s);
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s/state", b->folder);
    if (!out.failed && stet_fs_mkdirs(path, NULL) == STET_OK) {
        snprintf(path, sizeof path, "%s/state/%.200s.json", b->folder, host);
        stet_fs_write_unsynced(path, stet_buf_as_view(&out), NULL);
    }
    stet_buf_release(&out);
}

static uint64_t count_progress(const struct stet_pulse *p)
{
    uint64_t n = p->process_count;

    for (size_t i = 0; i < p->process_count; i++)
        n += p->processes[i].executions + p->processes[i].begun + p->processes[i].compiles;
    return n;
}

/* Are there ranks that are not of this run? */
static bool is_part(const struct stet_monitor_attach *a)
{
    const struct stet_run_digest *d = stet_live_digest(a->live);

    for (size_t i = 0; i < d->process_count; i++) {
        if (d->processes[i].world > (int64_t)d->process_count)
            return true;
    }
    return false;
}

void stet_monitor_beacon_poll(struct stet_beacon *b)
{
    char path[PATH_MAX + 8];
    uint64_t progress;

    if (!b || stet_clock_ms() < b->next_ms)
        return;
    b->next_ms = stet_clock_ms() + EVERY_MS;
    snprintf(path, sizeof path, "%s/job", b->folder);
    if (!stet_fs_exists(path))
        return;
    show_life(b);
    b->open = b->open || stet_monitor_attach_alone(&b->attach, b->run, NULL) == STET_OK;
    if (!b->open)
        return;
    stet_monitor_attach_poll(&b->attach);
    progress = count_progress(b->attach.pulse);
    if (progress == b->progress && is_part(&b->attach))
        write_states(b);
    b->progress = progress;
}

/* ---- reading ---- */

static bool is_kind(const char *word, enum stet_rank_kind *out)
{
    for (int k = 0; k <= STET_RANK_ENDED; k++) {
        if (word && !strcmp(word, stet_monitor_rank_word((enum stet_rank_kind)k))) {
            *out = (enum stet_rank_kind)k;
            return true;
        }
    }
    return false;
}

static void take_text(char *out, size_t room, const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));

    snprintf(out, room, "%s", text ? text : "");
}

static uint64_t take_number(const json_t *from, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(from, key));

    return n > 0 ? (uint64_t)n : 0;
}

static void take_place(const json_t *at, char *file, size_t file_room, char *function,
                       size_t function_room, uint64_t *line)
{
    take_text(file, file_room, at, "file");
    take_text(function, function_room, at, "function");
    *line = take_number(at, "line");
}

/* A literal of ours, so that it outlives the file. */
static const char *blocked_word(const char *text)
{
    static const char *const known[] = {STET_BLOCKED_FUTEX, "sleep", "a child process",
                                        "a file lock",      "input", "output",
                                        "a system call"};

    for (size_t i = 0; text && i < sizeof known / sizeof *known; i++) {
        if (!strcmp(text, known[i]))
            return known[i];
    }
    return NULL;
}

static bool take_state(const json_t *one, struct stet_rank_state *s)
{
    enum stet_rank_kind kind;

    if (!is_kind(json_string_value(json_object_get(one, "kind")), &kind))
        return false;
    s->kind = kind;
    s->now = json_is_true(json_object_get(one, "line_is_now"));
    s->blocked_in = blocked_word(json_string_value(json_object_get(one, "blocked_for")));
    take_place(json_object_get(one, "line"), s->file, sizeof s->file, s->function,
               sizeof s->function, &s->line);
    take_place(json_object_get(one, "innermost"), s->inner_file, sizeof s->inner_file,
               s->inner_function, sizeof s->inner_function, &s->inner_line);
    s->open_ns = take_number(one, "compiling_ns");
    return true;
}

bool stet_monitor_beacon_read(const char *folder, struct stet_rank_state *s)
{
    char path[PATH_MAX + 300];
    struct stet_file file;
    json_t *root, *one;
    struct stat st;
    bool found = false;
    size_t i;

    if (strchr(s->host, '/') ||
        snprintf(path, sizeof path, "%s/state/%.200s.json", folder, s->host) >= (int)sizeof path ||
        !stet_fs_is_plain(path) || stat(path, &st) != 0 || time(NULL) - st.st_mtim.tv_sec > OLD_S ||
        stet_file_open_small(&file, path, LARGEST, NULL) != STET_OK)
        return false;
    root = json_loadb(file.bytes.ptr, file.bytes.len, 0, NULL);
    stet_file_close(&file);
    json_array_foreach(json_object_get(root, "ranks"), i, one) found =
        found || (take_number(one, "pid") == s->pid && take_state(one, s));
    json_decref(root);
    s->remote = found;
    if (found)
        s->seen_s = (uint64_t)(time(NULL) - st.st_mtim.tv_sec);
    return found;
}

/* A name in the terminal's and the report's terms has no more. */
enum { NAME_MOST = 128 };

static struct stet_view keep_text(struct stet_arena *a, const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));

    return text ? stet_arena_printf(a, "%.*s", NAME_MOST, text) : (struct stet_view){0};
}

static void take_counts(const json_t *one, struct stet_rank_state *s, struct stet_arena *texts)
{
    s->program = keep_text(texts, one, "program");
    s->runs = take_number(one, "program_runs");
    s->finished = keep_text(texts, one, "finished_program");
    s->pending = keep_text(texts, one, "pending_program");
    s->finished_known = json_is_integer(json_object_get(one, "pending_executions"));
    s->pending_count = take_number(one, "pending_executions");
    s->pending_ns = take_number(one, "pending_ns");
    s->at_least = json_is_true(json_object_get(one, "counts_are_lower_bounds"));
    s->executions = take_number(one, "executions");
    s->steps_known = json_is_integer(json_object_get(one, "steps"));
    s->steps = take_number(one, "steps");
    s->wait_ns = take_number(one, "wait_ns");
    s->memory = take_number(one, "memory_bytes");
    s->memory_peak = take_number(one, "memory_peak_bytes");
    s->age_ns = take_number(one, "age_ns");
}

bool stet_monitor_beacon_take(struct stet_view message, struct stet_rank_state *s,
                              struct stet_arena *texts)
{
    json_t *root = json_loadb(message.ptr, message.len, 0, NULL), *one, *rank;
    uint64_t at = take_number(root, "at"), now = (uint64_t)time(NULL);
    bool found;

    one = json_array_get(json_object_get(root, "ranks"), 0);
    rank = json_object_get(one, "rank");
    found = json_is_integer(rank) && json_integer_value(rank) == s->rank &&
            take_number(one, "pid") && take_state(one, s);
    if (found) {
        struct stet_view host = keep_text(texts, one, "host");

        take_counts(one, s, texts);
        s->pid = take_number(one, "pid");
        s->host = host.len ? host.ptr : "";
        s->remote = true;
        s->seen_s = now > at ? now - at : 0;
    }
    json_decref(root);
    return found;
}
