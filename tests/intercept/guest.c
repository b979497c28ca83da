/* A program that does one of the odd things real hosts do: guest MODE [ARGUMENTS]. What it prints
 * must not depend on whether the layer is there. */
#include "harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] = "fake program guest\nin f32[4]\nout f32[4]\n";

static void die(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    exit(1);
}

static void open_plugin(struct harness *h, const char *path)
{
    if (!harness_open(h, path) || !harness_initialize(h) || !harness_client(h, NULL, 0))
        die(path, h->text);
}

static PJRT_LoadedExecutable *compile(struct harness *h, const char *code)
{
    PJRT_LoadedExecutable *x = harness_compile(h, code, strlen(code), "mlir", "", 0);

    if (!x)
        die("compile", h->text);
    return x;
}

/* The first bytes of the output as a number. */
static unsigned run(struct harness *h, PJRT_LoadedExecutable *x, unsigned seed)
{
    int64_t dims[] = {4};
    PJRT_Buffer *in = harness_buffer(h, PJRT_Buffer_Type_F32, dims, 1, 16, seed), *out = NULL;
    unsigned char *bytes;
    unsigned value;
    size_t size;

    if (!in || !harness_execute(h, x, &in, 1, &out))
        die("execute", h->text);
    bytes = harness_read(h, out, &size);
    if (!bytes || size < sizeof value)
        die("read", h->text);
    memcpy(&value, bytes, sizeof value);
    free(bytes);
    harness_buffer_destroy(h, in);
    harness_buffer_destroy(h, out);
    return value;
}

/* lookups PLUGIN: every kind of lookup that dlsym and its neighbours know. */
static int lookups(char **argv)
{
    void *handle = dlopen(argv[0], RTLD_NOW | RTLD_LOCAL), *versioned, *found;
    const PJRT_Api *(*get)(void);
    int (*next)(void) = NULL;

    printf("nonsense %p %s\n", dlsym(RTLD_DEFAULT, "no_such_symbol_anywhere"), dlerror());
    printf("default %d\n", dlsym(RTLD_DEFAULT, "malloc") != NULL);
    printf("next %d\n", dlsym(RTLD_NEXT, "malloc") != NULL);
    printf("no plugin in the global scope %p %s\n", dlsym(RTLD_DEFAULT, "GetPjrtApi"), dlerror());
    printf("next plugin %p %d\n", dlsym(RTLD_NEXT, "GetPjrtApi"), dlerror() != NULL);
    *(void **)&next = dlsym(RTLD_DEFAULT, "answer_through_next");
    printf("RTLD_NEXT in a library: %d\n", next ? next() : -1);
    errno = 77;
    found = dlsym(handle, "GetPjrtApi");
    memcpy(&get, &found, sizeof get);
    printf("plugin %d errno %d dlerror %d\n", get != NULL, errno, dlerror() != NULL);
    printf("same again %d\n", found == dlsym(handle, "GetPjrtApi"));
    printf("table %d\n", get() != NULL && get() == get());
    versioned = dlvsym(handle, "GetPjrtApi", "NOBODY_1.0");
    printf("dlvsym %p %d\n", versioned, dlerror() != NULL);
    return 0;
}

/* apart PLUGIN: in a link namespace of its own. */
static int apart(char **argv)
{
    void *handle = dlmopen(LM_ID_NEWLM, argv[0], RTLD_NOW | RTLD_LOCAL);
    const PJRT_Api *(*get)(void) = NULL;

    *(void **)&get = handle ? dlsym(handle, "GetPjrtApi") : NULL;
    printf("%d\n", get && get() != NULL);
    return 0;
}

/* global: a plugin that is linked or preloaded, not opened. */
static int global(char **argv)
{
    void *found = dlsym(RTLD_DEFAULT, "GetPjrtApi");
    const PJRT_Api *(*get)(void);

    (void)argv;
    memcpy(&get, &found, sizeof get);
    printf("%d\n", get && get() && get()->struct_size > 0);
    return 0;
}

