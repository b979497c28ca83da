/* See out_of_memory.h. Samples of the messages are in tests/data/out_of_memory. */
#include "footprint/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_ROOM = 32 };

/* ---- sizes ---- */

bool stet_oom_size(struct stet_view text, uint64_t *out)
{
    static const char units[] = "KMGTP";
    char number[NUMBER_ROOM], *end;
    size_t n = text.len < sizeof number - 1 ? text.len : sizeof number - 1;
    const char *unit;
    double value;

    memcpy(number, text.ptr, n);
    number[n] = '\0';
    if (*number < '0' || *number > '9')
        return false;
    value = strtod(number, &end);
    while (*end == ' ')
        end++;
    unit = *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        value *= 1024;
    if (value > 9e18)
        return false;
    *out = (uint64_t)value;
    return true;
}

/* The size behind `words`, the first time that they occur. */
static bool size_after(struct stet_view text, const char *words, uint64_t *out)
{
    const char *at = text.len ? memmem(text.ptr, text.len, words, strlen(words)) : NULL;

    if (!at)
        return false;
    at += strlen(words);
    while (at < text.ptr + text.len && (*at == ' ' || *at == '('))
        at++;
    return stet_oom_size(stet_view_of(at, (size_t)(text.ptr + text.len - at)), out);
}

static bool has(struct stet_view text, const char *words)
{
    return text.len && memmem(text.ptr, text.len, words, strlen(words));
}

/* The word behind `words`, up to a blank, a quote, a full stop or the end of the line. */
static struct stet_view word_after(struct stet_view text, const char *words)
{
    const char *at = text.len ? memmem(text.ptr, text.len, words, strlen(words)) : NULL;
    const char *end = text.ptr + text.len, *stop;

    if (!at)
        return (struct stet_view){0};
    at += strlen(words);
    for (stop = at; stop < end && !strchr(" \n\"';", *stop); stop++)
        ;
    while (stop > at && stop[-1] == '.')
        stop--;
    return stet_view_of(at, (size_t)(stop - at));
}

/* ---- the list of buffers ---- */

/* The text between quotes behind `name="`. */
static struct stet_view quoted(struct stet_view line, const char *name)
{
    const char *at = memmem(line.ptr, line.len, name, strlen(name)), *end;

    if (!at)
        return (struct stet_view){0};
    at += strlen(name);
    end = memchr(at, '"', (size_t)(line.ptr + line.len - at));
    return end ? stet_view_of(at, (size_t)(end - at)) : (struct stet_view){0};
}

static struct stet_view rest_after(struct stet_view line, const char *name)
{
    const char *at = memmem(line.ptr, line.len, name, strlen(name));

    if (!at)
        return (struct stet_view){0};
    at += strlen(name);
    while (at < line.ptr + line.len && *at == ' ')
        at++;
    return stet_view_of(at, (size_t)(line.ptr + line.len - at));
}

/* "f32[2,3]{1,0:T(8,128)}" without its layout. */
static struct stet_view bare_shape(struct stet_view shape)
{
    const char *brace = shape.len ? memchr(shape.ptr, '{', shape.len) : NULL;

    return brace && brace > shape.ptr && shape.ptr[0] != '('
               ? stet_view_of(shape.ptr, (size_t)(brace - shape.ptr))
               : shape;
}

static void take_line(struct stet_oom *o, struct stet_view line)
{
    struct stet_oom_buffer *b = o->buffer_count ? &o->buffers[o->buffer_count - 1] : NULL;
    uint64_t number;

    if (has(line, "Unpadded size:")) {
        return;
    } else if (size_after(line, " Size: ", &number) || size_after(line, "\tSize: ", &number)) {
        if (o->buffer_count < STET_OOM_BUFFERS)
            o->buffers[o->buffer_count++] = (struct stet_oom_buffer){.size = number};
    } else if (b && has(line, "Operator:")) {
        b->op_name = quoted(line, "op_name=\"");
        b->file = quoted(line, "source_file=\"");
        if (size_after(line, "source_line=", &number))
            b->line = (uint32_t)number;
    } else if (b && has(line, "Entry Parameter Subshape:")) {
        b->argument = true;
        b->shape = bare_shape(rest_after(line, "Subshape:"));
    } else if (b && !b->shape.len && has(line, "Shape:")) {
        b->shape = bare_shape(rest_after(line, "Shape:"));
    }
}

