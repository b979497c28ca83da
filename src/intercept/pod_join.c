/* Finds this process's place in a job, and a channel to the other ranks. */
#include "base/duration.h"
#include "base/fs.h"
#include "intercept/pod_internal.h"
#include "intercept/ranks.h"
#include "intercept/remote.h"
#include "pod/pod_launch.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the place ---- */

static int64_t option(const PJRT_Client_Create_Args *args, const char *name)
{
    for (size_t i = 0; i < args->num_options; i++) {
        const PJRT_NamedValue *v = &args->create_options[i];

        if (v->type == PJRT_NamedValue_kInt64 && v->name_size == strlen(name) &&
            !memcmp(v->name, name, v->name_size))
            return v->int64_value;
    }
    return -1;
}

/* By the processes of the client's devices. */
static bool by_devices(struct stet_plugin *p, PJRT_Client *client, struct stet_pod_settings *s)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_ProcessIndex_Args own = {.struct_size = PJRT_Client_ProcessIndex_Args_STRUCT_SIZE,
                                         .client = client};
    int64_t processes = stet_ranks_processes(p, client);

    if (processes < 2 || !stet_api_has(real, PJRT_Client_ProcessIndex) ||
        stet_plugin_drop(p, real->PJRT_Client_ProcessIndex(&own)) || own.process_index < 0 ||
        own.process_index >= processes)
        return false;
    s->rank = own.process_index;
    s->world = processes;
    s->spans = true;
    return true;
}

static bool find_place(struct stet_plugin *p, PJRT_Client *client,
                       const PJRT_Client_Create_Args *args, struct stet_pod_settings *s)
{
    stet_pod_launcher_own(&s->place);
    if (by_devices(p, client, s))
        return true;
    s->rank = option(args, "node_id");
    s->world = option(args, "num_nodes");
    if (s->rank >= 0 && s->world > 1 && s->rank < s->world)
        return true;
    s->rank = s->place.rank;
    s->world = s->place.world;
    return s->rank >= 0 && s->world > 1;
}

static bool is_word(const char *name, const char *word)
{
    const char *value = getenv(name);

    return value && !strcmp(value, word);
}

static void read_settings(struct stet_pod_settings *s)
{
    const char *only = getenv("STET_RANKS_CHANNEL"), *late = getenv("STET_RANKS_LATE");

    s->refuses = is_word("STET_ON_DIVERGENCE", "fail");
    if (only)
        snprintf(s->only, sizeof s->only, "%s", only);
    if (late)
        stet_duration_read(late, STET_DURATION_S, 24u * 3600 * 1000, &s->late_ms);
}

void stet_intercept_pod_join(struct stet_plugin *p, PJRT_Client *client, uint32_t id,
                             const PJRT_Client_Create_Args *args)
{
    struct stet_pod_settings s = {0};

    read_settings(&s);
    if (!id || is_word("STET_ON_DIVERGENCE", "off") || !strcmp(s.only, "off") ||
        !find_place(p, client, args, &s))
        return;
    pthread_mutex_lock(&stet_pod.lock);
    if (!stet_pod.running) { /* also after an earlier client of this process has gone */
        stet_pod.set = s;
        /* Outside a job, jaxlib leaves these fields unset: they are not NULL (docs/abi.md). */
        stet_pod.has_kv =
            option(args, "num_nodes") > 1 && stet_intercept_pod_kv_init(&stet_pod.kv, args);
        stet_pod.client = stet_pod.has_kv ? id : 0;
        stet_intercept_pod_start();
    }
    pthread_mutex_unlock(&stet_pod.lock);
}

/* ---- the channel ---- */

static bool may_use(const char *word)
{
    return !stet_pod.set.only[0] || !strcmp(stet_pod.set.only, word);
}

/* False: another process has this rank. */
static bool use(const struct stet_pod_channel_kind *kind, void *self, const char *prefix,
                enum stet_pod_reach reach)
{
    struct stet_err err = STET_ERR_INIT;

    stet_pod_channel_init(&stet_pod.channel, kind, self, prefix, reach);
    if (stet_pod_launch_join(&stet_pod.channel, stet_pod.set.rank, &err) == STET_OK)
        return true;
    snprintf(stet_pod.why, sizeof stet_pod.why, "%.150s", err.text);
    return false;
}

static bool try_kv(void)
{
    return stet_pod.has_kv && may_use("kv") &&
           use(&stet_pod_kv_kind, &stet_pod.kv, "stet/3/", STET_POD_REACH_JOB);
}

