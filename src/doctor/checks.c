/* Checks the store, and whether the frameworks themselves start. */
#include "doctor/doctor.h"

#include "base/fs.h"
#include "base/job.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

extern char **environ;

enum { TRIAL_BYTES = 1 << 20, FEW_BYTES_MB = 512, QUIET_MS = 2000 };

void stet_doctor_check(struct stet_doctor *d, const char *what, enum stet_doctor_result result,
                       const char *fix, const char *fmt, ...)
{
    char text[1024];
    va_list list;

    if (d->check_count == STET_CHECKS_MAX)
        return;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    d->checks[d->check_count++] = (struct stet_doctor_finding){
        what, result, stet_arena_copy(&d->arena, stet_view_str(text)).ptr, fix};
    stet_bundle_inventory_putf(&d->bundle, STET_GROUP_probe, what, "%s: %s",
                               result == STET_DOCTOR_WRONG ? "failed" : "fine", text);
}

void stet_doctor_tick(void *arg, int milliseconds)
{
    static int told;

    if (milliseconds < QUIET_MS) {
        told = 0;
    } else if (milliseconds / QUIET_MS > told) {
        told = milliseconds / QUIET_MS * 2;
        stet_say("stet: %s: %d s\n", (const char *)arg, milliseconds / 1000);
    }
}

/* Writes as the store would: creates a file beside the entries, syncs it and removes it. */
static int trial(const char *folder)
{
    char path[PATH_MAX + 32];
    char *bytes = stet_mem_calloc(1, TRIAL_BYTES);
    int fd, error = 0;

    snprintf(path, sizeof path, "%s/.doctor-%ld", folder, (long)getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        error = errno;
    } else {
        if (bytes && (stet_fs_write_all(fd, bytes, TRIAL_BYTES) != 0 || fsync(fd) != 0))
            error = errno;
        close(fd);
        unlink(path);
    }
    stet_mem_free(bytes);
    return error;
}