static void take_buffers(struct stet_oom *o, struct stet_view text)
{
    const char *at =
        text.len ? memmem(text.ptr, text.len, "Largest program allocations", 27) : NULL;

    if (!at && text.len)
        at = memmem(text.ptr, text.len, "Peak buffers:", 13);
    while (at && at < text.ptr + text.len) {
        size_t left = (size_t)(text.ptr + text.len - at);
        const char *end = memchr(at, '\n', left);

        take_line(o, stet_view_of(at, end ? (size_t)(end - at) : left));
        at = end ? end + 1 : NULL;
    }
}

/* ---- the message ---- */

/* libtpu while it compiles; it has several ways to say it. */
static bool take_program(struct stet_oom *o, struct stet_view m)
{
    bool told = (size_after(m, "required for HLO temporaries", &o->needed) &&
                 size_after(m, "exceeds available HBM", &o->available)) ||
                (size_after(m, "memory space hbm. Used", &o->needed) &&
                 size_after(m, "hbm capacity by", &o->missing)) ||
                (size_after(m, "device memory. Requires", &o->needed) &&
                 size_after(m, ", has", &o->available));

    if (!told)
        return false;
    o->kind = STET_OOM_PROGRAM;
    o->program = word_after(m, "HLO module: ");
    if (o->missing && o->needed > o->missing)
        o->available = o->needed - o->missing;
    size_after(m, "\n    arguments", &o->arguments);
    size_after(m, "HLO temp", &o->temporaries);
    if (has(m, "required for HLO temporaries")) /* that is all of it, whatever the words */
        o->temporaries = 0;
    return true;
}

/* libtpu while it loads a program or makes an array. */
static bool take_tpu_runtime(struct stet_oom *o, struct stet_view m)
{
    if (!size_after(m, "Attempting to reserve", &o->needed) &&
        !size_after(m, "Attempting to allocate", &o->needed))
        return false;
    o->kind = STET_OOM_ALLOCATE;
    o->program = word_after(m, "Error loading program '");
    size_after(m, "There are", &o->available);
    return true;
}

/* XLA's allocator for GPUs, with its own account of the program's buffers. */
static bool take_gpu(struct stet_oom *o, struct stet_view m)
{
    if (!size_after(m, "while trying to allocate", &o->needed) &&
        !size_after(m, "Out of memory allocating", &o->needed) &&
        !size_after(m, "failed to allocate", &o->needed))
        return false;
    o->kind = STET_OOM_ALLOCATE;
    size_after(m, "parameter allocation:", &o->arguments);
    size_after(m, "maybe_live_out allocation:", &o->outputs);
    size_after(m, "preallocated temp allocation:", &o->temporaries);
    return true;
}

void stet_oom_read(struct stet_oom *o, struct stet_view message)
{
    *o = (struct stet_oom){0};
    if (has(message, "CompileTimeScopedVmemOom") || has(message, "memory space vmem")) {
        o->kind = STET_OOM_SCRATCH;
        size_after(message, "Used", &o->needed);
        size_after(message, "capacity by", &o->missing);
    } else if (!take_program(o, message) && !take_tpu_runtime(o, message) &&
               !take_gpu(o, message)) {
        if (has(message, "RESOURCE_EXHAUSTED") || has(message, "ut of memory"))
            o->kind = STET_OOM_OTHER;
        return;
    }
    if (!o->missing && o->available && o->needed > o->available)
        o->missing = o->needed - o->available;
    take_buffers(o, message);
}
