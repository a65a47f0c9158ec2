/* Launches that begin before the launches ahead have ended: counters that one launch clears, the next launch adds to,
   and a third launch reads, in two calls one after the other.

   Property: each launch that reads the counters finds the sums of its own call.  Tickets of a launch differ.

   Abstraction: a call has four launches: clear, count, an idle one that returns at once, and read.  A slot
   of the device runs one group of each launch in turn, so groups of several launches run at once.  One more process
   runs the groups of the launches with nothing to do.  A launch may
   begin at any time, which is more than the attribute of the runtime allows.  griddepcontrol.wait returns when all
   groups of the launch ahead have ended, with their stores in memory; no group of a launch ends before it has waited.

   Memory: memory.pml.  The PTX manual documents griddepcontrol.wait: all prerequisite grids have completed, and their
   memory operations are performed and visible.

   run: two slots, two calls: GROUPS=2 CALLS=2
   run: three slots, two calls: GROUPS=3 CALLS=2
   mutant: NO_WAIT: launches do not wait
   mutant: IDLE_NO_WAIT: the launch with nothing to do returns before it has waited
   mutant: LATE_WAIT: the launch that reads loads a counter before it waits
   mutant: CLEARED_TOO_EARLY: the launch that reads also clears the counters for the next call
   mutant: CLEARED_LATE: the launch that counts also clears the counters
   macro: templates/radix/onesweep/onesweep.j2 begin ed91aaaa55d4
   macro: templates/radix/onesweep/onesweep.j2 histogram 3d802d0ef6a8
   macro: templates/radix/onesweep/onesweep.j2 starts c8a32203ca17
   word: templates/dialects/cuda/dialect.j2 hs_wait_for_kernels edd69622fe36
   macro: templates/dialects/cuda/kernel.j2 kernel 0d11baec7702 */

#ifndef GROUPS
#define GROUPS 2
#endif
#ifndef CALLS
#define CALLS 2
#endif
#define COUNTER 0
#define TICKET 1
#define WORDS 2
#define PLAIN 2
#include "memory.pml"

#define LAUNCHES (4 * CALLS)
byte ended[LAUNCHES];
byte drawn; /* a bit for each ticket of this launch */

/* griddepcontrol.wait */
inline wait(g)
{
    atomic {
        if
        :: launch > 0 ->
            ended[launch - 1] == GROUPS;
            i = 0;
            do
            :: i < GROUPS -> finish(i); i++
            :: else -> break
            od;
            i = 0
        :: else
        fi;
        acquire(g)
    }
}

active proctype idle()
{
    byte call = 0;
    do
    :: call < CALLS ->
        atomic {
#ifndef IDLE_NO_WAIT
            ended[4 * call + 1] == GROUPS ->
#endif
            ended[4 * call + 2] = GROUPS;
            call++
        }
    :: else -> break
    od
}

/* The stores of a slot reach memory. */
inline finish(g)
{
    release(g)
}

inline clear(g)
{
    store(g, COUNTER, 0);
    store(g, TICKET, 0)
}

active [GROUPS] proctype slot()
{
    ACCESS;
    byte me = _pid - 2, launch = 0, i = 0, seen = 0;
    do
    :: launch < LAUNCHES ->
#ifdef LATE_WAIT
        if
        :: launch % 4 == 3 -> load(me, COUNTER, seen)
        :: else
        fi;
#endif
#ifndef NO_WAIT
        wait(me);
#endif
        if
        :: launch % 4 == 0 ->
            if
            :: me == 0 ->
                drawn = 0;
#ifndef CLEARED_LATE
                clear(me)
#endif
            :: else
            fi
        :: launch % 4 == 1 ->
#ifdef CLEARED_LATE
            if
            :: me == 0 -> clear(me)
            :: else
            fi;
#endif
            add(me, TICKET, 1, seen);
            atomic { assert(seen < GROUPS && !(drawn >> seen & 1)); drawn = drawn | 1 << seen };
            add(me, COUNTER, 2, seen);
            seen = 0
        :: launch % 4 == 3 ->
#ifndef LATE_WAIT
            load(me, COUNTER, seen);
#endif
            assert(seen == 2 * GROUPS);
            seen = 0;
#ifdef CLEARED_TOO_EARLY
            if
            :: me == 0 -> clear(me)
            :: else
            fi
#endif
        fi;
        atomic { ended[launch]++; launch = launch + (launch % 4 == 1 -> 2 : 1) }
    :: else -> break
    od
}