/* plugins PATH...: all of them in one process, each used. */
static int plugins(char **argv)
{
    for (; *argv; argv++) {
        struct harness h;
        PJRT_LoadedExecutable *x;

        open_plugin(&h, *argv);
        x = compile(&h, program);
        printf("%08x\n", run(&h, x, 1));
        harness_loaded_destroy(&h, x);
        harness_client_destroy(&h);
    }
    return 0;
}

struct worker {
    struct harness h;
    PJRT_LoadedExecutable *shared;
    unsigned number, sum;
    long rounds;
};

static void *work(void *p)
{
    struct worker *w = p;
    char code[128];

    for (long i = 0; i < w->rounds; i++) {
        PJRT_LoadedExecutable *own;

        snprintf(code, sizeof code, "fake program w%u_%ld\nin f32[4]\nout f32[4]\n", w->number, i);
        own = compile(&w->h, code);
        for (unsigned k = 0; k < 10; k++)
            w->sum += run(&w->h, own, k) ^ run(&w->h, w->shared, k);
        harness_loaded_destroy(&w->h, own);
    }
    return NULL;
}

/* threads PLUGIN THREADS ROUNDS */
static int threads(char **argv)
{
    long n = atol(argv[1]);
    struct worker *workers = calloc((size_t)n, sizeof *workers);
    pthread_t *ids = calloc((size_t)n, sizeof *ids);
    PJRT_LoadedExecutable *shared;
    struct harness h;

    if (!workers || !ids)
        return 3;
    open_plugin(&h, argv[0]);
    shared = compile(&h, program);
    for (long i = 0; i < n; i++) {
        workers[i] = (struct worker){
            .h = h, .shared = shared, .number = (unsigned)i, .rounds = atol(argv[2])};
        pthread_create(&ids[i], NULL, work, &workers[i]);
    }
    for (long i = 0; i < n; i++) {
        pthread_join(ids[i], NULL);
        printf("%08x\n", workers[i].sum);
    }
    harness_loaded_destroy(&h, shared);
    harness_client_destroy(&h);
    free(workers);
    free(ids);
    return 0;
}

static atomic_bool stop;

static void *busy(void *p)
{
    struct worker *w = p;

    while (!atomic_load(&stop))
        work(w);
    return NULL;
}

static void child(struct harness *h, PJRT_LoadedExecutable *x, int kind)
{
    PJRT_LoadedExecutable *own;

    if (kind == 0)
        exit(0); /* never touches the plugin */
    own = compile(h, program);
    printf("child %d: %08x %08x\n", kind, run(h, own, 3), run(h, x, 3));
    fflush(stdout);
    if (kind == 1)
        _exit(0); /* as multiprocessing's children do */
    exit(0);
}

/* forks PLUGIN [busy]: while, when busy, another thread compiles and executes. */
static int forks(char **argv)
{
    struct harness h;
    struct worker w;
    pthread_t thread;
    PJRT_LoadedExecutable *x;

    open_plugin(&h, argv[0]);
    x = compile(&h, program);
    w = (struct worker){.h = h, .shared = x, .number = 9, .rounds = 5};
    if (argv[1])
        pthread_create(&thread, NULL, busy, &w);
    fflush(stdout);
    for (int i = 0; i < 9; i++) {
        int status = -1;
        pid_t pid = fork();

        if (pid == 0)
            child(&h, x, i % 3);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            die("child", "did not end well");
    }
    if (vfork() == 0)
        execl("/bin/true", "true", (char *)NULL);
    atomic_store(&stop, true);
    if (argv[1])
        pthread_join(thread, NULL);
    printf("parent %08x\n", run(&h, x, 3));
    return 0;
}

static struct harness last;
static PJRT_LoadedExecutable *last_executable;

static void at_end(void)
{
    printf("at exit: %08x\n", run(&last, last_executable, 5));
    harness_loaded_destroy(&last, last_executable);
    harness_client_destroy(&last);
    fflush(stdout);
}

__attribute__((destructor)) static void at_the_very_end(void)
{
    if (last.api)
        printf("destructor: %d\n", last.api->pjrt_api_version.major_version);
}

/* ends PLUGIN early|late: a handler that uses the plugin, registered before or after it is loaded.
 */
