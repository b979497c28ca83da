/* What the member of a pod asks its process, and what it reports (pod/member.h). On the pod's
 * thread. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/path.h"
#include "intercept/pod_internal.h"
#include "intercept/python.h"
#include "journal/remote_stack.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- state ---- */

static uint64_t executions(void *context, struct stet_hash scope)
{
    uint64_t runs = stet_hash_is_zero(scope) ? atomic_load(&stet_pod.runs) : 0;

    (void)context;
    pthread_mutex_lock(&stet_pod.lock);
    for (size_t i = 0; i < stet_pod.scope_count; i++) {
        if (stet_hash_eq(stet_pod.scopes[i].hash, scope))
            runs = atomic_load(&stet_pod.scopes[i].runs);
    }
    pthread_mutex_unlock(&stet_pod.lock);
    return runs;
}

/* The user's line of the thread that last waited for a compile. It is read as from outside: that
 * thread goes on meanwhile. */
static void read_line(struct stet_pod_state *out)
{
    static struct stet_remote_frame frames[STET_REMOTE_FRAMES];
    const struct stet_intercept_python *py = stet_intercept_python();
    const struct stet_remote_place place = {.pid = getpid(),
                                            .state = atomic_load(&stet_pod.py_state),
                                            .code_type = atomic_load(&stet_pod.py_code_type),
                                            .minor = py ? py->minor : 0};
    size_t n = py && place.state ? stet_remote_stack_read(&place, frames, NULL) : 0, own = 0;

    while (own < n && stet_path_is_installed(stet_view_str(frames[own].file)))
        own++;
    if (!n)
        return;
    own = own < n ? own : 0;
    snprintf(out->file, sizeof out->file, "%.191s", frames[own].file);
    snprintf(out->function, sizeof out->function, "%s", frames[own].function);
    out->line = frames[own].line;
}

static void describe(void *context, struct stet_pod_state *out)
{
    uint32_t last = atomic_load(&stet_pod.last_executable);

    (void)context;
    *out = (struct stet_pod_state){.executions = atomic_load(&stet_pod.runs),
                                   .loads = atomic_load(&stet_pod.loads),
                                   .overlaps = atomic_load(&stet_pod.overlaps),
                                   .pid = (uint64_t)getpid()};
    gethostname(out->host, sizeof out->host - 1);
    pthread_mutex_lock(&stet_pod.lock);
    out->compiling = stet_pod.compiling[0] != '\0';
    if (out->compiling)
        snprintf(out->program, sizeof out->program, "%s", stet_pod.compiling);
    else if (last)
        snprintf(out->program, sizeof out->program, "%s", stet_pod.names[last % STET_POD_NAMES]);
    pthread_mutex_unlock(&stet_pod.lock);
    read_line(out);
}

static void give_flags(void *context, char out[STET_POD_FLAGS])
{
    (void)context;
    pthread_mutex_lock(&stet_pod.lock);
    memcpy(out, stet_pod.flags, STET_POD_FLAGS);
    pthread_mutex_unlock(&stet_pod.lock);
}

/* ---- captured programs ---- */

static const char *const extensions[] = {"mlirbc", "mlir",   "hlo.pb", "hlo_with_config.pb",
                                         "bin",    "options"};
enum { EXTENSIONS = sizeof extensions / sizeof *extensions, CAPTURED_MOST = 64 << 20 };

static bool path_of(char *out, size_t room, struct stet_hash hash, size_t extension)
{
    char name[STET_HASH_TEXT];

    stet_hash_format(hash, name);
    return snprintf(out, room, "%s/programs/%s.%s.zst", stet_layer.dir, name,
                    extensions[extension]) < (int)room;
}

/* The number of its extension, and the file as it is on disk. */
static bool captured(void *context, struct stet_hash hash, bool options, struct stet_buf *out)
{
    char path[PATH_MAX + 96];
    struct stet_file file;

    (void)context;
    for (size_t i = options ? EXTENSIONS - 1 : 0; i < (options ? EXTENSIONS : EXTENSIONS - 1);
         i++) {
        if (!path_of(path, sizeof path, hash, i) ||
            stet_file_open_small(&file, path, CAPTURED_MOST, NULL) != STET_OK)
            continue;
        stet_buf_char(out, (char)('a' + i));
        stet_buf_view(out, file.bytes);
        stet_file_close(&file);
        return !out->failed;
    }
    return false;
}

