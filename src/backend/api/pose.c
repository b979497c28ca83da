/* Poses as another machine's devices: STET_CPU_POSE names a file that `stet fit` writes, with what
 * the real plugin says about a topology. Frameworks read it to place programs on devices and to
 * choose what they compile. */
#include "backend/api/cpu_api.h"

#include "base/fs.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { POSE_BYTES = 4 << 20 };

static struct {
    struct stet_cpu_pose pose;
    struct stet_err err;
} known = {.err = STET_ERR_INIT};

/* The next line without its first word, which goes to `word`; false at the end. */
static bool next_line(struct stet_view *rest, struct stet_view *word, struct stet_view *line)
{
    const char *end, *blank;

    if (!rest->len)
        return false;
    end = memchr(rest->ptr, '\n', rest->len);
    *line = stet_view_of(rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len);
    *rest = stet_view_of(rest->ptr + line->len, rest->len - line->len);
    if (rest->len) /* the newline */
        *rest = stet_view_of(rest->ptr + 1, rest->len - 1);
    blank = memchr(line->ptr, ' ', line->len);
    *word = stet_view_of(line->ptr, blank ? (size_t)(blank - line->ptr) : line->len);
    *line = blank ? stet_view_of(blank + 1, line->len - word->len - 1) : (struct stet_view){0};
    return true;
}

static void copy_text(char *out, size_t room, struct stet_view v)
{
    size_t n = 0;

    for (size_t i = 0; i < v.len && n + 1 < room; i++) {
        bool escaped = v.ptr[i] == '\\' && i + 1 < v.len && v.ptr[i + 1] == 'n';

        out[n++] = escaped ? '\n' : v.ptr[i];
        i += escaped;
    }
    out[n] = '\0';
}

/* "0 1 2 0 0": the id, three coordinates, the core. */
static bool add_device(struct stet_cpu_pose *p, struct stet_view line)
{
    struct stet_cpu_posed *d;
    char text[96];
    int id;

    if (line.len >= sizeof text || p->count >= STET_MAX_DEVICES)
        return false;
    d = &p->devices[p->count];
    memcpy(text, line.ptr, line.len);
    text[line.len] = '\0';
    if (sscanf(text, "%d %ld %ld %ld %ld", &id, &d->coords[0], &d->coords[1], &d->coords[2],
               &d->core) != 5 ||
        id != (int)p->count)
        return false;
    p->count++;
    return true;
}

static bool take_line(struct stet_cpu_pose *p, struct stet_view word, struct stet_view line)
{
    char number[24];

    if (stet_view_is(word, "platform_version"))
        copy_text(p->version, sizeof p->version, line);
    else if (stet_view_is(word, "kind"))
        copy_text(p->kind, sizeof p->kind, line);
    else if (stet_view_is(word, "device"))
        return add_device(p, line);
    else if (stet_view_is(word, "memory") || stet_view_is(word, "cores")) {
        copy_text(number, sizeof number, line);
        *(stet_view_is(word, "memory") ? &p->memory : &p->cores) = strtoll(number, NULL, 10);
    }
    return true; /* a newer writer may say more */
}

static void read_pose(void)
{
    const char *path = getenv("STET_CPU_POSE");
    struct stet_view rest, word, line;
    struct stet_file file = {0};
    size_t number = 0;

    if (!path || !*path)
        return;
    if (stet_file_open_small(&file, path, POSE_BYTES, &known.err) != STET_OK)
        return;
    known.pose.devices = stet_mem_calloc(STET_MAX_DEVICES, sizeof *known.pose.devices);
    rest = file.bytes;
    while (known.pose.devices && next_line(&rest, &word, &line)) {
        if (++number == 1 ? !stet_view_is(word, "stet-pose") || !stet_view_is(line, "1")
                          : !take_line(&known.pose, word, line)) {
            stet_fail(&known.err, STET_BAD_INPUT, "%s:%zu: not a description of devices", path,
                      number);
            break;
        }
    }
    if (known.err.rc == STET_OK && !known.pose.count)
        stet_fail(&known.err, STET_BAD_INPUT, "%s: it describes no devices", path);
    stet_file_close(&file);
}

const struct stet_cpu_pose *stet_pose_known(const struct stet_err **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_pose);
    if (why)
        *why = known.err.rc == STET_OK ? NULL : &known.err;
    return known.err.rc == STET_OK && known.pose.count ? &known.pose : NULL;
}
