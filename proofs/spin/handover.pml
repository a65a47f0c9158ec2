/* All passes of a sort in one launch, whose tiles are handed from group to group by hs_publish and hs_await.

   Property: each tile loads the keys of the pass before, whole and from the right tiles; look-back finds the prefix of
   this pass; the histogram has all keys; the last pass leaves each key at its place.  No group waits for ever.

   Abstraction: a tile is one key of one digit, and a pass reverses the order of the tiles: a tile stores its key at
   the place TILES - 1 - prefix / count.  The count of a tile is the number of the pass, so that passes differ.  The
   first pieces count TILES keys and clear TILES states.

   Memory: memory.pml.  CUDA, HIP, GLSL and OpenCL C have the two words, by the PTX memory model, LLVM's AMDGPU memory
   model, the Vulkan memory model, and OpenCL 2.0.  An await that finds its sum reads from the release sequences of
   all additions before.

   run: two groups, two tiles, three passes: GROUPS=2 TILES=2 PASSES=3
   run: three groups, three tiles, three passes, strong memory: GROUPS=3 TILES=3 PASSES=3 STRONG=1
   mutant: NO_RELEASE: hs_publish releases nothing
   mutant: NO_ACQUIRE: hs_await acquires nothing
   mutant: NO_WAIT_FOR_COUNTS: a pass begins before all keys are counted
   mutant: NO_WAIT_FOR_PASS: a pass begins before the pass before has ended
   mutant: ONE_FEWER: a pass waits for all tiles but one
   mutant: EARLY_PUBLISH: a tile is published before its key is stored
   mutant: STATES_KEPT: the first pieces do not clear the states
   mutant: KINDS_FIXED: kinds of states do not alternate between passes
   mutant: ONE_BUFFER: a pass stores into the buffer that it loads from
   macro: templates/radix/partition/fallback.j2 fallback 9efaaf1e7c62
   macro: templates/radix/partition/fallback.j2 clear 0ba0cc23932e
   macro: templates/radix/partition/fallback.j2 count f5572c64c2c9
   macro: templates/radix/partition/fallback.j2 pass_tile 2970b31be7e1
   macro: templates/radix/partition/fallback.j2 publish 89f10160742c
   macro: templates/radix/partition/fallback.j2 find_offsets cbca3081a97d
   macro: templates/radix/onesweep/variants.j2 sum 3a16aaa61562
   word: templates/dialects/cuda/handover.j2 hs_publish 47faab0bf1c4
   word: templates/dialects/cuda/handover.j2 hs_await 225779f91e33
   word: templates/dialects/hip/dialect.j2 hs_publish 4668213b8fc1
   word: templates/dialects/hip/dialect.j2 hs_await 47a23221797e
   word: templates/dialects/glsl/dialect.j2 hs_publish a41938e67d75
   word: templates/dialects/glsl/dialect.j2 hs_await 6bb8280064af
   word: templates/dialects/opencl/handover.j2 hs_publish e92b07bba39c
   word: templates/dialects/opencl/handover.j2 hs_await a98a4c4077a5 */

#ifndef GROUPS
#define GROUPS 2
#endif
#ifndef TILES
#define TILES 2
#endif
#ifndef PASSES
#define PASSES 3
#endif
#define HISTOGRAM 0
#define BUFFER(b, i) (1 + ((b) - 1) * TILES + (i)) /* 1: the destination; 2: scratch */
#define STATE(i) (1 + 2 * TILES + (i))
#define WORDS (1 + 3 * TILES)
#define PLAIN (1 + 2 * TILES)
#include "memory.pml"

byte ticket;
byte done[PASSES + 1]; /* additions act at once */

#define KEY(i) (10 + (i))
#ifdef KINDS_FIXED
#define ODD 1
#else
#define ODD (pass & 1)
#endif
#define PARTIAL (ODD -> 1 << 6 : 3 << 6)
#define INCLUSIVE (ODD -> 2 << 6 : 0)
#define KIND(s) ((s) & 3 << 6)
#ifdef ONE_BUFFER
#define AT next
#else
#define AT (3 - next)
#endif
#ifdef ONE_FEWER
#define NEEDED (TILES - 1)
#else
#define NEEDED TILES
#endif