static void keep(void *context, struct stet_hash hash, bool options, struct stet_view bytes)
{
    char path[PATH_MAX + 96], folder[PATH_MAX + 16];
    size_t extension = bytes.len ? (size_t)(unsigned char)bytes.ptr[0] - 'a' : EXTENSIONS;

    (void)context;
    if (extension >= EXTENSIONS || (extension == EXTENSIONS - 1) != options ||
        !path_of(path, sizeof path, hash, extension))
        return;
    snprintf(folder, sizeof folder, "%s/programs", stet_layer.dir);
    if (stet_fs_mkdirs(folder, NULL) == STET_OK && !stet_fs_exists(path))
        stet_fs_write_unsynced(path, stet_view_of(bytes.ptr + 1, bytes.len - 1), NULL);
}

/* ---- findings ---- */

static struct stet_list lines(struct stet_arena *a, const char *text)
{
    struct stet_view all = stet_arena_copy(a, stet_view_str(text)), *items;
    size_t n = 0, at = 0;

    for (size_t i = 0; i < all.len; i++)
        n += all.ptr[i] == '\n';
    items = STET_NEW_ARRAY(a, struct stet_view, n + 1);
    for (size_t i = 0, k = 0; items && i < all.len; i++) {
        if (all.ptr[i] != '\n')
            continue;
        items[k++] = stet_view_of(all.ptr + at, i - at);
        at = i + 1;
    }
    return (struct stet_list){items, items ? n : 0};
}

static struct stet_u64s numbers(struct stet_arena *a, const int64_t *from, size_t n)
{
    uint64_t *to = STET_NEW_ARRAY(a, uint64_t, n + 1);

    for (size_t i = 0; to && i < n; i++)
        to[i] = (uint64_t)from[i];
    return (struct stet_u64s){to, to ? n : 0};
}

static struct stet_u64s with_opinion(struct stet_arena *a, const struct stet_pod_verdict *v,
                                     enum stet_pod_opinion opinion)
{
    int64_t ranks[STET_POD_WITNESSES];
    size_t n = 0;

    for (size_t i = 0; i < STET_POD_WITNESSES; i++) {
        if (v->witness[i] >= 0 && v->opinion[i] == opinion)
            ranks[n++] = v->witness[i];
    }
    return numbers(a, ranks, n);
}

static uint64_t parts_of(const struct stet_pod_verdict *v)
{
    uint64_t bits = 0;

    if (v->finding != STET_POD_DIFFERS || !stet_pod_entry_exists(&v->own) ||
        !stet_pod_entry_exists(&v->theirs))
        return 1;
    for (size_t i = 0; i < STET_POD_PARTS; i++)
        bits |= (uint64_t)!stet_hash_eq(v->own.part[i], v->theirs.part[i]) << i;
    return bits;
}

static void write_state(struct stet_arena *a, struct stet_rec_agreement *r,
                        const struct stet_pod_state *s)
{
    r->file = stet_arena_copy(a, stet_view_str(s->file));
    r->line = s->line;
    r->function = stet_arena_copy(a, stet_view_str(s->function));
    r->program = stet_arena_copy(a, stet_view_str(s->program));
    r->executions = s->executions;
    r->compiling = s->compiling;
    r->host = stet_arena_copy(a, stet_view_str(s->host));
    r->pid = s->pid;
}

static size_t scope_size(const struct stet_pod_verdict *v)
{
    size_t count = 0;

    pthread_mutex_lock(&stet_pod.lock);
    for (size_t i = 0; i < stet_pod.scope_count; i++) {
        if (stet_hash_eq(stet_pod.scopes[i].hash, v->own.scope) ||
            stet_hash_eq(stet_pod.scopes[i].hash, v->theirs.scope))
            count = stet_pod.scopes[i].count;
    }
    pthread_mutex_unlock(&stet_pod.lock);
    return count;
}

/* For the error of a compile that is refused. */
static void note_other(const struct stet_pod_verdict *v)
{
    for (struct stet_pod_turn *t = stet_pod.open; t; t = t->next) {
        if (stet_pod_entry_exists(&v->own) && t->entry.number == v->own.number)
            atomic_store(&t->other, v->other + 1);
    }
}

