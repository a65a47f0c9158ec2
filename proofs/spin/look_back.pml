/* Decoupled look-back with alternating states and tickets, and its bounded form with the flag and the retry.

   Property: the prefix that a tile finds is the sum over the earlier tiles of this pass.  Each tile of each pass is
   scattered once, unless the pass is flagged as failed.  No group waits for ever, although not all groups run at once.

   Abstraction: one digit; a launch ends before the next launch begins (early_launch.pml); a window of one state.  A
   bounded look-back may give up at any empty state, which covers every bound of spins.  The retry itself is absent.

   Memory: memory.pml.  All accesses of states, tickets and flags are relaxed: PTX memory model (ld.volatile and
   st.volatile are relaxed), Vulkan memory model (atomics without semantics), OpenCL 2.0 (atomics of 1.x are relaxed).

   run: spinning, two groups of which both run, three tiles, three passes: GROUPS=2 TILES=3 PASSES=3
   run: spinning, three groups of which two run, three tiles, one pass: GROUPS=3 TILES=3 PASSES=1
   run: bounded, two groups, two tiles, three passes: GROUPS=2 TILES=2 PASSES=3 BOUNDED=1
   run: bounded, three groups, three tiles, one pass: GROUPS=3 TILES=3 PASSES=1 BOUNDED=1
   mutant: FLAG_APART: the kind of a state and its count are two words
   mutant: TICKET_APART: a ticket is drawn by a load and a store
   mutant: TILE_BY_GROUP: the tile of a group is its number (GROUPS=3 TILES=3 PASSES=1)
   mutant: KINDS_FIXED: kinds of states do not alternate between passes
   mutant: FORGET_EARLIER: a pass runs after an earlier pass has failed (GROUPS=4 TILES=4 PASSES=2 BOUNDED=1 STRONG=1)
   mutant: NO_FLAG: a look-back that gives up sets no flag (GROUPS=2 TILES=2 PASSES=3 BOUNDED=1)
   mutant: INCLUSIVE_AFTER_GIVING_UP: it still stores its state (GROUPS=3 TILES=3 PASSES=1 BOUNDED=1)
   macro: templates/radix/onesweep/onesweep.j2 onesweep 92b6da228669
   macro: templates/radix/onesweep/variants.j2 spinning_tiles e4ed9929875b
   macro: templates/radix/onesweep/variants.j2 bounded_tiles 031fbf93191d
   macro: templates/radix/onesweep/variants.j2 bounded_look_back 5e97ebc654d1
   macro: templates/radix/onesweep/variants.j2 bounded_leave 897d43fbdc3a
   macro: templates/radix/onesweep/variants.j2 one_launch_odd 6e30c041d68c
   macro: templates/radix/onesweep/variants.j2 publish 33e15b4b7fdd
   macro: templates/radix/onesweep/variants.j2 offsets 78a209a77c1b
   macro: templates/radix/onesweep/variants.j2 sum 3a16aaa61562
   macro: templates/radix/passes.j2 leave_retry ac50356417a9 */

#ifndef GROUPS
#define GROUPS 2
#endif
#ifndef TILES
#define TILES 3
#endif
#ifndef PASSES
#define PASSES 3
#endif
#define RUNNING 2 /* groups that run at once */
#ifdef FLAG_APART
#define COUNT(tile) (TILES + (tile))
#define WORDS (2 * TILES)
#else
#define WORDS TILES
#endif
#define PLAIN 0
#include "memory.pml"

byte ticket, free = RUNNING, left, failed; /* failed: a bit for each pass */
byte pass = 1;                             /* the launch that runs */
byte scattered[TILES];                     /* how often, in this pass */

