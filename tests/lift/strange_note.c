/* strange-note STORE HOW: rewrites every note about a lifted family, with a valid checksum. HOW is
 * `fewer` (a use less than the program has), `other` (another use is the argument) or `kinds` (the
 * arguments are starts of slices). */
#include "store/lift_note.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static void spoil(struct stet_store_lift *note, const char *how, char *places, char *kinds)
{
    size_t n = note->argument_of.len;

    memcpy(places, note->argument_of.ptr, n);
    memcpy(kinds, note->kinds.ptr, note->kinds.len);
    if (!strcmp(how, "fewer")) {
        n--;
    } else if (!strcmp(how, "other")) {
        for (size_t i = 0; i < n; i++)
            places[i] = places[i] ? '\0' : (char)255;
    } else {
        memset(kinds, 2, note->kinds.len);
    }
    note->argument_of = stet_view_of(places, n);
    note->kinds = stet_view_of(kinds, note->kinds.len);
}

int main(int argc, char **argv)
{
    char folder[4096], places[4096], kinds[64];
    struct stet_store_lift note;
    struct stet_store store;
    struct dirent *entry;
    int found = 0;
    DIR *dir;

    if (argc != 3 || stet_store_open(&store, argv[1], NULL) != STET_OK)
        return 2;
    snprintf(folder, sizeof folder, "%s/lifts", argv[1]);
    dir = opendir(folder);
    while (dir && (entry = readdir(dir))) {
        struct stet_hash name;

        if (!stet_hash_parse(stet_view_str(entry->d_name), &name) ||
            !stet_store_lift_open(&store, name, &note) || note.argument_of.len > sizeof places)
            continue;
        spoil(&note, argv[2], places, kinds);
        stet_store_lift_write(&store, name, &note);
        stet_store_lift_close(&note);
        found++;
    }
    if (dir)
        closedir(dir);
    return found ? 0 : 1;
}
