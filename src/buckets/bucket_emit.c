/* One function for each system. The names of flags and variables are those of vLLM 0.11 and newer,
 * tpu-inference, vllm-gaudi and AlphaFold 3. */
#include "buckets/bucket_emit.h"

#include <inttypes.h>
#include <string.h>

static const char *const names[] = {
#define TARGET(id, name, about) [STET_BUCKETS_##id] = name,
#include "buckets/targets.def"
#undef TARGET
};

bool stet_buckets_target_find(const char *name, enum stet_buckets_target *out)
{
    for (int i = 0; i < STET_BUCKETS_TARGETS; i++)
        if (!strcmp(name, names[i])) {
            *out = (enum stet_buckets_target)i;
            return true;
        }
    return false;
}

/* The sizes of one dimension with a text between them. */
static void list(struct stet_buf *out, const struct stet_buckets_set *s, const char *between)
{
    for (uint32_t i = 0; i < s->count; i++)
        stet_buf_printf(out, "%s%" PRId64, i ? between : "", s->dims[i]);
}

static void percent(struct stet_buf *out, const struct stet_buckets_set *s)
{
    stet_buf_printf(out, "%u programs, %.1f %% padding", s->count, 100 * s->padding);
}

/* ---- python ---- */

static void python_line(struct stet_buf *out, const struct stet_buckets_set *s)
{
    stet_buf_str(out, "BUCKETS = np.array([");
    list(out, s, ", ");
    stet_buf_str(out, "])\n\n\n"
                      "def bucket(size):\n"
                      "    \"\"\"The smallest bucket that holds `size`.\"\"\"\n"
                      "    at = int(np.searchsorted(BUCKETS, size))\n"
                      "    if at == len(BUCKETS):\n"
                      "        raise ValueError(f\"{size} is larger than the largest bucket, "
                      "{BUCKETS[-1]}\")\n"
                      "    return int(BUCKETS[at])\n\n\n"
                      "def pad(array, axis, fill=0):\n"
                      "    \"\"\"`array`, padded along `axis` to its bucket.\"\"\"\n"
                      "    width = [(0, 0)] * array.ndim\n"
                      "    width[axis] = (0, bucket(array.shape[axis]) - array.shape[axis])\n"
                      "    return np.pad(array, width, constant_values=fill)\n");
}

static void python_shapes(struct stet_buf *out, const struct stet_buckets_set *s, unsigned rank)
{
    stet_buf_str(out, "BUCKETS = np.array([  # by elements\n");
    for (uint32_t i = 0; i < s->count; i++) {
        stet_buf_str(out, "    (");
        for (unsigned d = 0; d < rank; d++)
            stet_buf_printf(out, "%s%" PRId64, d ? ", " : "", s->dims[i * rank + d]);
        stet_buf_str(out, "),\n");
    }
    stet_buf_str(out, "])\n\n\n"
                      "def bucket(sizes):\n"
                      "    \"\"\"The bucket of fewest elements that holds all `sizes`.\"\"\"\n"
                      "    holds = np.flatnonzero((BUCKETS >= np.asarray(sizes)).all(axis=1))\n"
                      "    if not len(holds):\n"
                      "        raise ValueError(f\"{tuple(sizes)} fits into no bucket\")\n"
                      "    return tuple(BUCKETS[holds[0]].tolist())\n\n\n"
                      "def pad(array, axes, fill=0):\n"
                      "    \"\"\"`array`, padded along `axes` to its bucket.\"\"\"\n"
                      "    width = [(0, 0)] * array.ndim\n"
                      "    for axis, size in zip(axes, bucket([array.shape[k] for k in axes])):\n"
                      "        width[axis] = (0, size - array.shape[axis])\n"
                      "    return np.pad(array, width, constant_values=fill)\n");
}

/* ---- vLLM on TPUs ---- */

enum { LADDER_MOST = 1024, LADDER_FIRST = 16 };

/* The token counts that tpu-inference compiles: powers of two from 16; with a gap, powers of two up
 * to the gap and then steps of it. 0 if they are too many. */
static uint32_t ladder(int64_t *out, int64_t gap, int64_t largest)
{
    uint32_t n = 0;
    int64_t size = LADDER_FIRST;

    if (!gap) {
        for (; n < 50; size *= 2) {
            out[n++] = size;
            if (size >= largest)
                break;
        }
        return n;
    }
    for (; size <= gap; size *= 2)
        out[n++] = size;
    for (size /= 2; size < largest;) {
        if (n == LADDER_MOST)
            return 0;
        out[n++] = size += gap;
    }
    return n;
}

/* The ladder that pads least among those of no more programs than `most`. */
static int64_t best_gap(struct stet_buckets_curve *c, uint32_t most, struct stet_buckets_set *best)
{
    int64_t sizes[LADDER_MOST + 64], largest = c->sets[0].dims[0], found = 0;

    for (int64_t gap = LADDER_FIRST; gap < largest; gap *= 2) {
        uint32_t n = ladder(sizes, gap, largest);
        struct stet_buckets_set s;

        if (!n || n > most)
            continue;
        s = stet_buckets_price(c, sizes, n);
        if (!found || s.padding < best->padding) {
            *best = s;
            found = gap;
        }
    }
    return found;
}

static bool has(const int64_t *sizes, uint32_t count, int64_t size)
{
    for (uint32_t i = 0; i < count; i++)
        if (sizes[i] == size)
            return true;
    return false;
}

