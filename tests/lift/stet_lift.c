/* stet-lift --random SEED BASE OTHER: writes two random programs of one family.
 * stet-lift BASE OTHER OUT: writes the lifted program of two program files to OUT, and the values
 * of the second one to OUT.0, OUT.1 …, for tests that give it to other compilers. Prints how many
 * values there are, and the processor time of finding those of a further program, the least of 100.
 * Or why it is refused (exit 1). */
#include "base/buf.h"
#include "base/fs.h"
#include "decode/decode.h"
#include "fingerprint/fingerprint.h"
#include "lift/lift.h"
#include "unit/lift_random.h"

#include <stdlib.h>
#include <time.h>

struct side {
    struct stet_file file;
    struct stet_program program;
};

static bool read_side(struct side *s, const char *path, struct stet_err *err)
{
    return stet_file_open(&s->file, path, err) == STET_OK &&
           stet_decode(&s->program, s->file.bytes, err) == STET_OK;
}

static bool write_file(const char *path, struct stet_view bytes)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(bytes.ptr, 1, bytes.len, f) == bytes.len;

    return f && fclose(f) == 0 && ok;
}

static bool write_all(const char *out, struct stet_view text, const struct stet_lift_plan *plan,
                      const struct stet_lift_value *values)
{
    bool ok = write_file(out, text);
    char path[4096];

    for (uint32_t i = 0; ok && i < plan->argument_count; i++) {
        snprintf(path, sizeof path, "%s.%u", out, i);
        ok = write_file(path, values[i].bytes);
    }
    return ok;
}

static double microseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* What the layer does for a further program: read it, find its family, compare, take the values. */
static bool find_values(const struct side *base, struct stet_view bytes,
                        const struct stet_lift_plan *plan, struct stet_arena *arena)
{
    struct stet_fingerprint print;
    struct stet_lift_value *values;
    struct stet_lift_match match;
    struct stet_program program;
    bool found;

    if (stet_decode(&program, bytes, NULL) != STET_OK)
        return false;
    found = stet_lift_refuses(&program, NULL) == STET_OK &&
            stet_fingerprint_make(&print, &program, (struct stet_view){0}, NULL) == STET_OK &&
            stet_lift_match(&match, &base->program, &program, NULL) == STET_OK;
    if (found) {
        found = stet_lift_values(plan, &match, STET_LIFT_OTHER, arena, &values, NULL) == STET_OK;
        stet_lift_match_release(&match);
    }
    stet_program_release(&program);
    return found;
}

static double time_values(const struct side *base, struct stet_view bytes,
                          const struct stet_lift_plan *plan)
{
    double best = 0;

    for (int i = 0; i < 100; i++) {
        double before = microseconds(), took;
        struct stet_arena arena;

        stet_arena_init(&arena, (size_t)1 << 30);
        if (!find_values(base, bytes, plan, &arena))
            return -1;
        stet_arena_release(&arena);
        took = microseconds() - before;
        best = !i || took < best ? took : best;
    }
    return best;
}

static int fail(const struct stet_err *err)
{
    printf("%s\n", err->text);
    return 1;
}

static int write_random(uint64_t seed, const char *paths[2])
{
    bool ok = true;

    for (uint64_t i = 0; i < 2; i++) {
        struct stet_buf text = STET_BUF_INIT;

        /* xorshift needs some turns before seeds that are close give other numbers */
        write_program(&text, ONE, (seed * 0x9e3779b97f4a7c15u) | 1,
                      ((seed + i) * 0xbf58476d1ce4e5b9u) | 1);
        ok = ok && write_file(paths[i], stet_buf_as_view(&text));
        stet_buf_release(&text);
    }
    return ok ? 0 : 3;
}

int main(int argc, char **argv)
{
    struct stet_buf text = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_lift_value *values;
    struct stet_lift_match match;
    struct stet_lift_plan plan;
    struct stet_arena arena;
    struct side side[2];

    if (argc == 5 && !strcmp(argv[1], "--random"))
        return write_random(strtoull(argv[2], NULL, 10), (const char *[]){argv[3], argv[4]});
    if (argc != 4)
        return 2;
    stet_arena_init(&arena, (size_t)1 << 30);
    if (!read_side(&side[0], argv[1], &err) || !read_side(&side[1], argv[2], &err) ||
        stet_lift_refuses(&side[0].program, &err) != STET_OK ||
        stet_lift_match(&match, &side[0].program, &side[1].program, &err) != STET_OK ||
        stet_lift_plan_make(&plan, &match, NULL, &err) != STET_OK ||
        stet_lift_values(&plan, &match, STET_LIFT_OTHER, &arena, &values, &err) != STET_OK ||
        stet_lift_write(&text, &side[0].program, &side[1].program, &match, &plan, &err) != STET_OK)
        return fail(&err);
    if (!write_all(argv[3], stet_buf_as_view(&text), &plan, values))
        return 3;
    printf("%u values, %.0f us\n", plan.argument_count,
           time_values(&side[0], side[1].file.bytes, &plan));
    return 0;
}
