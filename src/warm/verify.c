/* stet cache verify: loads every entry back in a child process, with the plugin that made it. If an
 * entry kills the child, it is reported, and the next child continues behind it.
 * The entry has the path of the plugin on the machine where it was compiled. The file there is
 * loaded only if it is the build in the entry's key and no other user can write it. Otherwise the
 * entry is not tried, which is not a verdict about it. */
#include "warm/verify.h"

#include "abi/api.h"
#include "base/mem.h"
#include "bundle/elf.h"
#include "store/safety.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *words;
    bool tried;
} verdicts[] = {
    [STET_VERIFY_NOT_YET] = {"not reached", false},
    [STET_VERIFY_LOADING] = {"the load crashed", true},
    [STET_VERIFY_LOADED] = {"loaded", true},
    [STET_VERIFY_DAMAGED] = {"damaged", true},
    [STET_VERIFY_REFUSED] = {"the plugin refused it", true},
    [STET_VERIFY_NO_PLUGIN] = {"its plugin is gone", false},
    [STET_VERIFY_OTHER_BUILD] = {"another build of the plugin is installed", false},
    [STET_VERIFY_UNSAFE_PLUGIN] = {"its plugin is not loaded", false},
    [STET_VERIFY_NO_CLIENT] = {"its plugin makes no client here", false},
};

/* The plugin and client of a child; the last ones stay loaded for the next entry. */
struct alive {
    char path[256], build[192];
    const PJRT_Api *api;
    PJRT_Client *client;
    enum stet_verify_verdict why_not;
    char why[256];
};

static void say_error(const PJRT_Api *api, PJRT_Error *error, char *out, size_t room)
{
    PJRT_Error_Message_Args m = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                 .error = error};
    PJRT_Error_Destroy_Args d = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                 .error = error};

    api->PJRT_Error_Message(&m);
    snprintf(out, room, "%.*s", (int)(m.message_size < room ? m.message_size : room - 1),
             m.message);
    api->PJRT_Error_Destroy(&d);
}

/* Writes the build in the form of an entry's key (src/intercept/identity.c). */
static void build_of(int fd, const char *path, char out[192])
{
    char hash[STET_HASH_TEXT];
    struct stet_hash content;
    struct stet_elf elf;

    *out = '\0';
    if (stet_bundle_elf_read(&elf, fd) && elf.build_id[0]) {
        snprintf(out, 192, "build id %s", elf.build_id);
    } else if (stet_file_hash(path, &content, NULL) == STET_OK) {
        stet_hash_format(content, hash);
        snprintf(out, 192, "content %s", hash);
    }
}

/* The key may have more about a plugin after its build. */
static bool is_build(const char *build, const char *found)
{
    size_t n = strlen(found);

    return n && !strncmp(build, found, n) && (!build[n] || strchr(" ;,", build[n]));
}

