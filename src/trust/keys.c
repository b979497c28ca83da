/* Text files with one key per line: "ed25519:<hex> comment". */
#include "trust/keys.h"

#include "base/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char public_word[] = "ed25519:", secret_word[] = "ed25519-secret:";

enum { KEYS_MAX = 4096 };

static char *config_path(const char *variable, const char *name, struct stet_err *err)
{
    const char *own = getenv(variable), *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char *folder = NULL, *path = NULL;

    if (own && *own)
        return stet_mem_strdup(own);
    if (xdg && *xdg == '/')
        folder = stet_fs_join(xdg, "stet");
    else if (home && *home == '/')
        folder = stet_fs_join(home, ".config/stet");
    else
        stet_fail(err, STET_IO, "no home folder: set %s", variable);
    if (folder)
        path = stet_fs_join(folder, name);
    stet_mem_free(folder);
    return path;
}

char *stet_trust_signing_path(struct stet_err *err)
{
    return config_path("STET_SIGNING_KEY", "signing.key", err);
}

char *stet_trust_keys_path(struct stet_err *err)
{
    return config_path("STET_TRUSTED_KEYS", "trusted.keys", err);
}

void stet_trust_public_format(const struct stet_public *key, char out[STET_PUBLIC_TEXT])
{
    memcpy(out, public_word, sizeof public_word);
    sodium_bin2hex(out + sizeof public_word - 1, 2 * STET_PUBLIC_KEY + 1, key->bytes,
                   sizeof key->bytes);
}

static bool parse(struct stet_view text, const char *word, unsigned char out[32])
{
    size_t n = strlen(word), got;

    return text.len == n + 64 && !memcmp(text.ptr, word, n) &&
           sodium_hex2bin(out, 32, text.ptr + n, 64, NULL, &got, NULL) == 0 && got == 32;
}

bool stet_trust_public_parse(struct stet_view text, struct stet_public *out)
{
    return parse(text, public_word, out->bytes);
}

/* Up to the first space. */
static struct stet_view first_word(struct stet_view line)
{
    size_t n = 0;

    while (n < line.len && line.ptr[n] > ' ')
        n++;
    return stet_view_of(line.ptr, n);
}

static bool from_seed(struct stet_signer *s, const unsigned char seed[32])
{
    return crypto_sign_seed_keypair(s->public.bytes, s->secret, seed) == 0;
}

static enum stet_rc make_folder(const char *path, struct stet_err *err)
{
    char *folder = stet_mem_strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    enum stet_rc rc = STET_OK;

    if (slash && slash != folder) {
        *slash = '\0';
        rc = stet_fs_mkdirs(folder, err);
    }
    stet_mem_free(folder);
    return rc;
}

enum stet_rc stet_trust_signer_make(struct stet_signer *s, const char *path, struct stet_err *err)
{
    char line[sizeof secret_word + 66];
    unsigned char seed[32];
    enum stet_rc rc = STET_OK;
    int fd;

    if (sodium_init() < 0)
        return stet_fail(err, STET_IO, "libsodium finds no source of randomness");
    if (make_folder(path, err) != STET_OK)
        return STET_IO;
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == EEXIST ? stet_fail(err, STET_USAGE,
                                           "%s: a key exists already and is not replaced", path)
                               : stet_fail_errno(err, "%s: cannot create", path);
    randombytes_buf(seed, sizeof seed);
    memcpy(line, secret_word, sizeof secret_word);
    sodium_bin2hex(line + sizeof secret_word - 1, 65, seed, sizeof seed);
    memcpy(line + strlen(line), "\n", 2);
    if (!from_seed(s, seed) || stet_fs_write_all(fd, line, strlen(line)) != 0 || fsync(fd) != 0)
        rc = stet_fail_errno(err, "%s: cannot write", path);
    close(fd);
    if (rc != STET_OK)
        unlink(path);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(line, sizeof line);
    return rc;
}

/* Files that list trusted keys must belong to the user or to root, and no other user may have
 * `mode`. */
static enum stet_rc check_owner(const char *path, mode_t mode, const char *what,
                                struct stet_err *err)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return errno == ENOENT ? STET_NOT_FOUND : stet_fail_errno(err, "%s: cannot stat", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return stet_fail(err, STET_REFUSED, "%s: belongs to another user: not used", path);
    if (st.st_mode & mode)
        return stet_fail(err, STET_REFUSED, "%s: others may %s it: not used (chmod %s)", path, what,
                         mode & S_IRGRP ? "600" : "go-w");
    return STET_OK;
}

enum stet_rc stet_trust_signer_open(struct stet_signer *s, const char *path, struct stet_err *err)
{
    enum stet_rc rc = check_owner(path, S_IRWXG | S_IRWXO, "read", err);
    struct stet_file file;
    unsigned char seed[32];

    if (sodium_init() < 0)
        return stet_fail(err, STET_IO, "libsodium finds no source of randomness");
    if (rc == STET_OK)
        rc = stet_file_open(&file, path, err);
    if (rc != STET_OK)
        return rc;
    if (!parse(first_word(file.bytes), secret_word, seed) || !from_seed(s, seed))
        rc = stet_fail(err, STET_BAD_INPUT, "%s: not a signing key", path);
    stet_file_close(&file);
    sodium_memzero(seed, sizeof seed);
    return rc;
}

