/* Dealt pairs of group_by: counted, dealt to buckets by reserved room, and the starts of groups by look-back.

   Property: the pairs of a bucket fill its room, each place once; the base of a value is the number of groups of all
   lesser values.  No group waits for ever, although not all groups run at once.

   Abstraction: two buckets, which are also the two values of the digit; a tile is a pair, and each group has TILES of
   them, of any bucket.  Launches of a call follow each other (early_launch.pml).  A value has as many groups as pairs.

   Memory: memory.pml.  Additions and states are relaxed atomics; pairs are plain.

   run: two groups of which both run, two tiles each: GROUPS=2 TILES=2
   run: three groups of which two run, a tile each: GROUPS=3 TILES=1
   mutant: RESERVE_APART: room is reserved by a load and a store
   mutant: COUNTED_FEWER: a tile is not counted
   mutant: CURSORS_KEPT: the cursors are not set to the starts
   mutant: STATES_KEPT: the states of values are not cleared before the launch that looks back
   mutant: STATES_CLEARED_LATE: the launch that looks back clears them
   mutant: VALUE_BY_GROUP: the value of a group is its number (GROUPS=2 TILES=2 RUNNING=1)
   macro: templates/group_by/pair_partition.j2 pairs_count c1f0562a70ca
   macro: templates/group_by/pair_partition.j2 pairs_deal a56878817134
   macro: templates/group_by/pair_partition.j2 draw 7c2e61934740
   macro: templates/group_by/pair_partition.j2 store 8545a5ec5cc9
   macro: templates/group_by/pair_partition.j2 start_values 380951dc8dd2
   macro: templates/group_by/pair_partition.j2 decide_way c37ee55cc9d8
   macro: templates/group_by/tables.j2 digit_tables cd808d9834d7
   macro: templates/group_by/tables.j2 look_back d2413bc342c1 */

#ifndef GROUPS
#define GROUPS 2
#endif
#ifndef TILES
#define TILES 2
#endif
#ifndef RUNNING
#define RUNNING 2
#endif
#define PAIRS (GROUPS * TILES)
#define PLACE(i) (i)
#define COUNT(b) (PAIRS + (b))
#define CURSOR(b) (PAIRS + 2 + (b))
#define STATE(v) (PAIRS + 4 + (v))
#define WORDS (PAIRS + 6)
#define PLAIN PAIRS
#define EMPTY 255
#include "memory.pml"

byte bucket[PAIRS]; /* of each pair; any */
byte launch, left, ticket, free = RUNNING;
byte real;          /* the pairs of bucket 0, in truth */

/* A launch begins when the launch ahead has ended, with its stores in memory. */
inline begin(g)
{
    atomic { launch == turn && free > 0 -> free--; acquire(g) }
}
inline end(g)
{
    atomic {
        release(g);
        turn++;
        free++;
        left++;
        if
        :: left == GROUPS -> left = 0; launch++
        :: else
        fi
    }
}

active [GROUPS] proctype group()
{
    ACCESS;
    byte me = _pid - 1, turn = 0, i = 0, was = 0, value = 0, base = 0;
    atomic {
        do
        :: i < TILES ->
            if
            :: bucket[me * TILES + i] = 0; real++
            :: bucket[me * TILES + i] = 1
            fi;
            i++
        :: else -> break
        od;
        i = 0;
        if
        :: me == 0 -> memory[STATE(0)] = 7; memory[STATE(1)] = 9 /* of an earlier call */
        :: else
        fi
    };
    /* pairs_count */
    begin(me);
    do
    :: i < TILES ->
#ifdef COUNTED_FEWER
        if
        :: me == 0 && i == 0
        :: else -> add(me, COUNT(bucket[me * TILES + i]), 1, was)
        fi;
#else
        add(me, COUNT(bucket[me * TILES + i]), 1, was);
#endif
        i++
    :: else -> break
    od;
    atomic { i = 0; was = 0 };
    end(me);
    /* pairs_starts: one group */
    begin(me);
    if
    :: me == 0 ->
#ifndef CURSORS_KEPT
        store(me, CURSOR(0), 0);
        load(me, COUNT(0), was);
        store(me, CURSOR(1), was);
        was = 0;
#endif
#if !defined(STATES_KEPT) && !defined(STATES_CLEARED_LATE)
        store(me, STATE(0), EMPTY);
        store(me, STATE(1), EMPTY);
#endif
        skip
    :: else
    fi;
    end(me);
    /* pairs_deal: reserve room, then store */
    begin(me);
    do
    :: i < TILES ->
#ifdef RESERVE_APART
        load(me, CURSOR(bucket[me * TILES + i]), was);
        store(me, CURSOR(bucket[me * TILES + i]), was + 1);
#else
        add(me, CURSOR(bucket[me * TILES + i]), 1, was);
#endif
        assert(was < PAIRS);
        store(me, PLACE(was), bucket[me * TILES + i] + 1);
        atomic { i++; was = 0 }
    :: else -> break
    od;
    i = 0;
    end(me);
    /* digit_tables: values by tickets; the pairs of a value; the groups of lesser values */
    begin(me);
#ifdef STATES_CLEARED_LATE
    if
    :: me == 0 -> store(me, STATE(0), EMPTY); store(me, STATE(1), EMPTY)
    :: else
    fi;
#endif
    do
    ::
#ifdef VALUE_BY_GROUP
        atomic { value = (i -> 2 : me); i = 1 };
#else
        atomic { value = ticket; ticket++ };
#endif
        if
        :: value >= 2 -> break
        :: else
        fi;
#ifdef VALUE_BY_GROUP
        i = 0;
#endif
        do
        :: i < PAIRS ->
            if
            :: (value == 0) == (i < real) -> load(me, PLACE(i), was); assert(was == value + 1)
            :: else
            fi;
            atomic { i++; was = 0 }
        :: else -> break
        od;
#ifndef VALUE_BY_GROUP
        i = 0;
#endif
        if
        :: value == 0 -> store(me, STATE(0), real)
        :: else ->
            store(me, STATE(1), PAIRS - real);
            do
            ::  load(me, STATE(0), base);
                if
                :: base != EMPTY -> break
                :: else -> atomic { memory[STATE(0)] != EMPTY -> drop(me, STATE(0)) } /* spin */
                fi
            od;
            assert(base == real);
            base = 0
        fi
    od;
    end(me)
}
