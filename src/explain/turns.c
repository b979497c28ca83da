/* Counts, in turns of the loop, when a program was compiled. A turn is an execution of the function
 * that runs most. */
#include "explain/history_internal.h"

#include "base/mem.h"
#include "base/vec.h"

/* The number of a group's programs that are examined. */
enum { LOOK_BACK = 256 };

static void count_process(struct stet_history *h, uint32_t process)
{
    const struct stet_order *o = &h->orders[process];
    uint32_t loop = stet_history_loop(h, process), turn = 1;

    for (size_t i = 0; i < o->count; i++) {
        uint32_t ran = o->items[i];

        if (ran == STET_NONE || ran >= h->judge->turn_count)
            continue;
        if (!h->judge->turns[ran])
            h->judge->turns[ran] = turn;
        if (loop && h->sightings[ran].group == h->sightings[loop - 1].group)
            turn++;
    }
    /* Programs that are about to run, while a run is followed. */
    for (uint32_t i = 0; i < h->judge->turn_count; i++) {
        if (h->sightings[i].process == process && !h->sightings[i].past && !h->judge->turns[i])
            h->judge->turns[i] = turn;
    }
}

bool stet_turns_count(struct stet_history *h)
{
    struct stet_history_judge *j = h->judge;

    if (!stet_vec_grow(&j->turns, &j->turn_room, 0, h->sighting_count, sizeof *j->turns, 0))
        return false;
    j->turn_count = h->sighting_count;
    if (j->turn_count)
        memset(j->turns, 0, j->turn_count * sizeof *j->turns);
    for (uint32_t i = 0; i < h->order_count; i++)
        count_process(h, i);
    return true;
}

uint32_t stet_history_turn(const struct stet_history *h, uint32_t sighting)
{
    uint32_t process = h->sightings[sighting].process;

    return stet_history_loop(h, process) && sighting < h->judge->turn_count
               ? h->judge->turns[sighting]
               : 0;
}

uint32_t stet_turns_compiled(const struct stet_history *h, const struct stet_finding *f,
                             uint32_t most)
{
    uint32_t turns = 0, last = 0, n = 0;

    for (uint32_t at = f->sighting; at != STET_NONE && turns < most && n < LOOK_BACK;
         at = h->sightings[at].before, n++) {
        uint32_t turn = at < h->judge->turn_count ? h->judge->turns[at] : 0;

        turns += turn && turn != last;
        last = turn ? turn : last;
    }
    return turns;
}
