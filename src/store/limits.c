/* Parses the limits of a store, and applies those of the environment after a run. */
#include "store/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Parses a number and one letter of `units`, each worth `worth`. False when the text is not such an
 * amount. */
static bool read_amount(const char *text, const char *units, const uint64_t *worth, uint64_t *out)
{
    unsigned long long n;
    const char *unit;
    char *end;

    *out = 0;
    if (!text)
        return true;
    errno = 0;
    n = strtoull(text, &end, 10);
    if (end == text || errno || *text == '-')
        return false;
    unit = *end ? strchr(units, *end) : NULL;
    if (*end && (!unit || end[1]))
        return false;
    return !__builtin_mul_overflow(n, unit ? worth[unit - units] : 1, out);
}

enum stet_rc stet_store_limits(struct stet_store_gc *gc, const char *max_bytes, const char *max_age,
                               const char *const names[2], struct stet_err *err)
{
    static const uint64_t bytes[] = {1u << 10, 1u << 20, 1u << 30, UINT64_C(1) << 40};
    static const uint64_t seconds[] = {1, 60, 3600, 86400};

    if (!read_amount(max_bytes, "KMGT", bytes, &gc->max_bytes))
        return stet_fail(err, STET_USAGE, "%s %s: not a number with K, M, G or T", names[0],
                         max_bytes);
    if (max_bytes && !gc->max_bytes)
        gc->max_bytes = 1; /* the user gave no limit, and no entry is that small */
    if (!read_amount(max_age, "smhd", seconds, &gc->max_age_s))
        return stet_fail(err, STET_USAGE, "%s %s: not a number with s, m, h or d", names[1],
                         max_age);
    return STET_OK;
}

static uint64_t capacity_of(const char *folder)
{
    struct statvfs s;

    return statvfs(folder, &s) == 0 ? (uint64_t)s.f_blocks * s.f_frsize : 0;
}

enum stet_rc stet_store_tidy(const char *folder, struct stet_store_gc *gc, bool *usual,
                             struct stet_err *err)
{
    static const char *const names[] = {"STET_STORE_MAX_BYTES", "STET_STORE_MAX_AGE"};
    const char *bytes = getenv(names[0]), *age = getenv(names[1]);
    bool unlimited = bytes && !strcmp(bytes, "none");
    struct stet_store store;
    enum stet_rc rc;

    *usual = !bytes;
    if (!folder || *folder != '/')
        return STET_OK;
    rc = stet_store_open(&store, folder, err);
    if (rc == STET_REFUSED || (rc == STET_OK && store.read_only))
        return STET_OK; /* the message that it is not used was printed when the run began */
    if (rc == STET_OK)
        rc = stet_store_limits(gc, unlimited ? NULL : bytes, age, names, err);
    if (rc == STET_OK && !bytes)
        gc->max_bytes = stet_store_usual_limit(capacity_of(store.folder));
    return rc == STET_OK ? stet_store_gc(&store, gc, err) : rc;
}
