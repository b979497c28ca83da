/* A process that receives what is sent to everybody. `stet run` forwards signals to its command;
 * one that went to the whole process group or control group (kill -INT -PGID, timeout, systemd,
 * Slurm) has reached the command already, and two interrupts mean something else to a trainer than
 * one. The kernel does not say whom else a signal was sent to, so a sibling of the command that
 * nobody has a reason to address waits for signals and notes when each came. */
#ifndef STET_LAUNCH_WITNESS_H
#define STET_LAUNCH_WITNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stet_witness {
    pid_t pid; /* 0 when there is none */
    _Atomic uint64_t *came_ns;
};

/* Starts it, in this process's group. It ends with us, whatever ends us. Without one (no memory, no
 * process to be had) nothing is ever seen. */
void stet_launch_witness_start(struct stet_witness *w);
void stet_launch_witness_stop(struct stet_witness *w);
/* Did it receive the signal at or after `since_ns` (CLOCK_MONOTONIC)? */
bool stet_launch_witness_saw(const struct stet_witness *w, int number, uint64_t since_ns);
/* CLOCK_MONOTONIC. */
uint64_t stet_launch_witness_now(void);

#endif
