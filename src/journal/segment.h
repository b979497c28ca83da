/* The files of a writer: names and rotation. It never writes into a file that it did not create.
 * The writer owns it. */
#ifndef STET_JOURNAL_SEGMENT_H
#define STET_JOURNAL_SEGMENT_H

#include "journal/vocabulary.h"
#include "journal/write.h"

#include <sys/types.h>

#define STET_SEGMENTS_KEEP_MAX 64

/* The content of one detail segment, reported when it is dropped. */
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

/* False if memory runs out; release is safe then too. */
bool stet_segments_init(struct stet_segments *s, const struct stet_journal_options *options);
void stet_segments_release(struct stet_segments *s);
/* In a forked child: a new identity, and no file yet. */
void stet_segments_forked(struct stet_segments *s);

/* Makes sure that a file is open for appending, a new one if needed (first use, deleted, or closed
 * by the host). 0 or an errno. The content of a deleted file is added to `dropped`. */
int stet_segments_ready(struct stet_segments *s, enum stet_stream stream,
                        struct stet_dropped *dropped);
static inline bool stet_segments_empty(const struct stet_segments *s, enum stet_stream stream)
{
    return s->streams[stream].tally.bytes == 0;
}
void stet_segments_describe(const struct stet_segments *s, enum stet_stream stream,
                            struct stet_rec_segment *out);

/* 0, or an errno with nothing appended (a torn end is removed if the file system allows it). After
 * a detail record that filled its segment, the next one is begun and the oldest dropped. */
int stet_segments_append(struct stet_segments *s, enum stet_stream stream, struct stet_view bytes,
                         uint64_t executions, struct stet_dropped *dropped);

/* The word for a loss record. */
enum stet_loss stet_segments_why(int error);

#endif