static int ends(char **argv)
{
    if (!strcmp(argv[1], "early"))
        atexit(at_end);
    open_plugin(&last, argv[0]);
    last_executable = compile(&last, program);
    if (!strcmp(argv[1], "late"))
        atexit(at_end);
    return 7;
}

/* Programs that a store keeps, as the fake plugin can read them. */
static PJRT_LoadedExecutable *compile_kept(struct harness *h, int number)
{
    char code[512];

    snprintf(code, sizeof code,
             "// fake program kept%d\n// in f32[4]\n// out f32[4]\n"
             "module @kept {\n  func.func @main(%%a: tensor<4xf32>) -> tensor<4xf32> {\n"
             "    %%c = stablehlo.constant dense<%d.0> : tensor<4xf32>\n"
             "    %%b = stablehlo.add %%a, %%c : tensor<4xf32>\n"
             "    return %%b : tensor<4xf32>\n  }\n}\n",
             number, number);
    return compile(h, code);
}

static unsigned use_kept(struct harness *h)
{
    unsigned sum = 0;

    for (int i = 0; i < 4; i++) {
        PJRT_LoadedExecutable *x = compile_kept(h, i);

        sum = sum * 31 + run(h, x, 1);
        harness_loaded_destroy(h, x);
    }
    return sum;
}

static void *launch(void *p)
{
    const char *path = p;

    for (int i = 0; i < 8; i++) {
        struct harness h;

        open_plugin(&h, path);
        if (i % 2 && use_kept(&h) == 0)
            die("programs", "give nothing");
        harness_client_destroy(&h);
    }
    return NULL;
}

static void fork_thrice(struct harness *h)
{
    for (int kind = 0; kind < 3; kind++) {
        int status = -1;
        pid_t pid = fork();

        if (pid == 0 && kind)
            printf("child %08x\n", use_kept(h));
        fflush(stdout);
        if (pid == 0 && kind == 2)
            _exit(0);
        if (pid == 0)
            exit(0);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            die("child", "did not end well");
    }
}

/* again PLUGIN, and in GUEST what to do: the command is always the same, what it does is not.
 * use: all programs; leave: the client; fork; keep: end with the client alive; race: clients come
 * and go on four threads. */
static int again(char **argv)
{
    const char *what = getenv("GUEST");
    long (*live)(const char *);
    pthread_t threads_of[4];
    struct harness h;

    open_plugin(&h, argv[0]);
    *(void **)&live = dlsym(h.handle, "FakePlugin_Live");
    if (!what || !live)
        return 2;
    harness_wait_for_calls(&h);
    if (!strcmp(what, "fork"))
        fork_thrice(&h);
    if (!strcmp(what, "use") || !strcmp(what, "fork"))
        printf("%08x\n", use_kept(&h));
    for (int i = 0; i < 4 && !strcmp(what, "race"); i++)
        pthread_create(&threads_of[i], NULL, launch, argv[0]);
    for (int i = 0; i < 4 && !strcmp(what, "race"); i++)
        pthread_join(threads_of[i], NULL);
    if (strcmp(what, "keep") != 0)
        harness_client_destroy(&h);
    printf("loaded programs after all: %ld\n", strcmp(what, "keep") ? live("loaded") : 0);
    return 0;
}

/* silent: asks for nothing of ours; tells what it allocated, opened and started. */
static int silent(char **argv)
{
    (void)argv;
    for (int i = 0; i < 1000; i++) {
        if (!dlsym(RTLD_DEFAULT, "printf") || dlsym(RTLD_DEFAULT, "GetPjrtApi2"))
            return 1;
        dlerror();
    }
    return 0;
}

static const struct {
    const char *name;
    int (*run)(char **argv);
} modes[] = {{"lookups", lookups}, {"apart", apart},     {"global", global},
             {"plugins", plugins}, {"threads", threads}, {"forks", forks},
             {"ends", ends},       {"silent", silent},   {"again", again}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++) {
        if (!strcmp(modes[i].name, argv[1]))
            return modes[i].run(argv + 2);
    }
    return 2;
}
