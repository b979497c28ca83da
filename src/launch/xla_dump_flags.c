/* See xla_dump_flags.h. */
#include "launch/xla_dump_flags.h"

#include "base/fs.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_cpu(const char *value)
{
    return value && (!strcmp(value, "cpu") || !strcmp(value, "CPU") || !strncmp(value, "cpu,", 4));
}

/* The folder in "--xla_dump_to=DIR …"; false when there is none. */
static bool dump_folder(const char *flags, char *out, size_t room)
{
    const char *at = flags ? strstr(flags, "--xla_dump_to=") : NULL;
    size_t n;

    if (!at)
        return false;
    at += 14;
    n = strcspn(at, " ");
    snprintf(out, room, "%.*s", (int)n, at);
    return n > 0 && strcmp(out, "-") != 0;
}

enum stet_rc stet_launch_dump_prepare(struct stet_launch_env *env, const char *folder, bool wanted,
                                      struct stet_err *err)
{
    const char *flags = stet_launch_env_get(env, "XLA_FLAGS");
    char target[4200], mine[4200], *joined;
    enum stet_rc rc;
    size_t room;

    if (!wanted && !is_cpu(stet_launch_env_get(env, "JAX_PLATFORMS")) &&
        !is_cpu(stet_launch_env_get(env, "PJRT_DEVICE")))
        return STET_OK;
    snprintf(mine, sizeof mine, "%s/dump", folder);
    if (strpbrk(mine, " \t\n"))
        return stet_fail(err, STET_UNSUPPORTED,
                         "%s: XLA_FLAGS cannot name a folder with a blank, so nothing is dumped: "
                         "set STET_STATE_DIR to one without",
                         folder);
    if (dump_folder(flags, target, sizeof target)) {
        if (symlink(target, mine) != 0)
            return stet_fail_errno(err, "%s", mine);
    } else {
        rc = stet_fs_mkdirs(mine, err);
        if (rc != STET_OK)
            return rc;
    }
    room = (flags ? strlen(flags) : 0) + sizeof mine + 64;
    joined = stet_mem_alloc(room);
    if (!joined)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for XLA_FLAGS");
    snprintf(joined, room, "%s%s", flags ? flags : "", flags && *flags ? " " : "");
    if (!flags || !strstr(flags, "--xla_dump_to="))
        snprintf(joined + strlen(joined), room - strlen(joined), "--xla_dump_to=%s ", mine);
    if (!flags || !strstr(flags, "--xla_dump_hlo_as_proto"))
        snprintf(joined + strlen(joined), room - strlen(joined), "--xla_dump_hlo_as_proto");
    rc = stet_launch_env_set(env, "XLA_FLAGS", joined, err);
    stet_mem_free(joined);
    return rc;
}

static void remove_others(const char *folder, int depth)
{
    DIR *dir = opendir(folder);
    char path[8400];
    struct stat st;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || lstat(path, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && depth < 3) {
            remove_others(path, depth + 1);
            rmdir(path);
        } else if (!strstr(e->d_name, "optimizations.hlo.pb")) {
            unlink(path);
        }
    }
    if (dir)
        closedir(dir);
}

void stet_launch_dump_tidy(const char *folder)
{
    char mine[4200];
    struct stat st;

    snprintf(mine, sizeof mine, "%s/dump", folder);
    if (lstat(mine, &st) == 0 && S_ISDIR(st.st_mode)) /* a link points to the user's own folder */
        remove_others(mine, 0);
}
