/* Launches in which devices of other processes take part. */
#include "backend/api/cpu_launch.h"

#include "base/reader.h"

#include <stdlib.h>

int stet_cpu_joint_place(const struct stet_cpu_launch *l, uint32_t lane)
{
    return l->joint ? l->joint->places[lane].own : (int)lane;
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 63) & ~(uint64_t)63;
}

bool stet_cpu_joint_memory(struct stet_cpu_launch *l)
{
    const struct stet_plan_info *info = l->code->info;
    uint64_t need = 64;
    char *at;

    for (uint32_t i = 0; i < l->inputs; i++)
        need +=
            stet_cpu_joint_place(l, i / l->code->inputs) < 0 ? padded(info->inputs[i].bytes) : 0;
    for (uint32_t i = 0; i < l->outputs; i++)
        need +=
            stet_cpu_joint_place(l, i / l->code->outputs) < 0 ? padded(info->outputs[i].bytes) : 0;
    at = l->foreign = aligned_alloc(64, need);
    if (!at)
        return false;
    for (uint32_t i = 0; i < l->inputs; i++) {
        if (stet_cpu_joint_place(l, i / l->code->inputs) >= 0)
            continue;
        l->in_data[i] = at;
        at += padded(info->inputs[i].bytes);
    }
    for (uint32_t i = 0; i < l->outputs; i++) {
        if (stet_cpu_joint_place(l, i / l->code->outputs) >= 0)
            continue;
        l->out_data[i] = at;
        at += padded(info->outputs[i].bytes);
    }
    return true;
}

/* Copies one process's inputs to their places: those of its lanes, in order. */
static bool take_from(struct stet_cpu_launch *l, uint32_t process, struct stet_view bytes)
{
    const struct stet_plan_info *info = l->code->info;
    uint64_t at = 0;

    for (uint32_t i = 0; i < l->inputs; i++) {
        uint32_t lane = i / l->code->inputs;
        union { /* the memory is ours, through `foreign` */
            const void *read;
            void *write;
        } to = {l->in_data[i]};

        if ((uint32_t)l->joint->places[lane].process != process)
            continue;
        if (bytes.len - at < info->inputs[i].bytes)
            return false;
        if (stet_cpu_joint_place(l, lane) < 0 && info->inputs[i].bytes)
            memcpy(to.write, bytes.ptr + at, info->inputs[i].bytes);
        at += info->inputs[i].bytes;
    }
    return at == bytes.len;
}

static bool take_all(struct stet_cpu_launch *l, struct stet_view answer)
{
    struct stet_reader r;
    bool fits = true;

    stet_reader_init(&r, answer, 0);
    stet_reader_u32(&r);
    for (uint32_t p = 0; fits && p < l->device->client->peers.nodes; p++) {
        bool takes_part = false;

        for (uint32_t i = 0; i < l->code->assignment.count; i++)
            takes_part |= (uint32_t)l->joint->places[i].process == p;
        if (takes_part) {
            struct stet_view theirs = stet_reader_bytes(&r, stet_reader_u64(&r));

            fits = stet_reader_ok(&r) && take_from(l, p, theirs);
        }
    }
    return fits && !stet_reader_left(&r);
}

/* Devices that do not meet: each process computes for its own, and gives the others' the same
 * inputs. */
static void stand_in(struct stet_cpu_launch *l)
{
    const struct stet_plan_info *info = l->code->info;
    uint32_t lane = 0;

    while (stet_cpu_joint_place(l, lane) < 0)
        lane++;
    for (uint32_t i = 0; i < l->inputs; i++) {
        union { /* the memory is ours, through `foreign` */
            const void *read;
            void *write;
        } to = {l->in_data[i]};

        if (stet_cpu_joint_place(l, i / l->code->inputs) < 0 && info->inputs[i].bytes)
            memcpy(to.write, l->in_data[lane * l->code->inputs + i % l->code->inputs],
                   info->inputs[i].bytes);
    }
}

enum stet_rc stet_cpu_joint_meet(struct stet_cpu_launch *l, struct stet_err *err)
{
    const struct stet_plan_info *info = l->code->info;
    struct stet_buf own = {.cap = SIZE_MAX / 2}, all = {.cap = SIZE_MAX / 2};
    struct stet_meeting m = {.set = l->joint->set,
                             .number = l->number,
                             .members = l->joint->processes,
                             .program = stet_hash_bytes(stet_view_str(l->code->fingerprint)),
                             .name = l->code->name};
    enum stet_rc rc;

    if (!l->code->meets) {
        stand_in(l);
        return STET_OK;
    }
    for (uint32_t i = 0; i < l->inputs; i++) {
        if (stet_cpu_joint_place(l, i / l->code->inputs) >= 0 && info->inputs[i].bytes)
            stet_buf_add(&own, l->in_data[i], info->inputs[i].bytes);
    }
    rc = own.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory")
                    : stet_peers_exchange(&l->device->client->peers, &m, &own, &all, err);
    if (rc == STET_OK && !take_all(l, stet_buf_as_view(&all)))
        rc = stet_fail(err, STET_BAD_INPUT, "the inputs of another process do not fit %s",
                       l->code->name);
    stet_buf_release(&own);
    stet_buf_release(&all);
    return rc;
}

bool stet_cpu_joint_count(struct stet_cpu_launch *l)
{
    PJRT_Client *c = l->device->client;
    bool counted;

    if (!l->code->meets)
        return true;
    pthread_mutex_lock(&c->launch_lock);
    l->number = stet_map_get(&c->launches, l->joint->set);
    l->number = l->number == STET_MAP_NONE ? 0 : l->number;
    counted = stet_map_put(&c->launches, l->joint->set, (uint32_t)l->number + 1);
    pthread_mutex_unlock(&c->launch_lock);
    return counted;
}
