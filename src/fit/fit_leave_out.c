/* Measures what parts of a program cost the compiler, by compiling it again without them: the
 * copies of repeated blocks, which a loop would save, and, where the compiler has no phases, each
 * of the lines with most operations. This happens after the verdict, in a child process of its own.
 */
#include "fit/fit_internal.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "decode/decode.h"
#include "fit/fit_ablate.h"
#include "fit/fit_inspect.h"
#include "ledger/captured.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_LINES = 10, MOST_FILE = 1 << 16 };

/* ---- in the child ---- */

struct measuring {
    const char *folder;
    bool by_line;
    const struct stet_warm_subject *s;
    const PJRT_Api *real;
    struct stet_buf out;
};

/* Returns the processor time, or 0 if the compiler refuses the program. */
static uint64_t compile(const struct measuring *m, struct stet_view text)
{
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .format = "mlir",
                            .format_size = 4,
                            .code = (char *)(uintptr_t)text.ptr,
                            .code_size = text.len};
    PJRT_Compile_Args args = {.struct_size = PJRT_Compile_Args_STRUCT_SIZE,
                              .topology = m->s->topology,
                              .program = &program,
                              .compile_options = m->s->options.ptr,
                              .compile_options_size = m->s->options.len};
    PJRT_Executable_Destroy_Args destroy = {.struct_size =
                                                PJRT_Executable_Destroy_Args_STRUCT_SIZE};
    uint64_t begin = stet_clock_cpu_ns(), ns;
    char ignored[16];

    if (stet_warm_topology_failed(m->real, m->real->PJRT_Compile(&args), ignored, sizeof ignored))
        return 0;
    ns = stet_clock_cpu_ns() - begin;
    destroy.executable = args.executable;
    m->real->PJRT_Executable_Destroy(&destroy);
    return ns;
}

/* Keeps the time under the name; what was measured before stays if the compiler ends the process
 * here. */
static void measure(struct measuring *m, const struct stet_program *p, const uint8_t *left_out,
                    const char *name, size_t number)
{
    struct stet_buf text = STET_BUF_INIT;
    char path[PATH_MAX];
    uint64_t ns = 0;

    if (stet_fit_ablate(&text, p, left_out, NULL) == STET_OK)
        ns = compile(m, stet_buf_as_view(&text));
    if (ns)
        stet_buf_printf(&m->out, "%s%zu %" PRIu64 "\n", name, number, ns);
    stet_fit_inspect_path(path, sizeof path, m->folder, m->s->number, "ablation");
    stet_fs_write_unsynced(path, stet_buf_as_view(&m->out), NULL);
    stet_buf_release(&text);
}

static void measure_lines(struct measuring *m, const struct stet_program *p,
                          const struct stet_fit_blocks *b, uint8_t *marks)
{
    for (size_t i = 0; i < b->lines.count && i < MOST_LINES; i++) {
        for (uint32_t k = 0; k < p->op_count; k++)
            marks[k] = b->line_of[k] == i + 1;
        measure(m, p, marks, "line", i);
    }
    memset(marks, 0, p->op_count);
    measure(m, p, marks, "again", 0);
}

static void measure_parts(struct measuring *m, const struct stet_program *p,
                          const struct stet_fit_blocks *b)
{
    uint8_t *marks = stet_mem_calloc((size_t)p->op_count + 1, sizeof *marks);

    if (marks && (m->by_line || b->items.count)) {
        /* the first one also creates what the compiler keeps for the next ones */
        measure(m, p, b->items.count ? b->copy : marks, "first", 0);
        measure(m, p, marks, "whole", 0);
    }
    if (marks && b->items.count)
        measure(m, p, b->copy, "unique", 0);
    if (marks && m->by_line)
        measure_lines(m, p, b, marks);
    stet_mem_free(marks);
}

/* Measures instead of compiling for the store. */
static bool before(void *context, const struct stet_warm_subject *s)
{
    struct measuring *m = context;
    struct stet_fit_blocks blocks;
    struct stet_program program;

    m->s = s;
    m->real = stet_fit_inspect_plugin(s);
    if (!m->real || !s->topology || stet_decode(&program, s->code, NULL) != STET_OK)
        return false;
    if (stet_fit_blocks_find(&blocks, &program, NULL) == STET_OK)
        measure_parts(m, &program, &blocks);
    stet_fit_blocks_release(&blocks);
    stet_program_release(&program);
    return false;
}

/* ---- in the parent ---- */

