/* A weak memory for the models of this folder: device memory as work-groups see it.

   A model defines GROUPS, WORDS (at most 15) and PLAIN.  Words below PLAIN have plain accesses; the other words have
   relaxed atomic accesses.  A group is one process: its lanes meet at barriers of the work-group, which the models
   take for granted.

   - A store waits in a buffer of its group.  Stores to different words reach memory in any order, at any time.
   - A load returns the value in memory or an older value, one that the word had after the last acquire of the group.
     Loads of one word never go back to an older value.
   - A release sends all stores of the group to memory.  An acquire drops all older values.
   - An addition acts on memory at once.  It orders no other access.
   - A plain load is in flight until the next release of its group.  A store that reaches its word meanwhile is a race,
     and fails the proof: so a load may also be late.

   The PTX memory model (sections "Causality order" and "Axioms"), the Vulkan memory model, and C11 with the scopes of
   OpenCL 2.0 allow these behaviours, and forbid them between a release and the acquire that reads from it.  They also
   allow three behaviours that are absent here.  A store may reach some groups before others.  An acquire may leave older
   values of words that groups have released with which it does not synchronize.  A relaxed atomic load may take the
   value of a store that depends on it.

   With STRONG, a store reaches memory at once and a load returns the value there: sequential consistency, for bounds
   that would take too long otherwise, and for faults that need no weak memory.  Races still fail. */

byte memory[WORDS];
byte stored[GROUPS * WORDS]; /* the store of a group, if it is in `pending` */
byte older[GROUPS * WORDS];  /* the older value that a group may load, if it is in `stale` */
short pending[GROUPS];       /* a bit for each word */
short stale[GROUPS];
short loading[GROUPS];       /* plain loads in flight */

/* The variables of a process that accesses memory. */
#define ACCESS byte h_ = 0, w_ = 0

/* A value reaches memory.  Each other group keeps the old value, or drops it. */
inline reach(g, x, v)
{
    h_ = 0;
    do
    :: h_ < GROUPS ->
        if
        :: h_ != (g) ->
            assert((x) >= PLAIN || !(loading[h_] >> (x) & 1)); /* a race */
            if
#ifndef STRONG
            :: memory[x] != (v) -> older[h_ * WORDS + (x)] = memory[x]; stale[h_] = stale[h_] | 1 << (x)
#endif
            :: true
            fi
        :: else
        fi;
        h_++
    :: else -> break
    od;
    h_ = 0;
    memory[x] = v
}

inline drain(g, x)
{
    pending[g] = pending[g] & ~(1 << (x));
    reach(g, x, stored[(g) * WORDS + (x)]);
    stored[(g) * WORDS + (x)] = 0
}

inline store(g, x, v)
{
#ifdef STRONG
    atomic { reach(g, x, v) }
#else
    atomic { stored[(g) * WORDS + (x)] = v; pending[g] = pending[g] | 1 << (x) }
#endif
}

inline load(g, x, to)
{
    atomic {
        if
        :: pending[g] >> (x) & 1 -> to = stored[(g) * WORDS + (x)]
        :: else ->
            if
            :: stale[g] >> (x) & 1 -> to = older[(g) * WORDS + (x)]
            :: true -> drop(g, x); to = memory[x]
            fi;
            if
            :: (x) < PLAIN -> loading[g] = loading[g] | 1 << (x)
            :: else
            fi
        fi
    }
}

/* Forget the older value of a word. */
inline drop(g, x)
{
    stale[g] = stale[g] & ~(1 << (x));
    older[(g) * WORDS + (x)] = 0
}

/* Add to a word; `was` becomes its value before. */
inline add(g, x, v, was)
{
    atomic {
        if
        :: pending[g] >> (x) & 1 -> drain(g, x)
        :: else
        fi;
        drop(g, x);
        was = memory[x];
        reach(g, x, memory[x] + (v))
    }
}

inline release(g)
{
    atomic {
        w_ = 0;
        do
        :: w_ < WORDS ->
            if
            :: pending[g] >> w_ & 1 -> drain(g, w_)
            :: else
            fi;
            w_++
        :: else -> break
        od;
        w_ = 0;
        loading[g] = 0
    }
}

inline acquire(g)
{
    atomic {
        w_ = 0;
        do
        :: w_ < WORDS -> drop(g, w_); w_++
        :: else -> break
        od;
        w_ = 0
    }
}

/* Stores reach memory at any time, in any order. */
#define DRAIN(g, x) :: atomic { pending[g] >> x & 1 -> drain(g, x) }
#define DRAIN_3(g, x) DRAIN(g, x) DRAIN(g, x + 1) DRAIN(g, x + 2)
#if WORDS <= 3
#define DRAIN_ALL(g) DRAIN_3(g, 0)
#elif WORDS <= 6
#define DRAIN_ALL(g) DRAIN_3(g, 0) DRAIN_3(g, 3)
#elif WORDS <= 9
#define DRAIN_ALL(g) DRAIN_3(g, 0) DRAIN_3(g, 3) DRAIN_3(g, 6)
#elif WORDS <= 12
#define DRAIN_ALL(g) DRAIN_3(g, 0) DRAIN_3(g, 3) DRAIN_3(g, 6) DRAIN_3(g, 9)
#else
#define DRAIN_ALL(g) DRAIN_3(g, 0) DRAIN_3(g, 3) DRAIN_3(g, 6) DRAIN_3(g, 9) DRAIN_3(g, 12)
#endif

active proctype delays()
{
    ACCESS;
end:
    do
    DRAIN_ALL(0)
    DRAIN_ALL(1)
#if GROUPS > 2
    DRAIN_ALL(2)
#endif
#if GROUPS > 3
    DRAIN_ALL(3)
#endif
    od
}
