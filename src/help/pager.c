/* Starts the pager and writes the text to it. */
#include "help/pager.h"

#include "base/fs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLAIN_WIDTH = 80, LEAST_WIDTH = 40, MOST_WIDTH = 100 };

static bool terminal_size(struct winsize *size)
{
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, size) == 0 && size->ws_col;
}

size_t stet_help_columns_of_output(void)
{
    struct winsize size;

    if (!terminal_size(&size))
        return PLAIN_WIDTH;
    return size.ws_col > MOST_WIDTH    ? MOST_WIDTH
           : size.ws_col < LEAST_WIDTH ? LEAST_WIDTH
                                       : size.ws_col;
}

static bool fits(const struct stet_buf *text)
{
    struct winsize size;
    size_t lines = 1;

    if (!terminal_size(&size))
        return true;
    for (size_t i = 0; i < text->len; i++)
        lines += text->ptr[i] == '\n';
    return lines < size.ws_row;
}

static pid_t start(const char *pager, int *to)
{
    int ends[2];
    pid_t pid;

    if (pipe(ends) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    *to = ends[1];
    if (pid < 0)
        close(ends[1]);
    return pid;
}

bool stet_help_pager_show(const struct stet_buf *text)
{
    const char *pager;
    void (*before)(int);
    int to = -1, status = 0;
    pid_t pid;

    setenv("LESS", "FRX", 0); /* before getenv, whose result it may invalidate */
    pager = getenv("PAGER");
    if (pager && (!*pager || !strcmp(pager, "cat")))
        return false;
    if (text->failed || fits(text))
        return false;
    pid = start(pager ? pager : "less", &to);
    if (pid < 0)
        return false;
    before = signal(SIGPIPE, SIG_IGN); /* the user may leave the pager early */
    (void)stet_fs_write_all(to, text->ptr, text->len);
    close(to);
    signal(SIGPIPE, before);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 127); /* 127: there is no such pager */
}