void stet_trust_signer_release(struct stet_signer *s)
{
    sodium_memzero(s, sizeof *s);
}

enum stet_rc stet_trust_extend(struct stet_trust *t, const struct stet_public *key,
                               struct stet_err *err)
{
    void *grown =
        t->count < KEYS_MAX ? stet_mem_resize(t->keys, t->count + 1, sizeof *t->keys) : NULL;

    if (!grown)
        return stet_fail(err, STET_LIMIT, "too many trusted keys");
    t->keys = grown;
    t->keys[t->count++] = *key;
    return STET_OK;
}

enum stet_rc stet_trust_open(struct stet_trust *t, const char *path, struct stet_err *err)
{
    const char *any = getenv("STET_TRUST");
    struct stet_file file;
    struct stet_view left;
    enum stet_rc rc;

    *t = (struct stet_trust){.anyone = any && !strcmp(any, "any")};
    if (sodium_init() < 0)
        return stet_fail(err, STET_IO, "libsodium finds no source of randomness");
    rc = check_owner(path, S_IWGRP | S_IWOTH, "write", err);
    if (rc == STET_NOT_FOUND)
        return STET_OK;
    if (rc == STET_OK)
        rc = stet_file_open(&file, path, err);
    if (rc != STET_OK)
        return rc;
    for (left = file.bytes; rc == STET_OK && left.len;) {
        const char *end = memchr(left.ptr, '\n', left.len);
        size_t n = end ? (size_t)(end - left.ptr) : left.len;
        struct stet_view word = first_word(stet_view_of(left.ptr, n));
        struct stet_public key;

        if (stet_trust_public_parse(word, &key))
            rc = stet_trust_extend(t, &key, err);
        else if (word.len && word.ptr[0] != '#')
            rc = stet_fail(err, STET_BAD_INPUT, "%s: not a key: %.*s", path, STET_FMT(word));
        n += end != NULL;
        left = stet_view_of(left.ptr + n, left.len - n);
    }
    stet_file_close(&file);
    if (rc != STET_OK)
        stet_trust_release(t);
    return rc;
}

void stet_trust_release(struct stet_trust *t)
{
    stet_mem_free(t->keys);
    *t = (struct stet_trust){0};
}

bool stet_trust_has(const struct stet_trust *t, const struct stet_public *key)
{
    for (size_t i = 0; i < t->count; i++) {
        if (!memcmp(t->keys[i].bytes, key->bytes, sizeof key->bytes))
            return true;
    }
    return false;
}

enum stet_rc stet_trust_add(const char *path, const struct stet_public *key, const char *comment,
                            struct stet_err *err)
{
    struct stet_buf line = STET_BUF_INIT;
    char text[STET_PUBLIC_TEXT];
    struct stet_trust known;
    enum stet_rc rc = stet_trust_open(&known, path, err);
    int fd;

    if (rc != STET_OK)
        return rc;
    if (stet_trust_has(&known, key)) {
        stet_trust_release(&known);
        return STET_OK;
    }
    stet_trust_release(&known);
    stet_trust_public_format(key, text);
    stet_buf_printf(&line, "%s%s%s\n", text, comment && *comment ? " " : "",
                    comment ? comment : "");
    if (make_folder(path, err) != STET_OK || line.failed) {
        stet_buf_release(&line);
        return STET_IO;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || stet_fs_write_all(fd, line.ptr, line.len) != 0 || fsync(fd) != 0)
        rc = stet_fail_errno(err, "%s: cannot write", path);
    if (fd >= 0)
        close(fd);
    stet_buf_release(&line);
    return rc;
}

/* The lines of a key file that do not begin with this key. */
static bool other_lines(struct stet_view all, const struct stet_public *key, struct stet_buf *out)
{
    bool found = false;

    while (all.len) {
        const char *end = memchr(all.ptr, '\n', all.len);
        size_t n = end ? (size_t)(end - all.ptr) + 1 : all.len;
        struct stet_public one;

        if (stet_trust_public_parse(first_word(stet_view_of(all.ptr, n)), &one) &&
            !memcmp(one.bytes, key->bytes, sizeof one.bytes))
            found = true;
        else
            stet_buf_add(out, all.ptr, n);
        all = stet_view_of(all.ptr + n, all.len - n);
    }
    return found;
}

enum stet_rc stet_trust_remove(const char *path, const struct stet_public *key,
                               struct stet_err *err)
{
    char real[PATH_MAX];
    struct stet_buf left = STET_BUF_INIT;
    struct stet_file file;
    enum stet_rc rc = check_owner(path, S_IWGRP | S_IWOTH, "write", err);

    if (rc == STET_OK && !realpath(path, real)) /* what a link names is written, not the link */
        rc = stet_fail_errno(err, "%s: cannot resolve", path);
    if (rc == STET_OK)
        rc = stet_file_open(&file, real, err);
    if (rc != STET_OK)
        return rc;
    if (!other_lines(file.bytes, key, &left))
        rc = STET_NOT_FOUND;
    stet_file_close(&file);
    if (rc == STET_OK && left.failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for %s", path);
    if (rc == STET_OK)
        rc = stet_fs_write(real, stet_buf_as_view(&left), err);
    stet_buf_release(&left);
    return rc;
}
