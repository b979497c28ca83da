/* Many threads compile random programs of some families through the layer, run them, serialize
 * them, load the bytes and destroy all of it in any order. Every result must be that of the plain
 * program, which the plugin compiles without the layer, bit by bit. CTest sets STET_LIFT,
 * STET_PLUGIN and LAYER.
 *
 * usage: lift_storm [ROUNDS [SEED]]     a round is eight threads and one client; 3 unless said */
#include "harness.h"
#include "unit/lift_random.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 8, TURNS = 60, FAMILIES = 12, LIVE = 6, VALUES = 7 };

static struct harness layered, direct;
static uint64_t seed;

/* One executable that a thread has. */
struct owned {
    PJRT_LoadedExecutable *loaded;
    struct stet_buf text;
};

static PJRT_LoadedExecutable *compile(struct harness *h, const struct stet_buf *text)
{
    return harness_compile(h, text->ptr, text->len, "mlir", "", 0);
}

/* The result of an execution, which the caller frees; NULL if it failed. */
static unsigned char *result(struct harness *h, PJRT_LoadedExecutable *loaded, const float *numbers)
{
    PJRT_Buffer *in =
        harness_buffer_of(h, 0, PJRT_Buffer_Type_F32, (const int64_t[]){ROWS, COLUMNS}, 2, numbers);
    PJRT_Buffer *out = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;

    if (in && harness_execute(h, loaded, (PJRT_Buffer *const[]){in}, 1, &out))
        bytes = harness_read(h, out, &size);
    if (out)
        harness_buffer_destroy(h, out);
    if (in)
        harness_buffer_destroy(h, in);
    return bytes;
}

static bool agrees(struct harness *h, struct harness *d, const struct owned *o, uint64_t *state)
{
    PJRT_LoadedExecutable *plain = compile(d, &o->text);
    unsigned char *want = NULL, *got = NULL;
    float numbers[ROWS * COLUMNS];
    bool same;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        numbers[i] = (float)(draw(state) % 6001) / 1000 - 3;
    if (plain)
        want = result(d, plain, numbers);
    got = result(h, o->loaded, numbers);
    same = want && got && !memcmp(want, got, sizeof numbers);
    if (!same)
        fprintf(stderr, "%s\n%s\n%s\n", o->text.ptr, h->text, d->text);
    if (plain)
        harness_loaded_destroy(d, plain);
    free(want);
    free(got);
    return same;
}

/* Replaces the executable by one that is loaded from its bytes. */
static bool reload(struct harness *h, struct owned *o)
{
    PJRT_Executable *executable = harness_executable(h, o->loaded);
    size_t size = 0;
    char *bytes = executable ? harness_serialize(h, executable, &size) : NULL;

    harness_loaded_destroy(h, o->loaded);
    o->loaded = bytes ? harness_deserialize(h, bytes, size) : NULL;
    if (executable)
        harness_executable_destroy(h, executable);
    free(bytes);
    return o->loaded != NULL;
}

static void drop(struct harness *h, struct owned *o)
{
    if (o->loaded)
        harness_loaded_destroy(h, o->loaded);
    stet_buf_release(&o->text);
    *o = (struct owned){.text = STET_BUF_INIT};
}

static bool turn(struct harness *h, struct owned *o, uint64_t *state)
{
    uint64_t structure = seed + draw(state) % FAMILIES, value = draw(state) % VALUES + 1;

    drop(h, o);
    write_program(&o->text, ONE, (structure * 0x9e3779b97f4a7c15u) | 1,
                  (value * 0xbf58476d1ce4e5b9u) | 1);
    o->loaded = compile(h, &o->text);
    return o->loaded && (draw(state) % 4 || reload(h, o));
}

static void *work(void *number)
{
    struct harness h = layered, d = direct; /* their texts are this thread's own */
    uint64_t state = (seed + (uintptr_t)number) * 0x94d049bb133111ebu | 1;
    struct owned owned[LIVE] = {0};
    bool fine = true;

    for (int i = 0; i < TURNS && fine; i++) {
        struct owned *o = &owned[draw(&state) % LIVE];

        fine = (o->loaded && draw(&state) % 2) || turn(&h, o, &state);
        fine = fine && agrees(&h, &d, o, &state);
    }
    for (int i = 0; i < LIVE; i++)
        drop(&h, &owned[i]);
    return (void *)(uintptr_t)!fine;
}

static bool open_client(struct harness *h, const char *path)
{
    *h = (struct harness){0};
    return harness_open(h, getenv(path)) && harness_initialize(h) && harness_client(h, NULL, 0);
}

static bool storm(void)
{
    pthread_t threads[THREADS];
    bool fine = true;
    void *wrong;

    if (!open_client(&layered, "LAYER") || !open_client(&direct, "STET_PLUGIN")) {
        fprintf(stderr, "%s %s\n", layered.text, direct.text);
        return false;
    }
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &wrong);
        fine = fine && !wrong;
    }
    harness_client_destroy(&layered);
    harness_client_destroy(&direct);
    return fine;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 3;

    seed = argc > 2 ? strtoull(argv[2], NULL, 10) << 16 : 0;
    for (long i = 0; i < rounds; i++, seed += FAMILIES) {
        if (!storm())
            return 1;
    }
    printf("%ld rounds, no other result\n", rounds);
    return 0;
}
