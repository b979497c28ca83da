/* Walks ELF program headers and finds where the loader mapped them. */
#include "intercept/object.h"

#include "base/fs.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* How one copy of the layer recognises another without exporting a symbol: the note is in the code,
 * whatever the file's name. Its owner is "stet", its type 1. */
enum { STET_NOTE_LAYER = 1 };
__asm__(".pushsection .note.stet, \"a\", %note\n"
        "    .balign 4\n"
        "    .long 5, 4, 1\n"
        "    .asciz \"stet\"\n"
        "    .balign 4\n"
        "    .long 1\n"
        "    .popsection\n");

struct image {
    uintptr_t bias; /* added to the file's own addresses */
    const ElfW(Phdr) * headers;
    size_t count;
};

static bool image_at(const void *base, struct image *out)
{
    const ElfW(Ehdr) *e = base;

    if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_phentsize != sizeof(ElfW(Phdr)))
        return false;
    *out = (struct image){0, (const ElfW(Phdr) *)((const char *)base + e->e_phoff), e->e_phnum};
    for (size_t i = 0; i < out->count; i++) {
        const ElfW(Phdr) *h = &out->headers[i];

        if (h->p_type != PT_LOAD || h->p_offset != 0)
            continue;
        out->bias = (uintptr_t)base - h->p_vaddr;
        return e->e_phoff + out->count * sizeof *h <= h->p_filesz; /* they are mapped */
    }
    return false;
}

static bool mapped(const struct image *m, const ElfW(Phdr) * part)
{
    for (size_t i = 0; i < m->count; i++) {
        const ElfW(Phdr) *h = &m->headers[i];

        if (h->p_type == PT_LOAD && (h->p_flags & PF_R) && part->p_vaddr >= h->p_vaddr &&
            part->p_vaddr + part->p_memsz <= h->p_vaddr + h->p_memsz)
            return true;
    }
    return false;
}

static void take_note(struct stet_object *out, const ElfW(Nhdr) * n, const char *name,
                      const unsigned char *bytes)
{
    if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
        for (size_t i = 0; i < n->n_descsz && i < sizeof out->build_id / 2; i++)
            snprintf(out->build_id + 2 * i, 3, "%02x", bytes[i]);
    }
    if (n->n_type == STET_NOTE_LAYER && n->n_namesz == 5 && !memcmp(name, "stet", 5))
        out->is_stet = true;
}

static void read_notes(struct stet_object *out, const char *p, size_t left, size_t align)
{
    while (left >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) n;
        size_t name, size, whole;

        memcpy(&n, p, sizeof n);
        name = sizeof n + (((size_t)n.n_namesz + align - 1) & ~(align - 1));
        size = ((size_t)n.n_descsz + align - 1) & ~(align - 1);
        whole = name + size;
        if (name > left || sizeof n + n.n_namesz > left || name + n.n_descsz > left)
            return;
        take_note(out, &n, p + sizeof n, (const unsigned char *)p + name);
        if (whole >= left)
            return;
        p += whole;
        left -= whole;
    }
}

bool stet_object_at(const void *address, struct stet_object *out)
{
    struct image m;
    Dl_info info;

    *out = (struct stet_object){0};
    if (!address || !dladdr(address, &info) || !info.dli_fbase)
        return false;
    out->address = info.dli_fbase;
    if (info.dli_fname)
        snprintf(out->path, sizeof out->path, "%s", info.dli_fname);
    if (!image_at(info.dli_fbase, &m))
        return true;
    for (size_t i = 0; i < m.count; i++) {
        const ElfW(Phdr) *h = &m.headers[i];

        if (h->p_type == PT_NOTE && mapped(&m, h))
            read_notes(out, (const char *)(m.bias + h->p_vaddr), h->p_memsz,
                       h->p_align == 8 ? 8 : 4);
    }
    return true;
}

/* The file of the mapping that contains an address, from /proc/self/maps: the kernel follows a
 * renamed file, and marks a deleted one. */
static bool mapped_file(struct stet_view maps, const void *address, char path[PATH_MAX])
{
    while (maps.len) {
        const char *end = memchr(maps.ptr, '\n', maps.len);
        size_t n = end ? (size_t)(end - maps.ptr) : maps.len;
        const char *slash = memchr(maps.ptr, '/', n);
        char *rest;
        uintptr_t low = strtoul(maps.ptr, &rest, 16);
        uintptr_t high = *rest == '-' ? strtoul(rest + 1, NULL, 16) : 0;

        if ((uintptr_t)address >= low && (uintptr_t)address < high && slash) {
            size_t len = (size_t)(maps.ptr + n - slash);

            if (len >= PATH_MAX)
                return false;
            memcpy(path, slash, len);
            path[len] = '\0';
            return true;
        }
        n += end != NULL;
        maps = stet_view_of(maps.ptr + n, maps.len - n);
    }
    return false;
}

bool stet_object_is_file(const struct stet_object *o)
{
    struct stet_file maps;
    struct stat here, there;
    char path[PATH_MAX];
    bool found;

    if (stet_file_open(&maps, "/proc/self/maps", NULL) != STET_OK)
        return false;
    found = mapped_file(maps.bytes, o->address, path);
    stet_file_close(&maps);
    return found && stat(path, &there) == 0 && stat(o->path, &here) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

void stet_object_populate(const void *address)
{
    struct image m;
    Dl_info info;

    if (!dladdr(address, &info) || !info.dli_fbase || !image_at(info.dli_fbase, &m))
        return;
    for (size_t i = 0; i < m.count; i++) {
        const ElfW(Phdr) *h = &m.headers[i];

        if (h->p_type == PT_LOAD && (h->p_flags & PF_R) && !(h->p_flags & PF_W))
            stet_mem_populate((const void *)(m.bias + h->p_vaddr), h->p_memsz, false);
    }
}

static bool holds(const struct dl_phdr_info *object, uintptr_t address)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];

        if (h->p_type == PT_LOAD && address - (object->dlpi_addr + h->p_vaddr) < h->p_memsz)
            return true;
    }
    return false;
}

/* Loaders differ in whether they add the bias to the addresses in the dynamic section. */
static const void *in_memory(const struct dl_phdr_info *object, uintptr_t value)
{
    return (const void *)(holds(object, value) ? value : object->dlpi_addr + value);
}

bool stet_object_symbols(const struct dl_phdr_info *object, const void *but,
                         struct stet_object_symbols *out)
{
    const ElfW(Dyn) *d = NULL;

    *out = (struct stet_object_symbols){.bias = object->dlpi_addr};
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    }
    for (; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            out->symbols = in_memory(object, d->d_un.d_ptr);
        if (d->d_tag == DT_STRTAB)
            out->names = in_memory(object, d->d_un.d_ptr);
        if (d->d_tag == DT_HASH)
            out->hash = in_memory(object, d->d_un.d_ptr);
    }
    return out->symbols && out->names && out->hash && !holds(object, (uintptr_t)but);
}

uintptr_t stet_object_symbol(const struct stet_object_symbols *table, const char *name)
{
    const ElfW(Sym) *symbols = table->symbols;

    for (uint32_t i = 0; i < table->hash[1]; i++) { /* nchain: the number of symbols */
        if (symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_value &&
            !strcmp(table->names + symbols[i].st_name, name))
            return table->bias + symbols[i].st_value;
    }
    return 0;
}