/* The count of a tile differs between tiles and passes. */
#define TOTAL(tile) ((1 << (tile)) + (pass - 1) * 8 * ((tile) + 1) % 16)
#define BEFORE(tile) (((tile) > 0 -> TOTAL(0) : 0) + ((tile) > 1 -> TOTAL(1) : 0) + ((tile) > 2 -> TOTAL(2) : 0))
#ifdef KINDS_FIXED
#define ODD 1
#else
#define ODD (pass & 1)
#endif
#define PARTIAL (ODD -> 1 << 6 : 3 << 6)
#define INCLUSIVE (ODD -> 2 << 6 : 0)
#define KIND(s) ((s) & 3 << 6)

#ifdef FLAG_APART
#define PUBLISH(kind, count) store(me, COUNT(tile), count); store(me, tile, kind)
#else
#define PUBLISH(kind, count) store(me, tile, (kind) | (count))
#endif

active [GROUPS] proctype group()
{
    ACCESS;
    byte me = _pid - 1, round = 1, tile = 0, prefix = 0, state = 0, count = 0;
    short j = 0;
    bool gave_up = false, drawn = false;
    do
    :: round <= PASSES ->
        atomic { pass == round && free > 0 -> free--; acquire(me) } /* the launch begins, and this group starts */
draw:
#ifdef BOUNDED
        if
#ifdef FORGET_EARLIER
        :: failed >> pass & 1 -> goto leave
#else
        :: failed != 0 -> goto leave
#endif
        :: true
        fi;
#endif
#ifdef TILE_BY_GROUP
        atomic { tile = (drawn -> TILES : me); drawn = true };
#elif defined(TICKET_APART)
        tile = ticket;
        ticket = tile + 1;
#else
        atomic { tile = ticket; ticket++ };
#endif
        if
        :: tile >= TILES -> goto leave
        :: else
        fi;
        if
        :: tile == 0 -> PUBLISH(INCLUSIVE, TOTAL(0))
        :: else -> PUBLISH(PARTIAL, TOTAL(tile))
        fi;
        j = tile - 1;
        do
        :: j >= 0 ->
            load(me, j, state);
#ifdef FLAG_APART
            load(me, COUNT(j), count);
#else
            count = state & 63;
#endif
            atomic {
            if
            :: KIND(state) == INCLUSIVE -> prefix = prefix + count; j = -1
            :: KIND(state) == PARTIAL -> prefix = prefix + count; j--
            :: else ->
#ifdef BOUNDED
                if
                :: gave_up = true; j = -1
                :: KIND(memory[j]) == INCLUSIVE || KIND(memory[j]) == PARTIAL -> drop(me, j)
                fi
#else
                KIND(memory[j]) == INCLUSIVE || KIND(memory[j]) == PARTIAL -> drop(me, j) /* spin */
#endif
            fi;
            state = 0;
            count = 0
            }
        :: else -> break
        od;
        j = 0;
#ifdef INCLUSIVE_AFTER_GIVING_UP
        if
        :: tile > 0 -> PUBLISH(INCLUSIVE, prefix + TOTAL(tile))
#else
        if
        :: tile > 0 && !gave_up -> PUBLISH(INCLUSIVE, prefix + TOTAL(tile))
#endif
        :: else
        fi;
        if
        :: gave_up ->
#ifndef NO_FLAG
            failed = failed | 1 << pass
#endif
        :: else ->
            assert(prefix == BEFORE(tile));
            scattered[tile]++
        fi;
        atomic { prefix = 0; gave_up = false }
#ifndef BOUNDED
        goto draw;
#endif
leave:
        /* the end of the launch: all stores reach memory; a retry would follow here */
        atomic {
            release(me);
            tile = 0;
            drawn = false;
            round++;
            free++;
            left++;
            if
            :: left == GROUPS ->
                left = 0;
                do
                :: left < TILES ->
                    assert(failed != 0 || scattered[left] == 1);
                    scattered[left] = 0;
                    left++
                :: else -> break
                od;
                left = 0;
                ticket = 0; /* every pass has a ticket of its own */
                pass++
            :: else
            fi
        }
    :: else -> break
    od
}
