/* The struct and the helpers shared by ledger.c, ledger_write.c and ledger_read.c. No other file
 * includes it. */
#ifndef STET_LEDGER_INTERNAL_H
#define STET_LEDGER_INTERNAL_H

#include "ledger/ledger.h"

#include <sqlite3.h>

enum stet_statement {
    STET_SQL_ADD_PROCESS,
    STET_SQL_ADD_PART,
    STET_SQL_ADD_COMPILE,
    STET_SQL_ADD_COUNTER,
    STET_SQL_ADD_RECOMPILE,
    STET_SQL_ADD_CHANGE,
    STET_SQL_STATEMENTS
};

struct stet_ledger {
    sqlite3 *db;
    char *path;
    sqlite3_stmt *statements[STET_SQL_STATEMENTS];
    char *run; /* being fed */
    enum stet_lane lane;
    bool feeding;
};

/* Converts SQLite's error to ours, with the file's name. */
enum stet_rc stet_ledger_fail(struct stet_ledger *l, struct stet_err *err, const char *doing);
enum stet_rc stet_ledger_exec(struct stet_ledger *l, const char *sql, const char *doing,
                              struct stet_err *err);

#endif
