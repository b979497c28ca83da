/* Lists of names, and masking. */
#include "intercept/environment.h"

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

bool stet_env_matters(struct stet_view name)
{
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
        if (stet_view_contains(name, secret[i]))
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

static struct stet_view masked(struct stet_arena *a, const char *variable, struct stet_view name)
{
    struct stet_view copy;

    if (stet_env_is_secret(name))
        return stet_arena_printf(a, "%.*s=***", STET_FMT(name));
    copy = stet_arena_copy(a, stet_view_str(variable));
    if (copy.ptr)
        mask_address((char *)(uintptr_t)copy.ptr, copy.len);
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