static void verdict(void *context, const struct stet_pod_verdict *v)
{
    struct stet_event *e = stet_event_new(STET_REC_agreement);
    bool own = stet_pod_entry_exists(&v->own);
    char flags[STET_POD_FLAGS] = "";
    struct stet_rec_agreement *r;

    note_other(v);
    if (!e)
        return;
    r = &e->record.agreement;
    *r = (struct stet_rec_agreement){
        .index = own ? stet_pod.indexes[v->own.number % STET_POD_NAMES] : 0,
        .finding = v->finding,
        .certain = v->certain,
        .other = (uint64_t)(v->other + 1),
        .ranks = scope_size(v),
        .parts = parts_of(v),
        .went_on = v->went_on,
        .answered = v->answered || v->finding == STET_POD_DIFFERS,
        .missing_count = v->missing_count,
        .after_ns = v->after_ns,
    };
    r->name = stet_arena_copy(&e->arena, stet_view_str(own ? v->own.name : v->theirs.name));
    if (stet_pod_entry_exists(&v->theirs)) {
        r->other_program = v->theirs.bytes;
        r->other_options = v->theirs.option_bytes;
        r->other_name = stet_arena_copy(&e->arena, stet_view_str(v->theirs.name));
    }
    if (r->parts & (1u << STET_POD_ENVIRONMENT | 1u << STET_POD_PLUGIN)) {
        give_flags(context, flags);
        r->flags = lines(&e->arena, flags);
        r->other_flags = lines(&e->arena, v->flags);
    }
    write_state(&e->arena, r, &v->state);
    r->like_this = with_opinion(&e->arena, v, STET_POD_LIKE_THIS);
    r->like_other = with_opinion(&e->arena, v, STET_POD_LIKE_OTHER);
    r->missing = numbers(&e->arena, v->missing,
                         v->missing_count < STET_POD_MISSED ? v->missing_count : STET_POD_MISSED);
    stet_event_send(e);
}

/* The job's name, for commands that look for the runs of its other ranks. */
static void write_name(struct stet_hash job)
{
    char path[PATH_MAX + 8], text[STET_HASH_TEXT];

    stet_hash_format(job, text);
    snprintf(path, sizeof path, "%s/job", stet_layer.dir);
    if (!stet_hash_is_zero(job) && stet_fs_mkdirs(stet_layer.dir, NULL) == STET_OK &&
        !stet_fs_exists(path))
        stet_fs_write_unsynced(path, stet_view_str(text), NULL);
}

static void joined(void *context, struct stet_hash job)
{
    (void)context;
    write_name(job);
    stet_intercept_pod_write_job(job, NULL);
}

void stet_intercept_pod_host(struct stet_pod_host *out)
{
    *out = (struct stet_pod_host){.executions = executions,
                                  .describe = describe,
                                  .captured = captured,
                                  .keep = keep,
                                  .flags = give_flags,
                                  .verdict = verdict,
                                  .joined = joined};
}

/* When a job ends, its channel may be gone before its processes are: that is no fault. It was not
 * the end if much time passed after it, or more than before. */
static bool was_at_the_end(const struct stet_pod_channel *c)
{
    uint64_t after = stet_clock_ns() - c->given_up_ns;

    return after < UINT64_C(10000000000) && after < c->given_up_ns - c->begin_ns;
}

/* Why comparing came to nothing, or to an end before the job's; NULL if it did not. */
static const char *why_not(bool ended)
{
    struct stet_pod_channel *c = &stet_pod.channel;
    const struct stet_pod_traffic *t = &c->traffic;
    uint64_t calls = atomic_load(&t->puts) + atomic_load(&t->gets);
    bool useless = calls && atomic_load(&t->failures) >= calls;

    if (!ended)
        return "a call of the channel did not return";
    if (!stet_pod.member)
        return NULL; /* there is no channel: it is said already */
    if (stet_pod_member_apart(stet_pod.member))
        return stet_pod_member_apart(stet_pod.member);
    if (atomic_load(&c->given_up) && (useless || !was_at_the_end(c)))
        return c->why;
    if (atomic_load(&t->damaged)) /* a reader does not get past such a message */
        return "the channel returns other values than were written";
    return useless ? "every call of the channel failed or took too long" : NULL;
}

void stet_intercept_pod_summary(bool ended)
{
    static atomic_bool written;
    const struct stet_pod_traffic *t = &stet_pod.channel.traffic;
    const char *why;
    struct stet_event *e =
        atomic_exchange(&written, true) ? NULL : stet_event_new(STET_REC_job_end);

    if (!e)
        return;
    e->record.job_end = (struct stet_rec_job_end){
        .compared = atomic_load(&stet_pod.compared),
        .puts = atomic_load(&t->puts),
        .gets = atomic_load(&t->gets),
        .bytes = atomic_load(&t->bytes_out) + atomic_load(&t->bytes_in),
        .failures = atomic_load(&t->failures),
        .waited_ns = atomic_load(&stet_pod.waited_ns),
        .cpu_ns = stet_pod.cpu_ns,
    };
    if (ended && stet_pod.member)
        e->record.job_end.open = stet_pod_member_open(stet_pod.member);
    why = why_not(ended);
    if (why)
        e->record.job_end.why = stet_arena_copy(&e->arena, stet_view_str(why));
    stet_event_send(e);
}