/* Returns STET_VERIFY_LOADED when the file may be loaded as the plugin of this build. */
static enum stet_verify_verdict judge_plugin(const struct stet_store *s,
                                             struct stet_verify_entry *c, const char *build)
{
    struct stet_err err = STET_ERR_INIT;
    char found[192];
    int fd = open(c->plugin, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (c->plugin[0] != '/' || fd < 0) {
        if (fd >= 0)
            close(fd);
        return STET_VERIFY_NO_PLUGIN;
    }
    build_of(fd, c->plugin, found);
    close(fd);
    if (stet_store_safety_library(s, c->plugin, &err) != STET_OK) {
        snprintf(c->detail, sizeof c->detail, "%s", err.text);
        return STET_VERIFY_UNSAFE_PLUGIN;
    }
    if (is_build(build, found))
        return STET_VERIFY_LOADED;
    snprintf(c->detail, sizeof c->detail, "%.150s: %.90s", c->plugin, found);
    return STET_VERIFY_OTHER_BUILD;
}

static void bring_up(const struct stet_store *s, struct alive *a, struct stet_verify_entry *c,
                     const char *build)
{
    enum stet_verify_verdict judged = judge_plugin(s, c, build);
    void *library = judged == STET_VERIFY_LOADED ? dlopen(c->plugin, RTLD_NOW | RTLD_LOCAL) : NULL;
    union {
        void *symbol;
        stet_get_pjrt_api *get;
    } entry = {library ? dlsym(library, "GetPjrtApi") : NULL};
    PJRT_Plugin_Initialize_Args init = {.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    PJRT_Error *error = NULL;

    *a = (struct alive){.why_not = judged == STET_VERIFY_LOADED ? STET_VERIFY_NO_PLUGIN : judged};
    snprintf(a->path, sizeof a->path, "%s", c->plugin);
    snprintf(a->build, sizeof a->build, "%s", build);
    snprintf(a->why, sizeof a->why, "%s", c->detail);
    if (!entry.symbol)
        return;
    a->api = entry.get();
    a->why_not = STET_VERIFY_NO_CLIENT;
    if (stet_api_has(a->api, PJRT_Plugin_Initialize))
        error = a->api->PJRT_Plugin_Initialize(&init);
    if (!error)
        error = a->api->PJRT_Client_Create(&create);
    if (error)
        say_error(a->api, error, a->why, sizeof a->why);
    else
        a->client = create.client;
}

static enum stet_verify_verdict load(struct alive *a, struct stet_verify_entry *c,
                                     struct stet_view bytes)
{
    PJRT_Executable_DeserializeAndLoad_Args args = {
        .struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
        .client = a->client,
        .serialized_executable = bytes.ptr,
        .serialized_executable_size = bytes.len,
    };
    PJRT_LoadedExecutable_Destroy_Args destroy = {
        .struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE};
    PJRT_Error *error = a->api->PJRT_Executable_DeserializeAndLoad(&args);

    if (error) {
        say_error(a->api, error, c->detail, sizeof c->detail);
        return STET_VERIFY_REFUSED;
    }
    destroy.executable = args.loaded_executable;
    error = a->api->PJRT_LoadedExecutable_Destroy(&destroy);
    if (error)
        say_error(a->api, error, c->detail, sizeof c->detail);
    return STET_VERIFY_LOADED;
}

static enum stet_verify_verdict check_one(const struct stet_store *s, struct stet_verify_entry *c,
                                          struct alive *a)
{
    struct stet_buf executable = STET_BUF_INIT, program = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    enum stet_verify_verdict verdict = STET_VERIFY_DAMAGED;
    struct stet_entry_file f;
    char build[192];

    if (stet_store_get(s, c->key, &f, &err) != STET_OK) {
        snprintf(c->detail, sizeof c->detail, "%s", err.text);
        return STET_VERIFY_DAMAGED;
    }
    snprintf(c->name, sizeof c->name, "%.*s", (int)(f.name.len < 63 ? f.name.len : 63), f.name.ptr);
    snprintf(c->plugin, sizeof c->plugin, "%.*s",
             (int)(f.plugin_path.len < 255 ? f.plugin_path.len : 255), f.plugin_path.ptr);
    if (stet_store_entry_program(&f, &program, &err) != STET_OK ||
        stet_store_entry_executable(&f, &executable, &err) != STET_OK) {
        snprintf(c->detail, sizeof c->detail, "%s", err.text);
    } else {
        snprintf(build, sizeof build, "%.*s", STET_FMT(f.parts.part[STET_COMPONENT_PLUGIN]));
        if (strcmp(a->path, c->plugin) != 0 || strcmp(a->build, build) != 0)
            bring_up(s, a, c, build);
        verdict = a->client ? load(a, c, stet_buf_as_view(&executable)) : a->why_not;
        if (!a->client)
            memcpy(c->detail, a->why, sizeof c->detail);
    }
    stet_buf_release(&executable);
    stet_buf_release(&program);
    stet_store_entry_close(&f);
    return verdict;
}

/* Runs in the child, from entry `from` on. It marks each entry before it loads it. */
static _Noreturn void child(const struct stet_store *s, struct stet_verify_entry *checks, size_t n,
                            size_t from)
{
    struct alive a = {0};

    dup2(STDERR_FILENO, STDOUT_FILENO); /* plugins print on standard output */
    for (size_t i = from; i < n; i++) {
        checks[i].verdict = STET_VERIFY_LOADING;
        checks[i].verdict = check_one(s, &checks[i], &a);
    }
    _exit(0);
}

static void run_children(const struct stet_store *s, struct stet_verify_entry *checks, size_t n)
{
    size_t from = 0;

    while (from < n) {
        int status;
        pid_t pid = fork();

        if (pid == 0)
            child(s, checks, n, from);
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return;
        while (from < n && checks[from].verdict != STET_VERIFY_NOT_YET)
            from++;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return;
    }
}

const char *stet_warm_verify_words(enum stet_verify_verdict verdict)
{
    return verdicts[verdict].words;
}

bool stet_warm_verify_tried(enum stet_verify_verdict verdict)
{
    return verdicts[verdict].tried;
}

enum stet_rc stet_warm_verify_store(const struct stet_store *s, struct stet_verify *v,
                                    struct stet_err *err)
{
    struct stet_stored_list all;
    enum stet_rc rc = stet_store_list(s, &all, err);

    *v = (struct stet_verify){0};
    if (rc != STET_OK)
        return rc;
    v->size = (all.count + 1) * sizeof *v->items;
    v->items = mmap(NULL, v->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (v->items == MAP_FAILED) {
        v->items = NULL;
        rc = stet_fail_errno(err, "no memory for the list");
    } else {
        v->count = all.count;
        for (size_t i = 0; i < all.count; i++)
            v->items[i].key = all.items[i].key;
        run_children(s, v->items, v->count);
    }
    stet_store_list_release(&all);
    return rc;
}

void stet_warm_verify_release(struct stet_verify *v)
{
    if (v->items)
        munmap(v->items, v->size);
}
