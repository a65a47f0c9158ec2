/* Barriers of a cooperative grid: passes with a histogram, a scatter and two barriers, by templates/radix/cooperative.

   Property: each group loads the histograms of the pass from all groups, and the keys that the pass has scattered.
   No group waits for ever.

   Abstraction: a histogram is one word, a group has one key, and a scatter sends the key of a group to the next
   group.  A pass moves keys or moves no key, as the histograms say; every choice is tried.  The word of the barrier
   has 8 bits instead of 32.

   Memory: memory.pml.  CUDA documents release and acquire at .gpu scope (PTX memory model); only CUDA has grids.

   run: two groups, three passes: GROUPS=2 PASSES=3
   run: three groups, two passes: GROUPS=3 PASSES=2
   run: four groups, three passes, strong memory: GROUPS=4 PASSES=3 STRONG=1
   mutant: NO_RELEASE: the addition of the arrival releases nothing
   mutant: NO_ACQUIRE: the load of the wait acquires nothing
   mutant: ONE_TABLE: passes store their histograms in one table
   mutant: NO_SECOND_BARRIER: no barrier between the scatter and the next load
   mutant: EQUAL_ARRIVALS: group 0 adds 1 as the others do
   mutant: ARRIVAL_APART: an arrival is a load and a store
   macro: templates/dialects/cuda/grids.j2 grids a80d26bf1b26
   macro: templates/radix/cooperative/grid.j2 grid 0956781a3d53
   macro: templates/radix/cooperative/grid.j2 publish 4f8d992d6246
   macro: templates/radix/cooperative/grid.j2 load_next 381b3e2fb6c4 */

#ifndef GROUPS
#define GROUPS 2
#endif
#ifndef PASSES
#define PASSES 3
#endif
#ifndef MOVES
#define MOVES 1 /* whether passes may move keys */
#endif
#define ROW(table, g) ((table) * GROUPS + (g))
#define KEY(g) (2 * GROUPS + (g))
#if MOVES == 0
#define WORDS (2 * GROUPS)
#else
#define WORDS (3 * GROUPS)
#endif
#define PLAIN WORDS
#include "memory.pml"

byte barrier_word; /* the driver's word; additions act on it at once */
byte moves;        /* a bit for each pass: whether the pass moves keys, which all histograms show alike */
byte decided;      /* a bit for each pass */
#define TOP 128

/* hs_grid_arrive: __syncthreads, then an addition with release by one lane. */
inline arrive(g)
{
#ifndef NO_RELEASE
    release(g);
#endif
#ifdef ARRIVAL_APART
    was = barrier_word;
    barrier_word = was + more
#else
    atomic { was = barrier_word; barrier_word = was + more }
#endif
}

/* hs_grid_wait: a loop until the highest bit differs, with acquire; then __syncthreads. */
inline wait(g)
{
    atomic {
        ((was ^ barrier_word) & TOP) != 0;
        was = 0;
#ifndef NO_ACQUIRE
        acquire(g)
#endif
    }
}

active [GROUPS] proctype group()
{
    ACCESS;
    byte me = _pid - 1, pass = 0, was = 0, seen = 0, i = 0, key = _pid;
    byte more = 1;
#ifndef EQUAL_ARRIVALS
    if
    :: me == 0 -> more = TOP - (GROUPS - 1)
    :: else
    fi;
#endif
    do
    :: pass < PASSES ->
#ifdef ONE_TABLE
#define TABLE 0
#else
#define TABLE (pass & 1)
#endif
        store(me, ROW(TABLE, me), pass * GROUPS + me + 1);
        arrive(me);
        wait(me);
        do
        :: i < GROUPS ->
            load(me, ROW(TABLE, i), seen);
            assert(seen == pass * GROUPS + i + 1);
            atomic { seen = 0; i++ }
        :: else -> break
        od;
        i = 0;
        atomic {
            if
            :: decided >> pass & 1
            :: else ->
                decided = decided | 1 << pass;
                if
                :: MOVES -> moves = moves | 1 << pass
                :: true
                fi
            fi
        };
        if
        :: moves >> pass & 1 ->
            store(me, KEY((me + 1) % GROUPS), key);
            if
            :: pass + 1 < PASSES ->
#ifndef NO_SECOND_BARRIER
                arrive(me);
                wait(me);
#endif
                atomic { load(me, KEY(me), seen); key = seen; seen = 0 };
                i = pass + 1;
                /* the key has come from one group further back with each pass that moves keys */
                do
                :: i > 0 -> i--; seen = seen + (moves >> i & 1)
                :: else -> break
                od;
                assert(key == (me + PASSES * GROUPS - seen) % GROUPS + 1);
                seen = 0
            :: else
            fi
        :: else
        fi;
        pass++
    :: else -> break
    od
}
