/* stet cache verify: every entry is loaded back, by the plugin that made it, in a child process. An
 * entry that kills the child is named, and the next child goes on behind it.
 *
 * Where the plugin is, the entry says: a path on the machine it was compiled on. So the file there
 * is loaded only if it is the build that the entry's key was made with and nobody else can write
 * it; else the entry is not tried, which says nothing against it. */
#include "abi/api.h"
#include "bundle/elf.h"
#include "cli/cache.h"
#include "cli/run_text.h"

#include "base/mem.h"
#include "store/safety.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum verdict {
    NOT_YET,
    LOADING,
    LOADED,
    DAMAGED,
    REFUSED,
    NO_PLUGIN,
    OTHER_BUILD,
    UNSAFE_PLUGIN,
    NO_CLIENT,
};

static const struct {
    const char *words;
    bool tried;
} verdicts[] = {
    [NOT_YET] = {"not reached", false},
    [LOADING] = {"the load crashed", true},
    [LOADED] = {"loaded", true},
    [DAMAGED] = {"damaged", true},
    [REFUSED] = {"the plugin refused it", true},
    [NO_PLUGIN] = {"its plugin is gone", false},
    [OTHER_BUILD] = {"another build of the plugin is there", false},
    [UNSAFE_PLUGIN] = {"its plugin is not loaded", false},
    [NO_CLIENT] = {"its plugin makes no client here", false},
};

/* One entry, in memory that parent and child share. */
struct check {
    struct stet_hash key;
    enum verdict verdict;
    char name[64], plugin[256], detail[256];
};

/* The plugin and client of a child; the last of them stay loaded for the next entry. */
struct alive {
    char path[256], build[192];
    const PJRT_Api *api;
    PJRT_Client *client;
    enum verdict why_not;
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

/* As the layer words it in an entry's key (src/intercept/identity.c). */
static void build_of(int fd, const char *path, char out[192])
{
    char hash[STET_HASH_TEXT];
    struct stet_hash content;
    struct stet_elf elf;

    *out = '\0';
    if (stet_elf_read(&elf, fd) && elf.build_id[0]) {
        snprintf(out, 192, "build id %s", elf.build_id);
    } else if (stet_file_hash(path, &content, NULL) == STET_OK) {
        stet_hash_format(content, hash);
        snprintf(out, 192, "content %s", hash);
    }
}

/* The key may have more to say of a plugin behind its build. */
static bool is_build(const char *build, const char *found)
{
    size_t n = strlen(found);

    return n && !strncmp(build, found, n) && (!build[n] || strchr(" ;,", build[n]));
}

/* LOADED when the file may be loaded as the plugin of this build. */
static enum verdict judge_plugin(const struct stet_store *s, struct check *c, const char *build)
{
    struct stet_err err = STET_ERR_INIT;
    char found[192];
    int fd = open(c->plugin, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (c->plugin[0] != '/' || fd < 0) {
        if (fd >= 0)
            close(fd);
        return NO_PLUGIN;
    }
    build_of(fd, c->plugin, found);
    close(fd);
    if (stet_safety_library(s, c->plugin, &err) != STET_OK) {
        snprintf(c->detail, sizeof c->detail, "%s", err.text);
        return UNSAFE_PLUGIN;
    }
    if (is_build(build, found))
        return LOADED;
    snprintf(c->detail, sizeof c->detail, "%.150s: %.90s", c->plugin, found);
    return OTHER_BUILD;
}

static void bring_up(const struct stet_store *s, struct alive *a, struct check *c,
                     const char *build)
{
    enum verdict judged = judge_plugin(s, c, build);
    void *library = judged == LOADED ? dlopen(c->plugin, RTLD_NOW | RTLD_LOCAL) : NULL;
    union {
        void *symbol;
        stet_get_pjrt_api *get;
    } entry = {library ? dlsym(library, "GetPjrtApi") : NULL};
    PJRT_Plugin_Initialize_Args init = {.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    PJRT_Error *error = NULL;

    *a = (struct alive){.why_not = judged == LOADED ? NO_PLUGIN : judged};
    snprintf(a->path, sizeof a->path, "%s", c->plugin);
    snprintf(a->build, sizeof a->build, "%s", build);
    snprintf(a->why, sizeof a->why, "%s", c->detail);
    if (!entry.symbol)
        return;
    a->api = entry.get();
    a->why_not = NO_CLIENT;
    if (stet_api_has(a->api, PJRT_Plugin_Initialize))
        error = a->api->PJRT_Plugin_Initialize(&init);
    if (!error)
        error = a->api->PJRT_Client_Create(&create);
    if (error)
        say_error(a->api, error, a->why, sizeof a->why);
    else
        a->client = create.client;
}

static enum verdict load(struct alive *a, struct check *c, struct stet_view bytes)
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
        return REFUSED;
    }
    destroy.executable = args.loaded_executable;
    error = a->api->PJRT_LoadedExecutable_Destroy(&destroy);
    if (error)
        say_error(a->api, error, c->detail, sizeof c->detail);
    return LOADED;
}

static enum verdict check_one(const struct stet_store *s, struct check *c, struct alive *a)
{
    struct stet_buf executable = STET_BUF_INIT, program = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    enum verdict verdict = DAMAGED;
    struct stet_entry_file f;
    char build[192];

