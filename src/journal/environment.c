/* Lists of names, and masking. */
#include "journal/environment.h"

#include "journal/variables.h"

/* A name that ends in '_' here is a prefix. */
static const char *const matter[] = {
    "XLA_",
    "LIBTPU_",
    "TPU_",
    "CLOUD_TPU_",
    "MEGASCALE_",
    "JAX_",
    "PJRT_",
    "CUDA_",
    "NVIDIA_",
    "NCCL_",
    "ROCR_",
    "HIP_",
    "TORCH_",
    "PYTORCH_",
    "TORCHDYNAMO_",
    "TORCHINDUCTOR_",
    "TORCHELASTIC_",
    "PT_XLA_",
    "ACCELERATE_",
    "TF_CPP_",
    "TF_XLA_",
    "TF_GPU_",
    "OMPI_COMM_",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_NODEID",
    "SLURM_LOCALID",
    "SLURM_JOB_ID",
    "PMI_",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "ROLE_RANK",
    "NODE_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "COORDINATOR_ADDRESS",
    "NUM_PROCESSES",
    "PROCESS_ID",
    "JOB_ID",
    "OMP_NUM_THREADS",
    "PYTHONHASHSEED",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "ALLOW_MULTIPLE_LIBTPU_LOAD",
    "STET",
    "STET_",
};

static const char *const secret[] = {"TOKEN",   "SECRET",     "PASSW",   "CREDENTIAL", "APIKEY",
                                     "API_KEY", "ACCESS_KEY", "PRIVATE", "COOKIE",     "AUTH"};

/* How tokens of well-known makers begin. */
static const char *const token[] = {"hf_",  "ghp_", "gho_", "github_pat_", "glpat-", "sk-",
                                    "AKIA", "ASIA", "xox",  "ya29.",       "eyJ"};
enum { TOKEN_LEAST = 16 };

static bool sounds_like(struct stet_view v, const char *part)
{
    size_t n = strlen(part);

    for (size_t i = 0; i + n <= v.len; i++) {
        if (!strncasecmp(v.ptr + i, part, n))
            return true;
    }
    return false;
}

bool stet_env_matters(struct stet_view name)
{
    if (stet_variable_find(name))
        return true;
    for (size_t i = 0; i < sizeof matter / sizeof *matter; i++) {
        size_t n = strlen(matter[i]);

        if (matter[i][n - 1] == '_' ? stet_view_starts(name, matter[i])
                                    : stet_view_is(name, matter[i]))
            return true;
    }
    return false;
}

bool stet_env_is_secret(struct stet_view name)
{
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) {
        if (sounds_like(name, secret[i]))
            return true;
    }
    return false;
}

/* user:password@ of an address inside a value is nobody's business either. */
static void mask_address(char *value, size_t n)
{
    for (size_t i = 0; i + 3 < n; i++) {
        size_t from = i + 3, end = from, at = 0;

        if (memcmp(value + i, "://", 3) != 0)
            continue;
        while (end < n && value[end] != '/' && value[end] != ' ' && value[end] != ',') {
            if (value[end] == '@')
                at = end;
            end++;
        }
        for (size_t k = from; k < at; k++)
            value[k] = '*';
    }
}

static bool ends_word(char c)
{
    return !c || strchr(" ,;&?\"'|", c) != NULL;
}

/* token=…, api_key:…, and words that look like a token, inside a value. */
static void mask_words(char *value, size_t n)
{
    for (size_t i = 0, end; i < n; i = end + 1) {
        struct stet_view word, name;
        size_t mark;

        for (end = i; end < n && !ends_word(value[end]); end++)
            continue;
        word = stet_view_of(value + i, end - i);
        for (mark = 0; mark < word.len && word.ptr[mark] != '=' && word.ptr[mark] != ':'; mark++)
            continue;
        name = stet_view_of(word.ptr, mark);
        if (mark < word.len && !stet_view_contains(name, "/") && stet_env_is_secret(name))
            memset(value + i + mark + 1, '*', word.len - mark - 1);
        if (mark < word.len)
            word = stet_view_of(word.ptr + mark + 1, word.len - mark - 1);
        for (size_t k = 0; k < sizeof token / sizeof *token; k++)
            if (word.len >= TOKEN_LEAST && stet_view_starts(word, token[k]))
                memset(value + (word.ptr - value), '*', word.len);
    }
}

static struct stet_view masked(struct stet_arena *a, const char *variable, struct stet_view name)
{
    struct stet_view copy;

    if (stet_env_is_secret(name))
        return stet_arena_printf(a, "%.*s=***", STET_FMT(name));
    copy = stet_arena_copy(a, stet_view_str(variable));
    if (copy.ptr) {
        size_t before = name.len + 1;

        mask_address((char *)(uintptr_t)copy.ptr, copy.len);
        if (copy.len > before)
            mask_words((char *)(uintptr_t)copy.ptr + before, copy.len - before);
    }
    return copy;
}

struct stet_list stet_env_list(struct stet_arena *a, char *const *environment)
{
    struct stet_view *items;
    size_t n = 0, all = 0;

    while (environment && environment[all])
        all++;
    items = STET_NEW_ARRAY(a, struct stet_view, all);
    for (size_t i = 0; items && i < all && environment[i]; i++) {
        const char *equals = strchr(environment[i], '=');
        struct stet_view name =
            stet_view_of(environment[i], equals ? (size_t)(equals - environment[i]) : 0);

        if (name.len && stet_env_matters(name))
            items[n++] = masked(a, environment[i], name);
    }
    return (struct stet_list){items, n};
}
