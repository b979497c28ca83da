/* Finds the configured tiers, and the socket of the agent. */
#include "agent/agent.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "stet_version.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

char *stet_agent_tiers(void)
{
    const char *setting = getenv("STET_TIERS"), *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    struct stet_file file;
    char *text = NULL;

    if (setting)
        return *setting ? stet_mem_strdup(setting) : NULL;
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

/* A folder that only this user can have created. */
static enum stet_rc own_folder(const char *path, struct stet_err *err)
{
    struct stat st;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return stet_fail_errno(err, "%s: cannot make folder", path);
    if (lstat(path, &st) != 0)
        return stet_fail_errno(err, "%s: cannot stat", path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return stet_fail(err, STET_IO, "%s: is not a folder of this user alone", path);
    return STET_OK;
}

void stet_agent_absolute(void)
{
    static const char *const files[] = {
#define SETTING(name)
#define SETTING_FILE(name) #name,
#include "agent/settings.def"
#undef SETTING_FILE
#undef SETTING
    };
    char here[PATH_MAX];

    if (!getcwd(here, sizeof here))
        return;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *value = getenv(files[i]);
        char *path = value && *value && *value != '/' ? stet_fs_join(here, value) : NULL;

        if (path)
            setenv(files[i], path, 1);
        stet_mem_free(path);
    }
}

/* Other users can see the names of sockets in /proc/net/unix, and could try passwords until one
 * gives the same name. The name therefore depends on random bytes that only this user can read. */
static enum stet_rc open_salt(const char *folder, unsigned char salt[32], struct stet_err *err)
{
    char path[PATH_MAX], own[PATH_MAX];
    enum stet_rc rc = STET_OK;
    int fd;

    if (snprintf(path, sizeof path, "%s/salt", folder) >= (int)sizeof path ||
        snprintf(own, sizeof own, "%s/salt.%ld", folder, (long)getpid()) >= (int)sizeof own)
        return stet_fail(err, STET_LIMIT, "%s: path too long", folder);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) { /* written completely, then linked: of several writers one wins */
        int made = open(own, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

        if (made < 0 || getrandom(salt, 32, 0) != 32 || stet_fs_write_all(made, salt, 32) != 0)
            rc = stet_fail_errno(err, "%s: cannot write", own);
        if (made >= 0)
            close(made);
        if (rc == STET_OK && link(own, path) != 0 && errno != EEXIST)
            rc = stet_fail_errno(err, "%s: cannot make", path);
        unlink(own);
        fd = rc == STET_OK ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    }
    if (rc == STET_OK && (fd < 0 || read(fd, salt, 32) != 32))
        rc = stet_fail(err, STET_IO, "%s: cannot read 32 bytes", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* BLAKE2b, keyed with the salt, of the tiers with their secrets, every setting and the version. */
static void name_of(struct stet_view tiers, const unsigned char salt[32], unsigned char out[16])
{
    static const char *const names[] = {
#define SETTING(name)      #name,
#define SETTING_FILE(name) #name,
#include "agent/settings.def"
#undef SETTING_FILE
#undef SETTING
    };
    crypto_generichash_state state;

    crypto_generichash_init(&state, salt, 32, 16);
    crypto_generichash_update(&state, (const unsigned char *)STET_VERSION, sizeof STET_VERSION);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        value = value ? value : "";
        crypto_generichash_update(&state, (const unsigned char *)value, strlen(value) + 1);
    }
    crypto_generichash_update(&state, (const unsigned char *)(tiers.len ? tiers.ptr : ""),
                              tiers.len);
    crypto_generichash_final(&state, out, 16);
}

enum stet_rc stet_agent_socket(struct stet_view tiers, char out[PATH_MAX], struct stet_err *err)
{
    const char *setting = getenv("STET_AGENT"), *runtime = getenv("XDG_RUNTIME_DIR");
    unsigned char salt[32], name[16];
    char folder[PATH_MAX], text[33];
    enum stet_rc rc;

    if (setting && *setting == '/') {
        snprintf(out, PATH_MAX, "%s", setting);
        return STET_OK;
    }
    if (runtime && *runtime == '/' && strlen(runtime) < 60)
        snprintf(folder, sizeof folder, "%s/stet", runtime);
    else
        snprintf(folder, sizeof folder, "/tmp/stet-%lu", (unsigned long)geteuid());
    rc = own_folder(folder, err);
    if (rc == STET_OK && sodium_init() < 0)
        rc = stet_fail(err, STET_IO, "libsodium finds no source of randomness");
    if (rc == STET_OK)
        rc = open_salt(folder, salt, err);
    if (rc != STET_OK)
        return rc;
    stet_agent_absolute();
    name_of(tiers, salt, name);
    sodium_bin2hex(text, sizeof text, name, sizeof name);
    if (snprintf(out, PATH_MAX, "%s/agent-%.16s", folder, text) >= PATH_MAX)
        rc = stet_fail(err, STET_LIMIT, "%s: path too long", folder);
    return rc;
}