static void vllm_tpu(struct stet_buf *out, struct stet_buckets_curve *c,
                     const struct stet_buckets_set *chosen)
{
    int64_t sizes[2 * LADDER_MOST], gap;
    uint32_t n = ladder(sizes, 0, c->sets[0].dims[0]), own = n;
    struct stet_buckets_set plain = stet_buckets_price(c, sizes, n), more, linear = {0};

    for (uint32_t i = 0; i < chosen->count && n < LADDER_MOST; i++)
        if (!has(sizes, own, chosen->dims[i]))
            sizes[n++] = chosen->dims[i];
    more = stet_buckets_price(c, sizes, n);
    stet_buf_str(out, "# vLLM on TPUs pads the tokens of a step to powers of two from 16 (");
    percent(out, &plain);
    stet_buf_str(out, " here).\n");
    if (n > own) {
        stet_buf_str(out, "# With these sizes beside them (");
        percent(out, &more);
        stet_buf_str(out, "):\n--additional-config '{\"compilation_sizes\": [");
        for (uint32_t i = own; i < n; i++)
            stet_buf_printf(out, "%s%" PRId64, i > own ? ", " : "", sizes[i]);
        stet_buf_str(out, "]}'\n");
    } else {
        stet_buf_str(out, "# The sizes chosen here are among them: nothing to set.\n");
    }
    gap = best_gap(c, more.count > plain.count ? more.count : plain.count, &linear);
    if (gap && linear.padding < plain.padding) {
        stet_buf_str(out, "# Or steps of one gap (");
        percent(out, &linear);
        stet_buf_printf(out, "):\nVLLM_TPU_BUCKET_PADDING_GAP=%" PRId64 "\n", gap);
    }
}

/* ---- the others ---- */

static void vllm(struct stet_buf *out, const struct stet_buckets_set *s)
{
    stet_buf_str(out, "# for `vllm serve`: the token counts of a step that get a CUDA graph\n"
                      "--cudagraph-capture-sizes ");
    list(out, s, " ");
    stet_buf_str(out, "\n# the same in a configuration:\n# --compilation-config "
                      "'{\"cudagraph_capture_sizes\": [");
    list(out, s, ", ");
    stet_buf_str(out, "]}'\n");
}

/* ---- vLLM on Gaudi ---- */

/* A query of one token is a bucket for decoding, any other one is for prompts. vllm-gaudi fails to
 * start when the file has none of one kind. */
static void gaudi_missing(struct stet_buf *out, bool prompts, bool decoding)
{
    if (!decoding)
        stet_buf_str(out, "# vLLM does not start without buckets for decoding, which these sizes "
                          "do not determine.\n"
                          "# These are powers of two: put your own batch sizes and blocks here.\n"
                          "([1, 2, 4, 8, 16, 32, 64, 128], 1, [128, 256, 512, 1024, 2048])\n");
    if (!prompts)
        stet_buf_str(out, "# vLLM does not start without buckets for prompts, which these sizes "
                          "do not determine.\n"
                          "# These are powers of two: put your own lengths here.\n"
                          "(1, [128, 256, 512, 1024, 2048], 0)\n");
}

static void gaudi(struct stet_buf *out, const struct stet_buckets_set *s, unsigned rank)
{
    bool prompts = false, decoding = false;

    stet_buf_str(out, "# VLLM_BUCKETING_FROM_FILE is the path of this file.\n"
                      "# (batch size, query length, context blocks)\n");
    if (rank == 1) { /* lengths of prompts */
        stet_buf_str(out, "(1, [");
        for (uint32_t i = 0; i < s->count; i++)
            stet_buf_printf(out, "%s%" PRId64, i ? ", " : "", s->dims[i] > 1 ? s->dims[i] : 2);
        stet_buf_str(out, "], 0)\n");
        prompts = true;
    }
    for (uint32_t i = 0; i < s->count && rank > 1; i++) {
        const int64_t *b = s->dims + (size_t)i * rank;

        stet_buf_printf(out, "(%" PRId64 ", %" PRId64 ", %" PRId64 ")\n", b[0], b[1],
                        rank == 3 ? b[2] : 0);
        prompts |= b[1] != 1;
        decoding |= b[1] == 1;
    }
    gaudi_missing(out, prompts, decoding);
}

enum stet_rc stet_buckets_emit(struct stet_buf *out, struct stet_buckets_curve *c,
                               enum stet_buckets_target target, const char *what,
                               struct stet_err *err)
{
    const struct stet_buckets_set *s = &c->sets[c->best];

    if (c->rank > (target == STET_BUCKETS_PYTHON  ? STET_BUCKETS_RANK
                   : target == STET_BUCKETS_GAUDI ? 3
                                                  : 1))
        return stet_fail(err, STET_UNSUPPORTED, "%s takes no buckets of %u dimensions",
                         names[target], c->rank);
    if (target != STET_BUCKETS_ALPHAFOLD)
        stet_buf_printf(out, "# %s: %u bucket%s, by stet buckets.\n", what, s->count,
                        s->count == 1 ? "" : "s");
    switch (target) {
    case STET_BUCKETS_PYTHON:
        stet_buf_str(out, "import numpy as np\n\n");
        if (c->rank == 1)
            python_line(out, s);
        else
            python_shapes(out, s, c->rank);
        break;
    case STET_BUCKETS_VLLM:
        vllm(out, s);
        break;
    case STET_BUCKETS_VLLM_TPU:
        vllm_tpu(out, c, s);
        break;
    case STET_BUCKETS_GAUDI:
        gaudi(out, s, c->rank);
        break;
    case STET_BUCKETS_ALPHAFOLD:
        stet_buf_str(out, "--buckets=");
        list(out, s, ",");
        stet_buf_char(out, '\n');
        break;
    case STET_BUCKETS_TARGETS:
        break;
    }
    return STET_OK;
}
