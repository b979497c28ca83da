/* Reads the traces of earlier runs again, for their lookups in torch's caches, when a run missed a
 * cache. */
#include "session/torch_rows.h"

#include "base/fs.h"
#include "base/mem.h"
#include "ingest/cache_key.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* The newest few runs show what changed; more runs would only take more time. */
enum { RUNS = 4 };
static const uint64_t most_bytes = 256 << 20;

static bool missed(const struct stet_torch *t)
{
    for (size_t i = 0; i < t->torch_key_count; i++) {
        if (t->torch_keys[i].got == STET_CACHE_MISS)
            return true;
    }
    return false;
}

static uint64_t size_of(const char *folder)
{
    DIR *dir = opendir(folder);
    uint64_t bytes = 0;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        char *path = e->d_name[0] == '.' ? NULL : stet_fs_join(folder, e->d_name);
        struct stat st;

        if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            bytes += (uint64_t)st.st_size;
        stet_mem_free(path);
    }
    if (dir)
        closedir(dir);
    return bytes;
}

static bool know(struct stet_torch *t, const struct stet_run *earlier, uint64_t *budget)
{
    char *folder = stet_fs_join(earlier->folder, "torch");
    uint64_t bytes = folder ? size_of(folder) : 0;
    struct stet_torch other;
    bool any = false;

    stet_mem_free(folder);
    if (!bytes || bytes > *budget)
        return false;
    *budget -= bytes;
    stet_torch_init(&other);
    if (stet_session_torch_load_run(&other, earlier, NULL) == STET_OK) {
        any = other.torch_key_count > 0;
        stet_torch_know_keys(t, &other, earlier->id);
    }
    stet_torch_release(&other);
    return any;
}

void stet_session_torch_load_past(struct stet_torch *t, const struct stet_run *run)
{
    uint64_t budget = most_bytes;
    struct stet_runs runs;
    size_t known = 0;

    if (!missed(t) || stet_ledger_runs_open(&runs, NULL) != STET_OK)
        return;
    for (size_t i = 0; i < runs.count && known < RUNS; i++) { /* newest first */
        const struct stet_run *r = &runs.items[i];

        if (r->started_ns < run->started_ns && !strcmp(r->cwd, run->cwd) &&
            strcmp(r->id, run->id) != 0)
            known += know(t, r, &budget);
    }
    stet_ledger_runs_close(&runs);
}
