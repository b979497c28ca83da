/* Reads frames from a file that may be growing, torn or damaged. */
#include "journal/read.h"

#include "base/mem.h"
#include "base/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WINDOW_MIN = 64 << 10,
    ARENA_CAP = 64 << 20, /* a payload of 256 KB of one-byte list items needs 4 MB */
};
/* Limits the time spent on failing checksums over a file's life; accidental marks in valid data
 * stay far below. */
#define BUDGET ((uint64_t)64 << 20)

/* Limits how much of a file is searched for the next record: a quarter of the largest size that a
 * writer allows. */
#define SEARCH_MOST ((uint64_t)64 << 20)

enum frame_state { FRAME_WHOLE, FRAME_UNFINISHED, FRAME_BAD };

struct frame {
    uint32_t checksum, length;
    unsigned kind;
    uint64_t sequence, time_ns;
    struct stet_view bytes; /* all of it */
};

static void reader_init(struct stet_journal_reader *r, int fd)
{
    *r = (struct stet_journal_reader){.fd = fd, .budget = BUDGET};
    r->buffer.cap = STET_JOURNAL_FRAME_SIZE + STET_JOURNAL_PAYLOAD_MAX + WINDOW_MIN + 1;
    stet_arena_init(&r->arena, ARENA_CAP);
}

enum stet_rc stet_journal_reader_open(struct stet_journal_reader *r, const char *path,
                                      struct stet_err *err)
{
    /* neither waits for the writer of a pipe nor follows a link out of the folder */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        reader_init(r, -1);
        return stet_fail(err, STET_BAD_INPUT, "%s: not a plain file", path);
    }
    reader_init(r, fd);
    if (fd >= 0)
        return STET_OK;
    if (errno == ELOOP)
        return stet_fail(err, STET_BAD_INPUT, "%s: not a plain file", path);
    if (errno != ENOENT)
        return stet_fail_errno(err, "%s: cannot open", path);
    return stet_fail(err, STET_NOT_FOUND, "%s: no such journal", path);
}

void stet_journal_reader_over(struct stet_journal_reader *r, struct stet_view bytes)
{
    reader_init(r, -1);
    r->window = bytes;
    r->size = bytes.len;
}

void stet_journal_reader_close(struct stet_journal_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    stet_buf_release(&r->buffer);
    stet_arena_release(&r->arena);
}

/* Reads from `offset`: `n` bytes if the file has them now, and perhaps more. */
static struct stet_view peek(struct stet_journal_reader *r, uint64_t offset, size_t n)
{
    uint64_t end = r->window_at + r->window.len;
    char *room;
    size_t want;

    if (offset >= r->window_at && offset <= end && (r->fd < 0 || n <= end - offset))
        return stet_view_of(r->window.ptr + (offset - r->window_at), (size_t)(end - offset));
    if (r->fd < 0)
        return (struct stet_view){0};
    want = n > WINDOW_MIN ? n : WINDOW_MIN;
    r->buffer.len = 0;
    r->window = (struct stet_view){0};
    r->window_at = offset;
    room = stet_buf_reserve(&r->buffer, want);
    while (room && r->window.len < want) {
        ssize_t got = pread(r->fd, room + r->window.len, want - r->window.len,
                            (off_t)(offset + r->window.len));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        r->window = stet_view_of(room, r->window.len + (size_t)got);
    }
    return r->window;
}

static void read_frame(struct frame *f, struct stet_view bytes)
{
    struct stet_reader r;

    stet_reader_init(&r, bytes, 0);
    stet_reader_skip(&r, 4);
    f->checksum = stet_reader_u32(&r);
    f->length = stet_reader_u32(&r);
    f->kind = stet_reader_u16(&r);
    stet_reader_skip(&r, 2);
    f->sequence = stet_reader_u64(&r);
    f->time_ns = stet_reader_u64(&r);
}

static const unsigned char mark[4] = {
    STET_JOURNAL_MARK & 0xff,
    STET_JOURNAL_MARK >> 8 & 0xff,
    STET_JOURNAL_MARK >> 16 & 0xff,
    STET_JOURNAL_MARK >> 24,
};

static enum frame_state frame_at(struct stet_journal_reader *r, uint64_t offset, struct frame *f)
{
    struct stet_view v = peek(r, offset, STET_JOURNAL_FRAME_SIZE);
    size_t whole;

    if (memcmp(v.len ? v.ptr : "", mark, v.len < 4 ? v.len : 4) != 0)
        return FRAME_BAD;
    if (v.len < STET_JOURNAL_FRAME_SIZE)
        return FRAME_UNFINISHED;
    read_frame(f, v);
    if (f->length > STET_JOURNAL_PAYLOAD_MAX)
        return FRAME_BAD;
    whole = STET_JOURNAL_FRAME_SIZE + f->length;
    v = peek(r, offset, whole);
    if (v.len < whole)
        return FRAME_UNFINISHED;
    f->bytes = stet_view_of(v.ptr, whole);
    if (r->budget < whole)
        return FRAME_BAD;
    if (stet_journal_checksum(v.ptr + 8, whole - 8) == f->checksum)
        return FRAME_WHOLE;
    r->budget -= whole;
    return FRAME_BAD;
}

