/* Widens a contract until a run keeps it. `stet contract update` makes the update, prints its
 * pieces and writes the file. The pieces are texts that replace or follow those of the file; the
 * update owns them. */
#ifndef STET_CONTRACT_UPDATE_H
#define STET_CONTRACT_UPDATE_H

#include "base/fs.h"
#include "contract/contract_run.h"

/* A statement that changed. */
struct stet_update_piece {
    size_t begin, end; /* of the old text */
    struct stet_buf text;
    uint32_t first, last; /* lines of the old text; 0: new */
    struct stet_view family;
};

struct stet_contract_update {
    struct stet_contract c, fresh; /* the file's contract, widened; a contract of the run alone */
    struct stet_lanes l;
    struct stet_file file;
    struct stet_update_piece *pieces; /* in the order of the file */
    size_t piece_count, piece_room;
    struct stet_contract_check k; /* what the run breaks: the reasons */
    /* Used only while the update is made. */
    uint32_t families, frames; /* the number in the file */
    bool *family_moved, *frame_moved;
    bool torch_moved, failed, has_contract, has_run, has_fresh;
};

/* Release `u` even after a failure. */
enum stet_rc stet_contract_update_make(struct stet_contract_update *u, const char *run,
                                       const char *file, struct stet_err *err);
void stet_contract_update_release(struct stet_contract_update *u);
/* Writes the file. Only the changed statements differ. */
enum stet_rc stet_contract_update_write(const struct stet_contract_update *u, const char *file,
                                        struct stet_err *err);

#endif