static bool try_jax(void)
{
    int64_t rank = -1, world = 0;

    if (!may_use("jax") || !stet_intercept_pod_jax_find(&rank, &world))
        return false;
    if (!stet_pod.set.spans) { /* a plugin that sees its own devices alone */
        stet_pod.set.rank = rank;
        stet_pod.set.world = world;
    }
    return rank == stet_pod.set.rank && world == stet_pod.set.world &&
           use(&stet_pod_jax_kind, NULL, "stet/3/", STET_POD_REACH_JOB);
}

/* The state folder: the run's folder is <state>/runs/<run>. */
static bool state_folder(char *out, size_t room)
{
    const char *runs = strstr(stet_layer.dir, "/runs/");

    for (const char *next = runs; next; next = strstr(next + 1, "/runs/"))
        runs = next;
    return runs &&
           snprintf(out, room, "%.*s", (int)(runs - stet_layer.dir), stet_layer.dir) < (int)room;
}

static bool open_folder(const char *path, enum stet_pod_reach reach)
{
    struct stet_err err = STET_ERR_INIT;

    if (stet_pod_folder_open(&stet_pod.folder, path, &err) == STET_OK)
        return use(&stet_pod_folder_kind, &stet_pod.folder, "", reach);
    snprintf(stet_pod.why, sizeof stet_pod.why, "%.150s", err.text);
    return false;
}

/* A folder that other hosts see too: the user's, or the job's in a state folder on a network file
 * system. On one host, where all ranks are children of one `stet run`, the run's own. */
static bool try_shared_folder(void)
{
    const struct stet_pod_place *at = &stet_pod.set.place;
    const char *told = getenv("STET_RANKS_DIR");
    char state[PATH_MAX], path[PATH_MAX + 64], job[STET_HASH_TEXT];

    if (!may_use("folder"))
        return false;
    stet_hash_format(at->job, job);
    if (told && *told == '/') {
        snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - 40, told,
                 stet_hash_is_zero(at->job) ? "job" : job);
        return open_folder(path, STET_POD_REACH_ALL);
    }
    if (!stet_hash_is_zero(at->job) && state_folder(state, sizeof state) &&
        stet_fs_network(state)) {
        snprintf(path, sizeof path, "%s/jobs/%s", state, job);
        return open_folder(path, STET_POD_REACH_ALL);
    }
    return false;
}

static bool all_here(void)
{
    const struct stet_pod_place *at = &stet_pod.set.place;

    return at->local_world && at->local_world == at->world;
}

static bool try_run_folder(void)
{
    char path[PATH_MAX + 64], job[STET_HASH_TEXT];

    if (!may_use("folder") || !stet_layer.dir[0])
        return false;
    stet_hash_format(stet_pod.set.place.job, job);
    snprintf(path, sizeof path, "%.*s/ranks/%s", PATH_MAX - 48, stet_layer.dir, job);
    return open_folder(path, all_here() ? STET_POD_REACH_ALL : STET_POD_REACH_SOME);
}

static bool try_agent(void)
{
    char prefix[48], job[STET_HASH_TEXT];

    if (!may_use("agent") || !stet_remote_has_agent() || stet_hash_is_zero(stet_pod.set.place.job))
        return false;
    stet_hash_format(stet_pod.set.place.job, job);
    snprintf(prefix, sizeof prefix, "%s/", job);
    return use(&stet_pod_agent_kind, NULL, prefix, STET_POD_REACH_ALL);
}

void stet_intercept_pod_write_job(struct stet_hash job, const char *why)
{
    struct stet_event *e =
        atomic_exchange(&stet_pod.job_written, true) ? NULL : stet_event_new(STET_REC_job);

    if (!e)
        return;
    e->record.job = (struct stet_rec_job){
        .rank = (uint64_t)stet_pod.set.rank,
        .world = (uint64_t)stet_pod.set.world,
        .refuses = stet_pod.set.refuses,
        .job = job,
    };
    if (why)
        e->record.job.why = stet_arena_copy(&e->arena, stet_view_str(why));
    if (stet_pod.member)
        e->record.job.channel = stet_view_str(stet_pod.channel.kind->word);
    stet_event_send(e);
}

bool stet_intercept_pod_choose(void)
{
    bool chosen = try_kv() || try_jax() || try_shared_folder() ||
                  (all_here() && try_run_folder()) || try_agent() || try_run_folder();

    if (!chosen)
        stet_intercept_pod_write_job((struct stet_hash){0}, stet_pod.why[0]
                                                                ? stet_pod.why
                                                                : "there is no channel to the "
                                                                  "others");
    return chosen;
}
