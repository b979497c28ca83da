/* Draws the page on a terminal and handles the keys. Only this file uses ncurses. */
#include "screen/top_page.h"

#include "base/clock.h"
#include "base/text.h"

#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <unistd.h>

static int attributes[STET_STYLES];

static void choose_attributes(void)
{
    bool colour = stet_text_colour(STDOUT_FILENO) && has_colors() && start_color() == OK;

    attributes[STET_STYLE_PLAIN] = A_NORMAL;
    attributes[STET_STYLE_STRONG] = A_BOLD;
    attributes[STET_STYLE_FAINT] = A_DIM;
    attributes[STET_STYLE_GOOD] = A_NORMAL;
    attributes[STET_STYLE_WARN] = A_BOLD;
    attributes[STET_STYLE_BAD] = A_BOLD;
    attributes[STET_STYLE_BAR] = A_REVERSE;
    if (!colour)
        return;
    use_default_colors();
    init_pair(1, COLOR_GREEN, -1);
    init_pair(2, COLOR_YELLOW, -1);
    init_pair(3, COLOR_RED, -1);
    attributes[STET_STYLE_GOOD] = COLOR_PAIR(1);
    attributes[STET_STYLE_WARN] = COLOR_PAIR(2);
    attributes[STET_STYLE_BAD] = COLOR_PAIR(3) | A_BOLD;
}

/* Draws the rows of the page. The last column of the last row must stay empty. */
static void draw(const struct stet_page *p)
{
    int row = 0;

    erase();
    move(0, 0);
    attrset(attributes[STET_STYLE_PLAIN]);
    for (size_t i = 0; i < p->text.len;) {
        unsigned char c = (unsigned char)p->text.ptr[i];
        size_t end = i;

        if (c == '\n') {
            move(++row, 0);
            attrset(attributes[STET_STYLE_PLAIN]);
            i++;
            continue;
        }
        if (c >= STET_STYLE_PLAIN && c < STET_STYLES) {
            attrset(attributes[c]);
            i++;
            continue;
        }
        while (end < p->text.len && (unsigned char)p->text.ptr[end] >= 0x20)
            end++;
        addnstr(p->text.ptr + i, (int)(end - i));
        i = end > i ? end : i + 1;
    }
    refresh();
}

static void show(const struct stet_top *t, struct stet_page *p)
{
    int height, width;

    getmaxyx(stdscr, height, width);
    stet_page_begin(p, width, height);
    stet_screen_page(t, p);
    if (!p->text.failed)
        draw(p);
}

/* False when the user quits. */
static bool press(struct stet_top *t, int key)
{
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case 'p':
    case ' ':
        t->paused = !t->paused;
        break;
    case 's':
        t->sort = (enum stet_top_sort)((t->sort + 1) % STET_SORTS);
        break;
    case 'S':
        t->sort = (enum stet_top_sort)((t->sort + STET_SORTS - 1) % STET_SORTS);
        break;
    case 'r':
    case KEY_RIGHT:
    case KEY_DOWN:
        stet_monitor_top_next_rank(t, 1);
        break;
    case 'R':
    case KEY_LEFT:
    case KEY_UP:
        stet_monitor_top_next_rank(t, -1);
        break;
    case 'h':
    case '?':
        t->help = !t->help;
        break;
    case 12: /* ^L */
        clearok(stdscr, TRUE);
        break;
    default:
        break;
    }
    return true;
}

/* Replaces this run with the newest one, if there is another. */
static void look_at_newest(struct stet_top *t)
{
    static struct stet_monitor_attach other; /* large */

    if (stet_monitor_attach_open(&other, NULL, NULL) != STET_OK)
        return;
    if (!strcmp(other.id, t->attach->id)) {
        stet_monitor_attach_close(&other);
        return;
    }
    stet_monitor_attach_close(t->attach);
    /* The reader holds the model's address, so the run is opened again in its place. */
    stet_monitor_attach_close(&other);
    if (stet_monitor_attach_open(t->attach, NULL, NULL) == STET_OK)
        stet_monitor_top_init(t, t->attach);
}

int stet_screen_run(struct stet_top *t, double interval)
{
    struct stet_page page = {0};
    SCREEN *screen = newterm(NULL, stdout, stdin);
    int64_t next = 0;
    int key = ERR;

    if (!screen)
        return -1;
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    set_escdelay(25);
    choose_attributes();
    do {
        int64_t now = stet_clock_ms();

        if (key == 'n')
            look_at_newest(t);
        if (key == 'n' || (now >= next && !t->paused)) {
            stet_monitor_top_poll(t);
            next = now + (int64_t)(interval * 1000);
        }
        show(t, &page);
        now = stet_clock_ms();
        timeout(t->paused ? 1000 : now < next ? (int)(next - now) : 1);
        key = getch();
        if (key == ERR && (feof(stdin) || !isatty(STDIN_FILENO)))
            break; /* the terminal is gone */
    } while (press(t, key));
    endwin();
    delscreen(screen);
    stet_page_release(&page);
    return 0;
}
