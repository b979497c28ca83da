/* stet cache verify: every entry is loaded back, by the plugin that made it, in a child process. An
 * entry that kills the child is named, and the next child goes on behind it. */
#include "abi/api.h"
#include "cli/cache.h"
#include "cli/run_text.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum verdict { NOT_YET, LOADING, LOADED, DAMAGED, NO_PLUGIN, NO_CLIENT, REFUSED };

static const char *const verdict_words[] = {
    "not reached",
    "the load crashed",
    "loaded",
    "damaged",
    "its plugin is gone",
    "its plugin makes no client here",
    "the plugin refused it",
};

/* One entry, in memory that parent and child share. */
struct check {
    struct stet_hash key;
    enum verdict verdict;
    char name[64], plugin[256], detail[192];
};

/* The plugin and client of a child; the last of them stay loaded for the next entry. */
struct alive {
    char path[256];
    const PJRT_Api *api;
    PJRT_Client *client;
    enum verdict why_not;
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

static void bring_up(struct alive *a, struct check *c)
{
    void *library = dlopen(c->plugin, RTLD_NOW | RTLD_LOCAL);
    union {
        void *symbol;
        stet_get_pjrt_api *get;
    } entry = {library ? dlsym(library, "GetPjrtApi") : NULL};
    PJRT_Plugin_Initialize_Args init = {.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    PJRT_Error *error = NULL;

    *a = (struct alive){.why_not = NO_PLUGIN};
    snprintf(a->path, sizeof a->path, "%s", c->plugin);
    if (!entry.symbol)
        return;
    a->api = entry.get();
    a->why_not = NO_CLIENT;
    if (stet_api_has(a->api, PJRT_Plugin_Initialize))
        error = a->api->PJRT_Plugin_Initialize(&init);
    if (!error)
        error = a->api->PJRT_Client_Create(&create);
    if (error)
        say_error(a->api, error, c->detail, sizeof c->detail);
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

    if (stet_store_get(s, c->key, &f, &err) != STET_OK) {
        snprintf(c->detail, sizeof c->detail, "%.190s", err.text);
        return DAMAGED;
    }
    snprintf(c->name, sizeof c->name, "%.*s", (int)(f.name.len < 63 ? f.name.len : 63), f.name.ptr);
    snprintf(c->plugin, sizeof c->plugin, "%.*s",
             (int)(f.plugin_path.len < 255 ? f.plugin_path.len : 255), f.plugin_path.ptr);
    if (stet_entry_program(&f, &program, &err) != STET_OK ||
        stet_entry_executable(&f, &executable, &err) != STET_OK) {
        snprintf(c->detail, sizeof c->detail, "%.190s", err.text);
    } else {
        if (strcmp(a->path, c->plugin) != 0)
            bring_up(a, c);
        verdict = a->client ? load(a, c, stet_buf_as_view(&executable)) : a->why_not;
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
        stet_json_cstr(j, "verdict", verdict_words[c->verdict]);
        stet_json_cstr(j, "detail", c->detail);
        stet_json_end_object(j);
    } else if (c->verdict != LOADED) {
        stet_buf_printf(out, "  %.12s  %s: %s%s%s\n", key, c->name, verdict_words[c->verdict],
                        c->detail[0] ? ": " : "", c->detail);
    }
}

static int tell(const struct stet_args *args, const struct check *checks, size_t n)
{
    bool json = args->format == STET_FORMAT_JSON;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;
    size_t loaded = 0;

    for (size_t i = 0; i < n; i++)
        loaded += checks[i].verdict == LOADED;
    if (json) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.verify/1");
        stet_json_uint(&j, "entries", n);
        stet_json_uint(&j, "loaded", loaded);
        stet_json_array(&j, "checks");
    } else {
        stet_buf_printf(&out, "%zu of ", loaded);
        stet_text_count(&out, n, "entry");
        stet_buf_str(&out, " loaded back\n");
    }
    for (size_t i = 0; i < n; i++)
        tell_one(&out, json ? &j : NULL, &checks[i]);
    if (json) {
        stet_json_end_array(&j);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    }
    return stet_print(&out, loaded == n ? STET_EXIT_FINE : STET_EXIT_FINDING);
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
