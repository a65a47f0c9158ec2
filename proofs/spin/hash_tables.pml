/* Hash tables of group_by: keys of all groups are inserted by compare-exchange, and counted.

   Property: if no key lacks room, each key of the table has one slot, and its count is exact.  Tries end.

   Abstraction: a group has KEYS keys, each any of 1 to KINDS.  The hash of a key is key / 2 modulo SLOTS, so two keys
   collide.  The same search serves lanes in local memory and groups in memory; here the processes are groups.
   Another launch has cleared the table (early_launch.pml).  Atomics add to the counts; the next launch reads them.

   Memory: memory.pml.  Loads, compare-exchanges and additions are relaxed atomics, in PTX, the Vulkan memory model and
   OpenCL; a load may return EMPTY for a slot that has a key.

   run: two groups, three keys each of three kinds, four slots: GROUPS=2 KEYS=3 KINDS=3 SLOTS=4 TRIES=4
   run: three groups, two keys each, two slots, strong memory: GROUPS=3 KEYS=2 KINDS=3 SLOTS=2 TRIES=2 STRONG=1
   mutant: EXCHANGE_APART: a slot is taken by a load and a store
   mutant: EXCHANGE_UNCHECKED: a slot counts as taken although another key took it first
   mutant: NO_OVERFLOW: a key without room is dropped (GROUPS=3 KEYS=2 KINDS=3 SLOTS=2 TRIES=2)
   mutant: CLEARED_LATE: the group that starts first clears the table while others insert
   mutant: COUNT_APART: a count grows by a load and a store
   macro: templates/group_by/tables.j2 probe c37ea0eadf7e
   macro: templates/group_by/tables.j2 add_table 8f1e1d87e6e5
   macro: templates/group_by/tables.j2 few_begin 63e14f59bde3
   macro: templates/group_by/tables.j2 hash 56fe85e8a34d */

#ifndef GROUPS
#define GROUPS 2
#endif
#ifndef KEYS
#define KEYS 3
#endif
#ifndef KINDS
#define KINDS 3
#endif
#ifndef SLOTS
#define SLOTS 4
#endif
#ifndef TRIES
#define TRIES 4
#endif
#define EMPTY 0
#define TIMES(s) (SLOTS + (s))
#define WORDS (2 * SLOTS)
#define PLAIN 0
#include "memory.pml"

byte inserted[KINDS + 1]; /* how often a key was inserted, in truth */
byte ended;
bool overflow;

inline compare_exchange(g, x, v, was)
{
#ifdef EXCHANGE_APART
    was = memory[x];
    if
    :: was == EMPTY -> store(g, x, v)
    :: else
    fi
#else
    atomic {
        drop(g, x);
        was = memory[x];
        if
        :: was == EMPTY -> reach(g, x, v)
        :: else
        fi
    }
#endif
}

active [GROUPS] proctype group()
{
    ACCESS;
    byte me = _pid - 1, n = 0, key = 0, slot = 0, seen = 0, tries = 0, i = 0, found = 0;
#ifdef CLEARED_LATE
    if
    :: me == 0 ->
        do
        :: i < WORDS -> store(me, i, 0); i++
        :: else -> break
        od;
        i = 0
    :: else
    fi;
#endif
    do
    :: n < KEYS ->
        atomic {
            n++;
            select(key : 1 .. KINDS);
            inserted[key]++;
            slot = key / 2 % SLOTS
        };
        load(me, slot, seen);
        do
        :: seen == key -> break
        :: seen == EMPTY ->
            compare_exchange(me, slot, key, seen);
#ifdef EXCHANGE_UNCHECKED
            seen = key
#else
            if
            :: seen == EMPTY -> seen = key
            :: else
            fi
#endif
        :: else ->
            atomic { slot = (slot + 1) % SLOTS; tries++ };
            if
            :: tries < TRIES -> load(me, slot, seen)
            :: else -> seen = key
            fi
        od;
        if
        :: tries == TRIES ->
#ifndef NO_OVERFLOW
            overflow = true
#endif
        :: else ->
#ifdef COUNT_APART
            load(me, TIMES(slot), seen);
            store(me, TIMES(slot), seen + 1)
#else
            add(me, TIMES(slot), 1, seen)
#endif
        fi;
        atomic { tries = 0; seen = 0; key = 0; slot = 0 }
    :: else -> break
    od;
    release(me);
    ended++;
    if
    :: me == 0 ->
        ended == GROUPS;
        atomic {
            key = 1;
            do
            :: key <= KINDS && !overflow ->
                slot = 0;
                found = 0;
                do
                :: slot < SLOTS ->
                    if
                    :: memory[slot] == key -> found++; assert(memory[TIMES(slot)] == inserted[key])
                    :: else
                    fi;
                    slot++
                :: else -> break
                od;
                assert(found == (inserted[key] > 0 -> 1 : 0));
                key++
            :: else -> break
            od
        }
    :: else
    fi
}