static uint64_t time_of(const char *text, const char *name, size_t number)
{
    char word[32];
    const char *at;

    snprintf(word, sizeof word, "%s%zu ", name, number);
    at = strstr(text, word);
    return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static void take_lines(struct stet_fit *fit, struct stet_fit_program *p,
                       const struct stet_fit_blocks *b, const char *text)
{
    p->costs = STET_NEW_ARRAY(&fit->arena, struct stet_fit_cost, MOST_LINES);
    for (size_t i = 0; p->costs && i < b->lines.count && i < MOST_LINES; i++) {
        const struct stet_fit_block_line *l = &b->lines.items[i];
        uint64_t without = time_of(text, "line", i);

        /* a difference that two measurements of the same program have too says nothing */
        if (!without || without + p->ablation.noise_ns >= p->ablation.whole_ns)
            continue;
        p->costs[p->cost_count++] =
            (struct stet_fit_cost){.file = stet_arena_copy(&fit->arena, l->file),
                                   .function = stet_arena_copy(&fit->arena, l->function),
                                   .line = l->line,
                                   .ns = p->ablation.whole_ns - without,
                                   .instructions = l->operations};
    }
    if (p->cost_count)
        qsort(p->costs, p->cost_count, sizeof *p->costs, stet_fit_costlier_first);
}

static void take_blocks(struct stet_fit *fit, struct stet_fit_program *p,
                        const struct stet_fit_blocks *b)
{
    struct stet_fit_ablation *a = &p->ablation;

    a->blocks = STET_NEW_ARRAY(&fit->arena, struct stet_fit_block, b->items.count + 1);
    for (size_t i = 0; a->blocks && i < b->items.count; i++) {
        a->blocks[a->block_count] = b->items.items[i];
        a->blocks[a->block_count++].file = stet_arena_copy(&fit->arena, b->items.items[i].file);
    }
}

static void take(struct stet_fit *fit, struct stet_fit_program *p,
                 const struct stet_program *program, const char *text, bool by_line)
{
    struct stet_fit_ablation *a = &p->ablation;
    struct stet_fit_blocks blocks;
    uint64_t again = time_of(text, "again", 0);

    a->whole_ns = time_of(text, "whole", 0);
    a->unique_ns = time_of(text, "unique", 0);
    if (again)
        a->noise_ns = again > a->whole_ns ? again - a->whole_ns : a->whole_ns - again;
    if (a->whole_ns && stet_fit_blocks_find(&blocks, program, NULL) == STET_OK) {
        take_blocks(fit, p, &blocks);
        if (by_line)
            take_lines(fit, p, &blocks, text);
    }
    if (a->whole_ns)
        stet_fit_blocks_release(&blocks);
}

static void read_times(struct stet_fit *fit, struct stet_fit_program *p, bool by_line)
{
    struct stet_program program;
    struct stet_file code = {0}, times = {0};
    struct stet_view text = {0};
    char path[PATH_MAX];

    stet_fit_inspect_path(path, sizeof path, fit->work, 0, "ablation");
    if (stet_file_open_small(&times, path, MOST_FILE, NULL) == STET_OK) {
        text = stet_arena_copy(&fit->arena, times.bytes); /* with a NUL behind it */
        stet_file_close(&times);
    }
    if (!text.ptr ||
        stet_ledger_captured_program(&code, p->item->folder, p->item->program, NULL) != STET_OK)
        return;
    if (stet_decode(&program, code.bytes, NULL) == STET_OK) {
        take(fit, p, &program, text.ptr, by_line);
        stet_program_release(&program);
    }
    stet_file_close(&code);
}

/* The program that takes the compiler longest, as far as that is known. */
static struct stet_fit_program *costliest(struct stet_fit *fit)
{
    struct stet_fit_program *most = NULL;

    for (size_t i = 0; i < fit->count; i++) {
        struct stet_fit_program *p = &fit->programs[i];

        if (p->verdict != STET_FIT_FAILED && p->verdict != STET_FIT_UNKNOWN &&
            (!most || p->fragments_ns > most->fragments_ns ||
             (p->fragments_ns == most->fragments_ns && p->item->size > most->item->size)))
            most = p;
    }
    return most;
}

enum stet_rc stet_fit_leave_out(struct stet_fit *fit, struct stet_err *err)
{
    struct stet_fit_program *p = costliest(fit);
    struct measuring m = {.folder = fit->work};
    struct stet_warm_inspector inspector = {.before = before, .context = &m};
    struct stet_warm_plan plan = fit->warm.plan;
    struct stet_warm_item *item;

    if (!p)
        return STET_OK;
    item = mmap(NULL, sizeof *item, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (item == MAP_FAILED)
        return stet_fail_errno(err, "no memory for a child process");
    memcpy(item, p->item, sizeof *item);
    atomic_store(&item->verdict, STET_WARM_WAITS);
    m.by_line = !p->costs;
    plan.items = item;
    plan.count = 1;
    plan.inspector = &inspector;
    plan.limit_ns = 0; /* it compiles several times */
    stet_warm_work(&plan, 1);
    munmap(item, sizeof *item);
    read_times(fit, p, m.by_line);
    return STET_OK;
}