static size_t quarantined(const char *folder)
{
    char path[PATH_MAX + 16];
    struct dirent *e;
    size_t n = 0;
    DIR *dir;

    snprintf(path, sizeof path, "%s/quarantine", folder);
    dir = opendir(path);
    while (dir && (e = readdir(dir)))
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

static void free_room(struct stet_doctor *d, const char *folder)
{
    struct statvfs s;
    uint64_t mb;

    if (statvfs(folder, &s) != 0)
        return;
    mb = (uint64_t)s.f_bavail * s.f_frsize >> 20;
    if (mb < FEW_BYTES_MB)
        stet_doctor_check(d, "store room", STET_DOCTOR_NOTE, "stet cache gc --max-bytes=SIZE",
                          "only %llu MB are free on the store's file system",
                          (unsigned long long)mb);
    if (s.f_files && !s.f_favail)
        stet_doctor_check(d, "store room", STET_DOCTOR_WRONG, "free some inodes",
                          "no file can be created on the store's file system: no inodes are left");
}

void stet_doctor_store(struct stet_doctor *d)
{
    struct stet_err err = STET_ERR_INIT;
    char *folder = stet_store_default(&err);
    const char *set = getenv("STET_STORE"), *kind;
    size_t bad;
    int error;

    if (set && !strcmp(set, "off")) {
        stet_doctor_check(d, "store", STET_DOCTOR_NOTE, "unset STET_STORE",
                          "off (STET_STORE=off): compiled programs are not stored");
        stet_mem_free(folder);
        return;
    }
    if (!folder || stet_fs_mkdirs(folder, &err) != STET_OK) {
        stet_doctor_check(d, "store", STET_DOCTOR_WRONG, "name a folder of yours: STET_STORE=DIR",
                          "cannot be created: %s", err.text);
        stet_mem_free(folder);
        return;
    }
    error = trial(folder);
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        stet_doctor_check(d, "store", STET_DOCTOR_WRONG, "stet cache gc, or another folder",
                          "full: %s: %s", folder, strerror(error));
    else if (error)
        stet_doctor_check(d, "store", STET_DOCTOR_WRONG, "name a folder of yours: STET_STORE=DIR",
                          "not writable: %s: %s", folder, strerror(error));
    else
        stet_doctor_check(d, "store", STET_DOCTOR_FINE, "", "writable: %s", folder);
    kind = stet_fs_network(folder);
    if (kind)
        stet_doctor_check(d, "store place", STET_DOCTOR_NOTE,
                          "use a local folder, with shared tiers",
                          "on a network filesystem (%s): every start reads through it", kind);
    if (!error)
        free_room(d, folder);
    bad = quarantined(folder);
    if (bad)
        stet_doctor_check(d, "store quarantine", STET_DOCTOR_NOTE,
                          "stet cache verify, then stet cache rm KEY",
                          "%zu load%s of entries failed before; such entries are not loaded", bad,
                          bad == 1 ? "" : "s");
    stet_mem_free(folder);
}

/* The commands that a user would run to see whether a framework works. The last line of the output
 * is the result. */
static const struct {
    const char *package, *module, *code;
} frameworks[] = {
    {"jax", "jax",
     "import jax\n"
     "d = jax.devices()\n"
     "assert float(jax.jit(lambda x: x * 2 + 1)(3.0)) == 7.0\n"
     "print('runs on %d x %s (%s)' % (len(d), d[0].device_kind, d[0].platform))"},
    {"torch_xla", "torch_xla",
     "import torch, torch_xla\n"
     "d = torch_xla.device()\n"
     "assert (torch.ones(2).to(d) * 2 + 1).cpu().tolist() == [3.0, 3.0]\n"
     "import torch_xla.runtime as r\n"
     "print('runs on', r.device_type())"},
    {"torch_tpu", "torch_tpu",
     "import torch, torch_tpu\n"
     "try:\n"
     "    assert (torch.ones(2).to('tpu') * 2 + 1).cpu().tolist() == [3.0, 3.0]\n"
     "    print('runs on a tpu device')\n"
     "except (RuntimeError, AssertionError) as e:\n"
     "    print('imports, but has no tpu device here: ' + str(e).splitlines()[0])"},
};

static struct stet_view last_line(struct stet_view text)
{
    const char *newline;

    while (text.len && strchr(" \r\n", text.ptr[text.len - 1]))
        text.len--;
    newline = text.len ? memrchr(text.ptr, '\n', text.len) : NULL;
    return newline ? stet_view_of(newline + 1, (size_t)(text.ptr + text.len - newline) - 1) : text;
}

static void try_framework(struct stet_doctor *d, size_t i)
{
    static char flag[] = "-c";
    char *argv[] = {(char *)(uintptr_t)d->python.executable, flag,
                    (char *)(uintptr_t)frameworks[i].code, NULL};
    struct stet_job job = {.deadline_ms = d->deadline_ms,
                           .tick = stet_doctor_tick,
                           .tick_arg = (void *)(uintptr_t)frameworks[i].package};
    char how[96];

    if (stet_job_command(&job, argv, environ, NULL) != STET_OK)
        return;
    if (stet_job_fine(&job)) {
        struct stet_view line = last_line(stet_buf_as_view(&job.answer));
        bool half = stet_view_starts(line, "imports, but");

        stet_doctor_check(d, frameworks[i].package, half ? STET_DOCTOR_NOTE : STET_DOCTOR_FINE, "",
                          "%.*s", STET_FMT(line));
    } else {
        struct stet_view line = last_line(stet_buf_as_view(&job.noise));

        stet_job_how(&job, how, sizeof how);
        stet_doctor_check(d, frameworks[i].package, STET_DOCTOR_WRONG,
                          "see the plugins and what is known, below", "%s%s%.*s", how,
                          line.len ? ": " : "", (int)(line.len < 400 ? line.len : 400), line.ptr);
    }
    stet_job_release(&job);
}

void stet_doctor_frameworks(struct stet_doctor *d)
{
    if (!d->python.version) {
        stet_doctor_check(d, "python", d->wishes->python ? STET_DOCTOR_WRONG : STET_DOCTOR_NOTE,
                          "--python=PYTHON", "%s%s%s",
                          d->python.executable ? d->python.executable : "",
                          d->python.executable ? ": " : "", d->python.why_not);
        return;
    }
    for (size_t i = 0; !d->wishes->no_frameworks && i < sizeof frameworks / sizeof *frameworks; i++)
        if (stet_bundle_inventory_get(&d->bundle, STET_GROUP_package,
                                      stet_view_str(frameworks[i].package)))
            try_framework(d, i);
}