/* The next offset from `from` on with a complete record; false if there is none yet. */
static bool find_frame(struct stet_journal_reader *r, uint64_t from, uint64_t *found)
{
    struct frame f;

    while (r->budget >= STET_JOURNAL_FRAME_SIZE && r->searched < SEARCH_MOST) {
        struct stet_view v = peek(r, from, sizeof mark);
        const char *hit;

        if (v.len < sizeof mark)
            return false;
        hit = memchr(v.ptr, mark[0], v.len);
        if (!hit) {
            from += v.len;
            r->searched += v.len;
            continue;
        }
        from += (uint64_t)(hit - v.ptr);
        if (frame_at(r, from, &f) == FRAME_WHOLE) {
            *found = from;
            return true;
        }
        from++;
    }
    return false; /* bytes made to be expensive: the rest counts as an unfinished end */
}

static void add_damage(struct stet_journal_reader *r, uint64_t from, uint64_t to)
{
    struct stet_journal_damage *d = &r->damage;

    if (d->regions++ == 0)
        d->first = from;
    d->bytes += to - from;
}

/* A damaged head is ordinary damage if records follow it. */
static enum stet_rc read_head(struct stet_journal_reader *r, struct stet_err *err)
{
    struct stet_view v = peek(r, 0, STET_JOURNAL_HEAD_SIZE);
    size_t magic = sizeof STET_JOURNAL_MAGIC - 1;
    struct stet_reader head;
    uint64_t found;

    if (v.len < STET_JOURNAL_HEAD_SIZE &&
        memcmp(v.len ? v.ptr : "", STET_JOURNAL_MAGIC, v.len < magic ? v.len : magic) == 0) {
        r->damage.tail = v.len;
        return STET_NOT_FOUND;
    }
    stet_reader_init(&head, v, 0);
    stet_reader_skip(&head, magic);
    r->major = stet_reader_u16(&head);
    r->minor = stet_reader_u16(&head);
    if (v.len < STET_JOURNAL_HEAD_SIZE || memcmp(v.ptr, STET_JOURNAL_MAGIC, magic) != 0 ||
        stet_reader_u32(&head) != stet_journal_checksum(v.ptr, STET_JOURNAL_HEAD_SIZE - 4)) {
        if (!find_frame(r, 0, &found))
            return stet_fail_at(err, STET_BAD_INPUT, 0, "not a journal");
        add_damage(r, 0, found);
        r->major = STET_JOURNAL_MAJOR;
        r->minor = STET_JOURNAL_MINOR;
        r->at = found;
    } else {
        r->at = STET_JOURNAL_HEAD_SIZE;
    }
    if (r->major != STET_JOURNAL_MAJOR)
        return stet_fail(err, STET_UNSUPPORTED, "journal version %u.%u; this build reads %u",
                         r->major, r->minor, STET_JOURNAL_MAJOR);
    r->newer = r->minor > STET_JOURNAL_MINOR;
    r->head_seen = true;
    return STET_OK;
}

/* A complete frame becomes an event if its kind is known and its fields decode. */
static bool make_event(struct stet_journal_reader *r, const struct frame *f,
                       struct stet_journal_event *event)
{
    const struct stet_journal_record_info *info = stet_journal_record_info(f->kind);
    struct stet_view payload = stet_view_of(f->bytes.ptr + STET_JOURNAL_FRAME_SIZE, f->length);

    if (!info) {
        r->damage.unknown++;
        return false;
    }
    stet_arena_release(&r->arena);
    stet_arena_init(&r->arena, ARENA_CAP);
    if (stet_journal_record_decode(&r->record, &r->arena, info, payload, NULL) != STET_OK) {
        r->damage.bad_payloads++;
        return false;
    }
    *event = (struct stet_journal_event){
        .kind = f->kind,
        .sequence = f->sequence,
        .time_ns = f->time_ns,
        .offset = r->at,
        .record = &r->record,
        .payload = payload,
    };
    return true;
}

static uint64_t file_size(struct stet_journal_reader *r)
{
    struct stat st;

    return r->fd >= 0 && fstat(r->fd, &st) == 0 ? (uint64_t)st.st_size : r->size;
}

/* The end, for now. The window is dropped, because a writer that is out of space removes a torn
 * record. */
static enum stet_rc wait_for_more(struct stet_journal_reader *r, uint64_t size)
{
    r->damage.tail = size > r->at ? size - r->at : 0;
    if (r->fd >= 0)
        r->window = (struct stet_view){0};
    r->waiting = true;
    r->size = size;
    return STET_NOT_FOUND;
}

enum stet_rc stet_journal_next(struct stet_journal_reader *r, struct stet_journal_event *event,
                               struct stet_err *err)
{
    uint64_t size = file_size(r);

    if (r->waiting && size == r->size)
        return STET_NOT_FOUND; /* nothing new: don't judge the same torn tail again */
    r->waiting = false;
    r->damage.tail = 0;
    if (!r->head_seen) {
        enum stet_rc rc = read_head(r, err);

        if (rc == STET_NOT_FOUND)
            return wait_for_more(r, size);
        if (rc != STET_OK)
            return rc;
    }
    for (;;) {
        struct frame f;
        uint64_t found, at = r->at;

        if (frame_at(r, at, &f) == FRAME_WHOLE) {
            bool wanted = make_event(r, &f, event);

            r->at += f.bytes.len;
            if (wanted)
                return STET_OK;
            continue;
        }
        if (!find_frame(r, at + 1, &found))
            return wait_for_more(r, size);
        add_damage(r, at, found);
        r->at = found;
    }
}