inline publish(g, p)
{
#ifndef NO_RELEASE
    release(g);
#endif
    done[p]++
}

inline await(g, p, sum)
{
    atomic {
        done[p] >= (sum);
#ifndef NO_ACQUIRE
        acquire(g)
#endif
    }
}

active [GROUPS] proctype group()
{
    ACCESS;
    byte me = _pid - 1, piece = 0, tile = 0, pass = 0, prefix = 0, state = 0, key = 0, next = 0;
    short j = 0;
    bool counted = false;
#ifdef STATES_KEPT
    /* what an earlier call has left */
    if
    :: me == 0 -> atomic { memory[STATE(0)] = 2 << 6 | 5; memory[STATE(1)] = 2 << 6 | 9 }
    :: else
    fi;
#endif
    do
    ::  atomic { piece = ticket; ticket++ };
        if
        :: piece < TILES ->
#ifndef STATES_KEPT
            store(me, STATE(piece), 0);
#endif
            add(me, HISTOGRAM, 1, state);
            state = 0;
            pass = 0
        :: else ->
            pass = (piece - TILES) / TILES + 1;
            if
            :: !counted ->
#ifndef NO_WAIT_FOR_COUNTS
                await(me, 0, TILES);
#endif
                atomic { load(me, HISTOGRAM, state); assert(state == TILES); state = 0; counted = true }
            :: else
            fi;
            if
            :: pass > PASSES -> break
            :: else
            fi;
            atomic { tile = (piece - TILES) % TILES; next = 2 - (PASSES - pass + 1) % 2 };
#ifndef NO_WAIT_FOR_PASS
            if
            :: pass > 1 -> await(me, pass - 1, NEEDED)
            :: else
            fi;
#endif
            /* tile: its key */
            if
            :: pass == 1 -> key = KEY(tile)
            :: else -> load(me, BUFFER(AT, tile), key)
            fi;
            assert(key == ((pass & 1) -> KEY(tile) : KEY(TILES - 1 - tile)));
            /* publish: the state of the tile; look-back: its prefix */
            if
            :: tile == 0 -> store(me, STATE(tile), INCLUSIVE | pass)
            :: else -> store(me, STATE(tile), PARTIAL | pass)
            fi;
            j = tile - 1;
            do
            :: j >= 0 ->
                load(me, STATE(j), state);
                atomic {
                if
                :: KIND(state) == INCLUSIVE -> prefix = prefix + (state & 63); j = -1
                :: KIND(state) == PARTIAL -> prefix = prefix + (state & 63); j--
                :: else -> /* spin */
                    KIND(memory[STATE(j)]) == INCLUSIVE || KIND(memory[STATE(j)]) == PARTIAL -> drop(me, STATE(j))
                fi;
                state = 0
                }
            :: else -> break
            od;
            j = 0;
            assert(prefix == pass * tile);
            if
            :: tile > 0 -> store(me, STATE(tile), INCLUSIVE | (prefix + pass))
            :: else
            fi;
#ifdef EARLY_PUBLISH
            publish(me, pass);
#endif
            store(me, BUFFER(next, TILES - 1 - prefix / pass), key);
            atomic { prefix = 0; key = 0; tile = 0 }
        fi;
#ifdef EARLY_PUBLISH
        if
        :: pass == 0 -> publish(me, pass)
        :: else
        fi
#else
        publish(me, pass)
#endif
    od;
    /* the end of the launch */
    release(me);
    done[PASSES] == TILES;
    acquire(me);
    if
    :: me == 0 ->
        do
        :: j < TILES ->
            load(me, BUFFER(1, j), key);
            assert(key == ((PASSES & 1) -> KEY(TILES - 1 - j) : KEY(j)));
            j++
        :: else -> break
        od
    :: else
    fi
}
