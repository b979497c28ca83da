/* Which tiers, and where the agent listens. */
#include "agent/agent.h"
#include "agent/url.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *stet_agent_tiers(void)
{
    const char *told = getenv("STET_TIERS"), *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    struct stet_file file;
    char *text = NULL;

    if (told)
        return *told ? stet_mem_strdup(told) : NULL;
    if (config && *config == '/')
        snprintf(path, sizeof path, "%s/stet/tiers", config);
    else if (home && *home == '/')
        snprintf(path, sizeof path, "%s/.config/stet/tiers", home);
    else
        return NULL;
    if (stet_file_open(&file, path, NULL) != STET_OK)
        return NULL;
    text = stet_mem_calloc(1, file.bytes.len + 1);
    if (text && file.bytes.len)
        memcpy(text, file.bytes.ptr, file.bytes.len);
    stet_file_close(&file);
    return text;
}

/* A folder that only this user can have made. */
static enum stet_rc own_folder(const char *path, struct stet_err *err)
{
    struct stat st;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return stet_fail_errno(err, "%s: cannot make folder", path);
    if (lstat(path, &st) != 0)
        return stet_fail_errno(err, "%s: cannot look at", path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return stet_fail(err, STET_IO, "%s: is not a folder of this user alone", path);
    return STET_OK;
}

/* Everything between "://" and '@' is left out. */
static struct stet_hash name_of(struct stet_view tiers)
{
    struct stet_buf plain = STET_BUF_INIT;
    struct stet_hash h;

    for (size_t i = 0; i < tiers.len; i++) {
        size_t at = i + 3, end;

        stet_buf_char(&plain, tiers.ptr[i]);
        if (!stet_view_starts(stet_view_of(tiers.ptr + i, tiers.len - i), "://"))
            continue;
        for (end = at; end < tiers.len && !strchr(" \t\r\n,/?", tiers.ptr[end]); end++) {
            if (tiers.ptr[end] == '@')
                at = end + 1;
        }
        i = at - 1;
    }
    h = stet_hash_bytes(stet_buf_as_view(&plain));
    stet_buf_release(&plain);
    return h;
}

enum stet_rc stet_agent_socket(struct stet_view tiers, char out[PATH_MAX], struct stet_err *err)
{
    const char *told = getenv("STET_AGENT"), *runtime = getenv("XDG_RUNTIME_DIR");
    char name[STET_HASH_TEXT], folder[PATH_MAX];
    enum stet_rc rc;

    if (told && *told == '/') {
        snprintf(out, PATH_MAX, "%s", told);
        return STET_OK;
    }
    if (runtime && *runtime == '/' && strlen(runtime) < 60)
        snprintf(folder, sizeof folder, "%s/stet", runtime);
    else
        snprintf(folder, sizeof folder, "/tmp/stet-%lu", (unsigned long)geteuid());
    rc = own_folder(folder, err);
    stet_hash_format(name_of(tiers), name);
    if (rc == STET_OK && snprintf(out, PATH_MAX, "%s/agent-%.8s", folder, name) >= PATH_MAX)
        rc = stet_fail(err, STET_LIMIT, "%s: path too long", folder);
    return rc;
}
