/* See remote_stack.h. */
#include "journal/remote_stack.h"

#include "journal/pylayout.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum {
    TRIES = 20,
    TABLE_MAX = 65536,
    SKIP_MAX = 256, /* frames without Python code, one after the other */
};

/* In every object, string and bytes object of CPython on 64-bit machines. */
enum { TYPE = 8, SIZE = 16, STRING_STATE = 32, ASCII_COMPACT = 0x60, BYTES_DATA = 32 };

struct reader {
    const struct stet_remote_place *place;
    const struct stet_pylayout *layout;
    int error; /* errno of the last failed read */
};

static bool read_at(struct reader *r, uint64_t address, void *out, size_t size)
{
    struct iovec to = {out, size}, from = {(void *)(uintptr_t)address, size};

    if (address && process_vm_readv(r->place->pid, &to, 1, &from, 1, 0) == (ssize_t)size)
        return true;
    r->error = address ? errno : EFAULT;
    return false;
}

static bool read_pointer(struct reader *r, uint64_t address, uint64_t *out)
{
    return read_at(r, address, out, sizeof *out);
}

/* Empty, but true, for a string that is not plain ASCII or is too long. */
static bool read_text(struct reader *r, uint64_t string, char *out, size_t room)
{
    uint64_t length;
    uint32_t state;

    out[0] = '\0';
    if (!read_at(r, string + SIZE, &length, sizeof length) ||
        !read_at(r, string + STRING_STATE, &state, sizeof state))
        return false;
    if ((state & ASCII_COMPACT) != ASCII_COMPACT || length >= room)
        return true;
    if (!read_at(r, string + r->layout->text, out, length))
        return false;
    out[length] = '\0';
    return true;
}

static uint32_t read_varint(const unsigned char *table, size_t length, size_t *at)
{
    uint32_t value = 0;

    for (unsigned shift = 0; *at < length; shift += 6) {
        unsigned char byte = table[(*at)++];

        if (shift < 32)
            value |= (uint32_t)(byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return value;
}

static int32_t read_signed(const unsigned char *table, size_t length, size_t *at)
{
    uint32_t value = read_varint(table, length, at);

    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

uint32_t stet_remote_stack_line(const unsigned char *table, size_t length, uint32_t first,
                                uint32_t at)
{
    enum { SHORT_LAST = 9, ONE_LINE = 10, ONE_LINE_LAST = 12, NO_COLUMNS = 13, LONG = 14 };
    int64_t line = first;
    uint64_t end = 0;

    for (size_t i = 0; i < length;) {
        unsigned char head = table[i++];
        unsigned form = (head >> 3) & 15;
        bool has_line = true;

        if (form <= SHORT_LAST) {
            i++;
        } else if (form <= ONE_LINE_LAST) {
            line += form - ONE_LINE;
            i += 2;
        } else if (form == NO_COLUMNS) {
            line += read_signed(table, length, &i);
        } else if (form == LONG) {
            line += read_signed(table, length, &i);
            for (int k = 0; k < 3; k++)
                read_varint(table, length, &i);
        } else {
            has_line = false;
        }
        end += 2u * ((head & 7u) + 1);
        if (at < end)
            return has_line && line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
    }
    return 0;
}

static bool read_line(struct reader *r, uint64_t code, uint64_t instruction, uint32_t *line)
{
    static unsigned char table[TABLE_MAX];
    uint64_t lines, length;
    uint32_t first;

    *line = 0;
    if (!read_pointer(r, code + r->layout->lines, &lines) ||
        !read_at(r, lines + SIZE, &length, sizeof length) ||
        !read_at(r, code + r->layout->first_line, &first, sizeof first))
        return false;
    if (length > sizeof table || instruction < code + r->layout->code_bytes)
        return true;
    if (!read_at(r, lines + BYTES_DATA, table, length))
        return false;
    *line = stet_remote_stack_line(table, length, first,
                                   (uint32_t)(instruction - code - r->layout->code_bytes));
    return true;
}

/* From 3.14 on, the low bits of the pointer to the code are flags. False if it is not a code
 * object. */
static bool read_code(struct reader *r, uint64_t frame, uint64_t *code)
{
    uint64_t type;

    if (!read_pointer(r, frame + r->layout->code, code))
        return false;
    *code &= ~UINT64_C(3);
    return read_pointer(r, *code + TYPE, &type) && type == r->place->code_type;
}

static bool read_frame(struct reader *r, uint64_t frame, struct stet_remote_frame *out)
{
    uint64_t code, file, name, instruction;

    return read_code(r, frame, &code) &&
           read_pointer(r, frame + r->layout->instruction, &instruction) &&
           read_pointer(r, code + r->layout->file, &file) &&
           read_pointer(r, code + r->layout->name, &name) &&
           read_text(r, file, out->file, sizeof out->file) &&
           read_text(r, name, out->function, sizeof out->function) &&
           read_line(r, code, instruction, &out->line);
}

/* The frame itself, or the next outer one that is Python code; 0 after the last. */
static bool skip_c(struct reader *r, uint64_t *frame)
{
    for (int i = 0; *frame && i < SKIP_MAX; i++) {
        unsigned char owner = 0;

        if (r->layout->owner && !read_at(r, *frame + r->layout->owner, &owner, 1))
            return false;
        if (owner < STET_PYLAYOUT_OWNED_BY_C)
            return true;
        if (!read_pointer(r, *frame + r->layout->previous, frame))
            return false;
    }
    return !*frame;
}

static size_t read_once(struct reader *r, struct stet_remote_frame *out)
{
    uint64_t frame;
    size_t n = 0;

    if (!read_pointer(r, r->place->state + r->layout->thread_frame, &frame) ||
        (r->layout->indirect && !read_pointer(r, frame + r->layout->inner, &frame)))
        return 0;
    while (n < STET_REMOTE_FRAMES) {
        if (!skip_c(r, &frame))
            return 0;
        if (!frame)
            break;
        if (!read_frame(r, frame, &out[n]))
            return 0;
        n++;
        if (!read_pointer(r, frame + r->layout->previous, &frame))
            return 0;
    }
    return n;
}

size_t stet_remote_stack_read(const struct stet_remote_place *p,
                              struct stet_remote_frame out[STET_REMOTE_FRAMES],
                              struct stet_err *err)
{
    struct reader r = {.place = p, .layout = stet_journal_pylayout(p->minor)};

    if (!p->state || !p->code_type) {
        stet_fail(err, STET_NOT_FOUND, "the layer did not find where its frames are");
        return 0;
    }
    if (!r.layout || !r.layout->lines) {
        stet_fail(err, STET_UNSUPPORTED, "Python 3.%u is not read from outside", p->minor);
        return 0;
    }
    for (int i = 0; i < TRIES; i++) {
        size_t n = read_once(&r, out);

        if (n)
            return n;
        if (r.error == EPERM || r.error == ESRCH || r.error == ENOSYS)
            break;
    }
    errno = r.error;
    if (r.error)
        stet_fail_errno(err, "its frames cannot be read");
    else
        stet_fail(err, STET_NOT_FOUND, "its frames changed while they were read");
    return 0;
}
