/* See stop.h. */
#include "base/stop.h"

#include <signal.h>
#include <stddef.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t came;

static void on_signal(int number)
{
    came = number;
}

static void handle(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}, old;

    action.sa_flags = (int)SA_RESETHAND; /* the second one ends the process */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaction(numbers[i], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

void stet_stop_catch(void)
{
    handle(on_signal);
}

void stet_stop_forget(void)
{
    handle(SIG_DFL);
    came = 0;
}

bool stet_stop_asked(void)
{
    return came != 0;
}

void stet_stop_obey(void)
{
    if (!came)
        return;
    signal(came, SIG_DFL);
    raise(came);
}
