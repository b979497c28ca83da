/* Reads /proc for the descendants of the command, and checks whether the layer is mapped in
 * each. */
#include "launch/watch.h"

#include "base/mem.h"
#include "base/vec.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_KNOWN = 1 << 16, DEEPEST = 64 };

void stet_launch_watch_init(struct stet_launch_watch *w, const char *library)
{
    *w = (struct stet_launch_watch){.library = library};
}

void stet_launch_watch_release(struct stet_launch_watch *w)
{
    stet_mem_free(w->known);
    w->known = NULL;
}

static bool is_known(const struct stet_launch_watch *w, struct stet_known k)
{
    for (size_t i = 0; i < w->known_count; i++) {
        if (w->known[i].pid == k.pid && w->known[i].program == k.program)
            return true;
    }
    return false;
}

static void remember(struct stet_launch_watch *w, struct stet_known k)
{
    if (stet_vec_grow(&w->known, &w->known_room, w->known_count, 1, sizeof k, MOST_KNOWN))
        w->known[w->known_count++] = k;
}

/* Returns the program interpreter of an ELF file: NULL when it cannot be read, "" when it has
 * none. */
static const char *read_interpreter(const char *path, char *out, size_t room)
{
    Elf64_Ehdr header;
    Elf64_Phdr part;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *found = NULL;

    if (fd < 0)
        return NULL;
    if (pread(fd, &header, sizeof header, 0) == sizeof header &&
        !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
        header.e_phentsize == sizeof part)
        found = "";
    for (unsigned i = 0; found && i < header.e_phnum; i++) {
        off_t at = (off_t)(header.e_phoff + i * sizeof part);

        if (pread(fd, &part, sizeof part, at) != sizeof part)
            break;
        if (part.p_type != PT_INTERP || part.p_filesz >= room)
            continue;
        if (pread(fd, out, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz) {
            out[part.p_filesz] = '\0';
            found = out;
        }
        break;
    }
    close(fd);
    return found;
}

/* Does a line of the (unseekable) file contain `word`? Returns -1 when it cannot be read. */
static int file_mentions(const char *path, const char *word)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int found = 0;
    bool any = false;

    if (!f)
        return -1;
    while (!found && getdelim(&line, &room, '\n', f) > 0) {
        any = true;
        found = strstr(line, word) != NULL;
    }
    free(line);
    fclose(f);
    return any ? found : -1;
}

static bool environment_has_preload(const char *path, const char *library)
{
    FILE *f = fopen(path, "re");
    char *item = NULL;
    size_t room = 0;
    bool found = false;

    while (f && !found && getdelim(&item, &room, '\0', f) > 0)
        found = !strncmp(item, "LD_PRELOAD=", 11) && strstr(item, library);
    free(item);
    if (f)
        fclose(f);
    return found;
}

/* Is a file mapped that is neither the program nor its interpreter? The interpreter maps the layer
 * before anything else, so until then the process has only just been started. */
static bool is_loaded(pid_t pid, ino_t program, const char *interpreter)
{
    char path[PATH_MAX + 64];
    struct stat st = {0};
    unsigned long inode;
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/root%s", (long)pid, interpreter);
    if (stat(path, &st) != 0)
        return true;
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    f = fopen(path, "re");
    while (f && !found && getdelim(&line, &room, '\n', f) > 0)
        found = sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1 && inode && inode != program &&
                inode != st.st_ino;
    free(line);
    if (f)
        fclose(f);
    return found;
}

/* Returned for a process that is still being started. */
static const char not_yet[] = "not loaded yet";

/* Returns why the layer is not in this process, or NULL when it is there or the process has
 * ended. */
static const char *why_absent(const struct stet_launch_watch *w, pid_t pid)
{
    char path[64], interpreter[256];
    struct stat st;
    const char *found;
    int mapped;

    snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    mapped = file_mentions(path, w->library);
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    if (stat(path, &st) != 0)
        return mapped > 0 || errno == ENOENT ? NULL
                                             : "cannot be inspected (another user's process)";
    if (st.st_mode & (S_ISUID | S_ISGID))
        return "setuid";
    found = read_interpreter(path, interpreter, sizeof interpreter);
    if (mapped > 0) /* musl loads the layer, which then disables itself */
        return found && strstr(found, "musl") ? "musl libc" : NULL;
    if (!found)
        return "cannot be looked into";
    if (!*found)
        return "statically linked";
    if (strstr(found, "musl"))
        return "musl libc";
    if (mapped < 0)
        return NULL; /* between fork and exec, or ending */
    if (!is_loaded(pid, st.st_ino, found))
        return not_yet;
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    if (!environment_has_preload(path, w->library))
        return "environment without LD_PRELOAD";
    return "the loader did not load the layer (container or other file system?)";
}

static void add_stranger(struct stet_launch_watch *w, pid_t pid, const char *reason)
{
    struct stet_stranger s = {.pid = pid, .reason = reason};
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    f = fopen(path, "re");
    if (f) {
        if (fgets(s.command, sizeof s.command, f))
            s.command[strcspn(s.command, "\n")] = '\0';
        fclose(f);
    }
    if (w->stranger_count < sizeof w->strangers / sizeof *w->strangers)
        w->strangers[w->stranger_count] = s;
    w->stranger_count++;
}

static void look_at(struct stet_launch_watch *w, pid_t pid)
{
    struct stet_known k = {.pid = pid};
    const char *reason;
    struct stat st;
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    if (stat(path, &st) == 0)
        k.program = st.st_ino;
    if (is_known(w, k))
        return;
    reason = why_absent(w, pid);
    if (reason == not_yet)
        return; /* the next sample decides */
    if (reason)
        add_stranger(w, pid, reason);
    remember(w, k);
}

static void visit(struct stet_launch_watch *w, pid_t pid, int depth);

static void visit_children_of_thread(struct stet_launch_watch *w, pid_t pid, const char *thread,
                                     int depth)
{
    char path[340];
    long child;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/task/%s/children", (long)pid, thread);
    f = fopen(path, "re");
    while (f && fscanf(f, "%ld", &child) == 1)
        visit(w, (pid_t)child, depth + 1);
    if (f)
        fclose(f);
}

static void visit(struct stet_launch_watch *w, pid_t pid, int depth)
{
    char path[64];
    DIR *threads;

    if (depth > DEEPEST)
        return;
    look_at(w, pid);
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    threads = opendir(path);
    if (!threads)
        return;
    for (struct dirent *e; (e = readdir(threads));) {
        if (e->d_name[0] != '.')
            visit_children_of_thread(w, pid, e->d_name, depth);
    }
    closedir(threads);
}

void stet_launch_watch_sample(struct stet_launch_watch *w, pid_t root)
{
    visit(w, root, 0);
}

void stet_launch_watch_json(const struct stet_launch_watch *w, struct stet_json *j)
{
    size_t listed = sizeof w->strangers / sizeof *w->strangers;

    stet_json_array(j, "unchecked");
    for (size_t i = 0; i < w->stranger_count && i < listed; i++) {
        stet_json_object(j, NULL);
        stet_json_int(j, "pid", w->strangers[i].pid);
        stet_json_cstr(j, "command", w->strangers[i].command);
        stet_json_cstr(j, "reason", w->strangers[i].reason);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_uint(j, "unchecked_count", w->stranger_count);
}
