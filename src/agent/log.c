/* The agent's log. Agents of a user may share one file, and each may rename it. Before a line is
 * written, the file is reopened if it no longer has that name. */
#include "agent/internal.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOG_MAX = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char path[PATH_MAX]; /* "" for standard error */
static int file = -1;

void stet_agent_log_to(const char *to)
{
    snprintf(path, sizeof path, "%s", to);
}

/* With the lock: where the next line goes. */
static int open_log(void)
{
    char old[PATH_MAX + 8];
    struct stat named, ours;
    bool there = path[0] && stat(path, &named) == 0;

    if (!path[0])
        return STDERR_FILENO;
    if (there && named.st_size > LOG_MAX) {
        snprintf(old, sizeof old, "%s.old", path);
        there = rename(path, old) != 0;
    }
    if (file >= 0 && !(there && fstat(file, &ours) == 0 && ours.st_dev == named.st_dev &&
                       ours.st_ino == named.st_ino)) {
        close(file);
        file = -1;
    }
    if (file < 0)
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    return file >= 0 ? file : STDERR_FILENO;
}

void stet_agent_log(const char *fmt, ...)
{
    char line[600], when[32];
    struct timespec now;
    struct tm utc;
    va_list ap;
    int n;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    n = snprintf(line, sizeof line, "%s stet agent[%ld]: ", when, (long)getpid());
    va_start(ap, fmt);
    vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
    va_end(ap);
    for (char *c = line; *c; c++) { /* it may contain text from servers */
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    }
    n = (int)strlen(line);
    line[n++] = '\n';
    pthread_mutex_lock(&lock);
    stet_fs_write_all(open_log(), line, (size_t)n);
    pthread_mutex_unlock(&lock);
}
