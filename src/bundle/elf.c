/* Reads section and program headers by bounded copies, because the file may be truncated, foreign
 * or not ELF. It reads only the parts it needs: a plugin has hundreds of megabytes, and a package
 * manager may be replacing it. */
#include "bundle/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

/* The source of headers: bytes in memory, or an open file through one buffered piece. */
struct source {
    const char *bytes;
    uint64_t len;
    int fd; /* if there are no bytes */
    uint64_t piece_at;
    size_t piece_len;
    char piece[1 << 14];
};

/* The piece that begins at `at`; shorter at the end of the file, or if it was truncated
 * meanwhile. */
static void read_piece(struct source *f, uint64_t at)
{
    ssize_t got;

    do
        got = pread(f->fd, f->piece, sizeof f->piece, (off_t)at);
    while (got < 0 && errno == EINTR);
    f->piece_at = at;
    f->piece_len = got > 0 ? (size_t)got : 0;
}

/* `n` is at most the size of a header. */
static bool copy(struct source *f, uint64_t at, void *out, size_t n)
{
    if (at > f->len || n > f->len - at)
        return false;
    if (f->bytes) {
        memcpy(out, f->bytes + at, n);
        return true;
    }
    if (at < f->piece_at || at - f->piece_at > f->piece_len ||
        n > f->piece_len - (size_t)(at - f->piece_at))
        read_piece(f, at);
    if (n > f->piece_len)
        return false;
    memcpy(out, f->piece + (at - f->piece_at), n);
    return true;
}

static void take_build_id(struct stet_elf *e, struct source *f, uint64_t at, uint64_t end)
{
    Elf64_Nhdr n;

    while (at < end && copy(f, at, &n, sizeof n)) {
        uint64_t name = at + sizeof n;
        uint64_t bytes = name + (((uint64_t)n.n_namesz + 3) & ~(uint64_t)3);
        char owner[4] = "";

        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && copy(f, name, owner, 4) &&
            !memcmp(owner, "GNU", 4)) {
            for (uint64_t i = 0; i < n.n_descsz && i < 64 && bytes + i < end; i++) {
                unsigned char byte;

                if (copy(f, bytes + i, &byte, 1))
                    snprintf(e->build_id + 2 * i, 3, "%02x", byte);
            }
            return;
        }
        at = bytes + (((uint64_t)n.n_descsz + 3) & ~(uint64_t)3);
    }
}

static void look_at_segments(struct stet_elf *e, struct source *f, const Elf64_Ehdr *h)
{
    for (unsigned i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr p;

        if (!copy(f, h->e_phoff + (uint64_t)i * sizeof p, &p, sizeof p)) {
            e->wrong = "truncated: its program headers are past the end";
            return;
        }
        if (p.p_type == PT_LOAD && (p.p_offset > f->len || p.p_filesz > f->len - p.p_offset))
            e->wrong = "truncated: shorter than its segments";
        else if (p.p_type == PT_NOTE && !e->build_id[0] && p.p_offset <= f->len &&
                 p.p_filesz <= f->len - p.p_offset)
            take_build_id(e, f, p.p_offset, p.p_offset + p.p_filesz);
    }
}

static bool is_entry(struct source *f, const Elf64_Shdr *names, const Elf64_Sym *s)
{
    static const char entry[] = "GetPjrtApi";
    char text[sizeof entry];

    return s->st_shndx != SHN_UNDEF && s->st_name < names->sh_size &&
           copy(f, names->sh_offset + s->st_name, text, sizeof text) &&
           !memcmp(text, entry, sizeof entry);
}

static void look_at_sections(struct stet_elf *e, struct source *f, const Elf64_Ehdr *h)
{
    for (unsigned i = 0; i < h->e_shnum; i++) {
        Elf64_Shdr s, names;

        if (!copy(f, h->e_shoff + (uint64_t)i * sizeof s, &s, sizeof s)) {
            /* It may still load, but it is not the file that was built. */
            e->wrong = "truncated: its section headers are past the end";
            return;
        }
        if (s.sh_type != SHT_DYNSYM || e->has_symbols ||
            !copy(f, h->e_shoff + (uint64_t)s.sh_link * sizeof names, &names, sizeof names))
            continue;
        e->has_symbols = true;
        for (uint64_t k = 0; k < s.sh_size / sizeof(Elf64_Sym); k++) {
            Elf64_Sym symbol;

            if (!copy(f, s.sh_offset + k * sizeof symbol, &symbol, sizeof symbol))
                break;
            e->has_entry |= is_entry(f, &names, &symbol);
        }
    }
}

static void look(struct stet_elf *e, struct source *f)
{
    char magic[SELFMAG];
    Elf64_Ehdr h;

    *e = (struct stet_elf){0};
    if (!f->len)
        e->wrong = "empty";
    else if (!copy(f, 0, magic, SELFMAG) || memcmp(magic, ELFMAG, SELFMAG) != 0)
        e->wrong = "not a shared object (not an ELF file)";
    else if (!copy(f, 0, &h, sizeof h))
        e->wrong = "truncated in its first header";
    else if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
        e->wrong = "made for another kind of machine (not 64-bit little-endian)";
    else if (MACHINE != EM_NONE && h.e_machine != MACHINE)
        e->wrong = h.e_machine == EM_AARCH64  ? "made for aarch64, not for this machine"
                   : h.e_machine == EM_X86_64 ? "made for x86-64, not for this machine"
                                              : "made for another machine";
    else if (h.e_type != ET_DYN)
        e->wrong = "not a shared object (another type of ELF file)";
    if (e->wrong)
        return;
    look_at_segments(e, f, &h);
    if (!e->wrong)
        look_at_sections(e, f, &h);
}

void stet_bundle_elf_look(struct stet_elf *e, struct stet_view bytes)
{
    struct source f = {.bytes = bytes.ptr, .len = bytes.len, .fd = -1};

    look(e, &f);
}

bool stet_bundle_elf_read(struct stet_elf *e, int fd)
{
    struct source f = {.fd = fd};
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    f.len = (uint64_t)st.st_size;
    look(e, &f);
    return true;
}

bool stet_bundle_elf_open(struct stet_elf *e, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool readable = fd >= 0 && stet_bundle_elf_read(e, fd);

    if (fd >= 0)
        close(fd);
    return readable;
}
