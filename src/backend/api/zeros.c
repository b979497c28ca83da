/* Programs that are not computed (STET_CPU_ZEROS): every result is zeros of the right shape, at
 * once. All buffers of zeros share one range of addresses without memory behind it: the kernel
 * gives its one page of zeros to whoever reads there. A model of any size can be traced so. */
#include "backend/api/cpu_api.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { KEEP_BYTES = 1 << 16, LEAST_LOG2 = 30 };

static bool wanted;

static void read_environment(void)
{
    const char *told = getenv("STET_CPU_ZEROS");

    wanted = told && *told && strcmp(told, "0") != 0;
}

bool stet_zeros_wanted(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_environment);
    return wanted;
}

bool stet_zeros_instead(uint64_t size)
{
    return size > KEEP_BYTES && stet_zeros_wanted();
}

static void *reserve(uint64_t size, int protection)
{
    void *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* Addresses of at least `size` zeros. A range that is outgrown stays, because buffers point into
 * it. */
static void *addresses(uint64_t size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void *range;
    static uint64_t range_size;
    uint64_t room = (uint64_t)1 << LEAST_LOG2;
    void *out;

    while (room < size && room < (uint64_t)1 << 62)
        room *= 2;
    pthread_mutex_lock(&lock);
    if (size > range_size) {
        /* A stray write into a buffer of zeros must not end the process. Where such memory is
         * counted as if it were used, it is mapped for reading only, which costs nothing. */
        out = reserve(room, PROT_READ | PROT_WRITE);
        if (!out)
            out = reserve(room, PROT_READ);
        if (out) {
            range = out;
            range_size = room;
        }
    }
    out = size <= range_size ? range : NULL;
    pthread_mutex_unlock(&lock);
    return out;
}

struct stet_cpu_block *stet_zeros_block(struct stet_memory *memory, uint64_t size)
{
    void *data = addresses(size ? size : 1);

    return data ? stet_cpu_block_shared(memory, data, size) : NULL;
}
