/* The list of names. */
#include "journal/environment.h"

#include "base/mask.h"
#include "journal/variables.h"
#include "pod/launcher.h"

/* A name that ends in '_' here is a prefix. Those of launchers are in pod/launchers.def. */
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
    "SLURM_NODEID",
    "PMI_",
    "GROUP_RANK",
    "ROLE_RANK",
    "NODE_RANK",
    "COORDINATOR_ADDRESS",
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

bool stet_journal_env_matters(struct stet_view name)
{
    if (stet_journal_variable_find(name) || stet_pod_launcher_reads(name))
        return true;
    for (size_t i = 0; i < sizeof matter / sizeof *matter; i++) {
        size_t n = strlen(matter[i]);

        if (matter[i][n - 1] == '_' ? stet_view_starts(name, matter[i])
                                    : stet_view_is(name, matter[i]))
            return true;
    }
    return false;
}

bool stet_journal_env_is_secret(struct stet_view name)
{
    return stet_mask_is_secret(name);
}

struct stet_view stet_journal_env_mask(struct stet_arena *a, struct stet_view text)
{
    struct stet_buf masked = STET_BUF_INIT;
    struct stet_view copy = {0};

    stet_mask_text(&masked, text);
    if (masked.failed)
        a->failed = true; /* no text rather than its secrets */
    else
        copy = stet_arena_copy(a, stet_buf_as_view(&masked));
    stet_buf_release(&masked);
    return copy;
}

static struct stet_view masked(struct stet_arena *a, struct stet_view name, const char *value)
{
    struct stet_view text = stet_mask_is_secret(name)
                                ? STET_VIEW(STET_MASK)
                                : stet_journal_env_mask(a, stet_view_str(value));

    return stet_arena_printf(a, "%.*s=%.*s", STET_FMT(name), STET_FMT(text));
}

struct stet_list stet_journal_env_list(struct stet_arena *a, char *const *environment)
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

        if (name.len && stet_journal_env_matters(name))
            items[n++] = masked(a, name, equals + 1);
    }
    return (struct stet_list){items, n};
}

struct stet_list stet_journal_env_arguments(struct stet_arena *a, struct stet_view command)
{
    struct stet_buf text = STET_BUF_INIT;
    struct stet_view *items, rest;
    size_t n = 0;

    stet_mask_command(&text, command);
    rest = text.failed ? (struct stet_view){0} : stet_arena_copy(a, stet_buf_as_view(&text));
    for (size_t i = 0; i < rest.len; i++)
        n += !rest.ptr[i];
    items = STET_NEW_ARRAY(a, struct stet_view, n);
    for (size_t i = 0; items && i < n; i++) {
        items[i] = stet_view_str(rest.ptr);
        rest.ptr += items[i].len + 1;
    }
    stet_buf_release(&text);
    return (struct stet_list){items, items ? n : 0};
}
