/* One launch of a program; internal to cpu_execute.c and cpu_joint.c. */
#ifndef STET_BACKEND_API_CPU_LAUNCH_H
#define STET_BACKEND_API_CPU_LAUNCH_H

#include "backend/api/cpu_api.h"

struct stet_cpu_launch {
    struct stet_task task;
    struct stet_cpu_code *code;
    PJRT_Device *device;         /* whose thread and temporary memory it uses */
    PJRT_Device *const *devices; /* all of them */
    struct stet_signal *done;
    uint32_t inputs, outputs;          /* of all devices */
    struct stet_cpu_block **in, **out; /* references of ours */
    struct stet_signal **after;        /* of each input */
    const void **in_data;
    void **out_data;
    struct stet_callbacks callbacks;
    bool talks;
    /* If other processes take part; else NULL. */
    struct stet_cpu_joint *joint;
    uint64_t number; /* of this launch among those of the same processes */
    void *foreign;   /* memory of the inputs and outputs of other processes' devices */
};

/* cpu_joint.c: devices of other processes. */

/* The place of a lane among this process's devices, or -1. */
int stet_cpu_joint_place(const struct stet_cpu_launch *l, uint32_t lane);
/* Memory for what belongs to the devices of other processes. */
bool stet_cpu_joint_memory(struct stet_cpu_launch *l);
/* Waits until all processes have come to this launch, as a collective does, and takes their
 * inputs. */
enum stet_rc stet_cpu_joint_meet(struct stet_cpu_launch *l, struct stet_err *err);
/* Numbers the launch. Launches of the same processes have the same numbers in all of them. */
bool stet_cpu_joint_count(struct stet_cpu_launch *l);

#endif
