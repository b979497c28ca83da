/* A process that receives the signals sent to a whole group. `stet run` forwards signals to its
 * command. A signal sent to the whole process group or control group (kill -INT -PGID, timeout,
 * systemd, Slurm) has already reached the command, and a trainer treats two interrupts differently
 * from one. The kernel does not report the other receivers of a signal. So a sibling of the
 * command, to which no signal is sent by itself, waits for signals and notes the time of each. */
#ifndef STET_LAUNCH_WITNESS_H
#define STET_LAUNCH_WITNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stet_witness {
    pid_t pid; /* 0 when there is none */
    _Atomic uint64_t *came_ns;
};

/* Starts the witness in this process's group. It ends when this process ends, however that happens.
 * Without a witness (no memory, no process available) no signal counts as seen. */
void stet_launch_witness_start(struct stet_witness *w);
void stet_launch_witness_stop(struct stet_witness *w);
/* Did the witness receive the signal at or after `since_ns` (of stet_clock_ns)? */
bool stet_launch_witness_saw(const struct stet_witness *w, int number, uint64_t since_ns);

#endif