    if (stet_store_get(s, c->key, &f, &err) != STET_OK) {
        snprintf(c->detail, sizeof c->detail, "%s", err.text);
        return DAMAGED;
    }
    snprintf(c->name, sizeof c->name, "%.*s", (int)(f.name.len < 63 ? f.name.len : 63), f.name.ptr);
    snprintf(c->plugin, sizeof c->plugin, "%.*s",
             (int)(f.plugin_path.len < 255 ? f.plugin_path.len : 255), f.plugin_path.ptr);
    if (stet_entry_program(&f, &program, &err) != STET_OK ||
        stet_entry_executable(&f, &executable, &err) != STET_OK) {
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
    stet_entry_close(&f);
    return verdict;
}

/* In the child: from `from` on; what it is at is marked before. */
static _Noreturn void child(const struct stet_store *s, struct check *checks, size_t n, size_t from)
{
    struct alive a = {0};

    dup2(STDERR_FILENO, STDOUT_FILENO); /* plugins talk */
    for (size_t i = from; i < n; i++) {
        checks[i].verdict = LOADING;
        checks[i].verdict = check_one(s, &checks[i], &a);
    }
    _exit(0);
}

static void run_children(const struct stet_store *s, struct check *checks, size_t n)
{
    size_t from = 0;

    while (from < n) {
        int status;
        pid_t pid = fork();

        if (pid == 0)
            child(s, checks, n, from);
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return;
        while (from < n && checks[from].verdict != NOT_YET)
            from++;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return;
    }
}

static void tell_one(struct stet_buf *out, struct stet_json *j, const struct check *c)
{
    char key[STET_HASH_TEXT];

    stet_hash_format(c->key, key);
    if (j) {
        stet_json_object(j, NULL);
        stet_json_cstr(j, "key", key);
        stet_json_cstr(j, "name", c->name);
        stet_json_bool(j, "loaded", c->verdict == LOADED);
        stet_json_bool(j, "tried", verdicts[c->verdict].tried);
        stet_json_cstr(j, "verdict", verdicts[c->verdict].words);
        stet_json_cstr(j, "detail", c->detail);
        stet_json_end_object(j);
    } else if (c->verdict != LOADED) {
        stet_buf_printf(out, "  %.12s  %s: %s%s%s\n", key, c->name, verdicts[c->verdict].words,
                        c->detail[0] ? ": " : "", c->detail);
    }
}

static int tell(const struct stet_args *args, const struct check *checks, size_t n)
{
    bool json = args->format == STET_FORMAT_JSON;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;
    size_t loaded = 0, tried = 0;

    for (size_t i = 0; i < n; i++) {
        loaded += checks[i].verdict == LOADED;
        tried += verdicts[checks[i].verdict].tried;
    }
    if (json) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.verify/1");
        stet_json_uint(&j, "entries", n);
        stet_json_uint(&j, "loaded", loaded);
        stet_json_uint(&j, "not_tried", n - tried);
        stet_json_array(&j, "checks");
    } else {
        stet_buf_printf(&out, "%zu of ", loaded);
        stet_text_count(&out, n, "entry");
        stet_buf_str(&out, " loaded back");
        if (tried < n)
            stet_buf_printf(&out, ", %zu not tried", n - tried);
        stet_buf_char(&out, '\n');
    }
    for (size_t i = 0; i < n; i++)
        tell_one(&out, json ? &j : NULL, &checks[i]);
    if (json) {
        stet_json_end_array(&j);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    }
    /* with nothing tried there is nothing that one could call fine */
    return stet_print(&out, loaded < tried || (n && !loaded) ? STET_EXIT_FINDING : STET_EXIT_FINE);
}

int stet_cache_verify(const struct stet_store *s, const struct stet_args *args)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_stored_list all;
    struct check *checks;
    size_t size;
    int code;

    if (stet_store_list(s, &all, &err) != STET_OK)
        return stet_complain(&err);
    size = (all.count + 1) * sizeof *checks;
    checks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (checks == MAP_FAILED) {
        stet_stored_list_release(&all);
        stet_fail_errno(&err, "no memory for the list");
        return stet_complain(&err);
    }
    for (size_t i = 0; i < all.count; i++)
        checks[i].key = all.items[i].key;
    run_children(s, checks, all.count);
    code = tell(args, checks, all.count);
    munmap(checks, size);
    stet_stored_list_release(&all);
    return code;
}
