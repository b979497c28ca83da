/* The files behind a writer: names, rotation, and never a byte into a file that is not ours. */
#ifndef STET_JOURNAL_SEGMENT_H
#define STET_JOURNAL_SEGMENT_H

#include "journal/vocabulary.h"
#include "journal/write.h"

#include <sys/types.h>

#define STET_SEGMENTS_KEEP_MAX 64

/* What one detail segment holds, to be told when it is dropped. */
struct stet_tally {
    uint64_t bytes, records, executions;
};

struct stet_segment_file {
    int fd; /* -1 when not open */
    dev_t device;
    ino_t inode;
    unsigned number, next; /* of this segment, of the one after */
    struct stet_tally tally;
};

/* Not thread-safe: the writer's lock covers it. */
struct stet_segments {
    char *dir;
    char host[65];
    char stem[160];
    struct stet_hash uid, forked_from, boot;
    uint64_t main_cap, detail_segment;
    unsigned detail_keep;
    uint64_t main_bytes; /* of all main segments */
    struct stet_segment_file streams[STET_STREAMS];
    struct stet_tally kept[STET_SEGMENTS_KEEP_MAX]; /* ring of detail segments on disk */
};

struct stet_dropped {
    uint64_t segments, bytes, records, executions;
};

/* False when memory is short; release is safe then too. */
bool stet_segments_init(struct stet_segments *s, const struct stet_journal_options *options);
void stet_segments_release(struct stet_segments *s);
/* In a forked child: another identity, no file yet. */
void stet_segments_forked(struct stet_segments *s);

/* A file to append to stands open, a new one if need be (first use, deleted, closed by others). 0
 * or an errno. What a deleted file held is added to `dropped`. */
int stet_segments_ready(struct stet_segments *s, enum stet_stream stream,
                        struct stet_dropped *dropped);
static inline bool stet_segments_empty(const struct stet_segments *s, enum stet_stream stream)
{
    return s->streams[stream].tally.bytes == 0;
}
void stet_segments_describe(const struct stet_segments *s, enum stet_stream stream,
                            struct stet_rec_segment *out);

/* 0, or an errno and nothing appended (a torn end is taken back where the filesystem lets us).
 * After a detail record that filled its segment the next one is begun and the oldest dropped. */
int stet_segments_append(struct stet_segments *s, enum stet_stream stream, struct stet_view bytes,
                         uint64_t executions, struct stet_dropped *dropped);

/* The word for a loss record. */
enum stet_loss stet_segments_why(int error);

#endif
