/* CUDA for one thread of the host: every lane is a fiber, and a seed decides the order of execution.  Lanes that wait for
 * others of their block or warp that never arrive end the launch with a message.
 *
 * With HOST_MEMORY, the kernels are compiled with -fsanitize=thread, whose calls before each access go to the model of
 * memory_on_host.cpp.  That model gets the events of the functions `memory_...` below. */
#include "host_headers.hpp"

#ifndef HOST_WARP
#define HOST_WARP 32 /* lanes of a warp */
#endif
#ifndef HOST_RESIDENT
#define HOST_RESIDENT 24u /* blocks that run at once */
#endif
#ifndef HOST_YIELDS
#define HOST_YIELDS 5000000ull /* until a launch ends with an error, and 20000 for each lane that runs at once */
#endif
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
struct uint2 { unsigned x, y; };
struct uchar4 { unsigned char x, y, z, w; };
struct alignas(8) ushort4 { unsigned short x, y, z, w; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };

#ifdef HOST_MEMORY
extern "C" {
void memory_begin(unsigned blocks, unsigned lanes, unsigned warp, unsigned seed);
const char *memory_end();
void memory_shared(unsigned block, void *begin, size_t bytes);
void memory_switch(unsigned block, unsigned lane); /* the lane runs from now on */
void memory_barrier();                             /* all lanes of the block have met */
void memory_warp_barrier();                        /* all lanes of the warp have met at __syncwarp */
void memory_fence();                               /* the lane's __threadfence */
void memory_wait();                                /* the lane has waited for the launches ahead */
void memory_leave();                               /* the lane ends */
void memory_atomic(const void *p, size_t bytes, int reads, int writes); /* the lane accesses them atomically now */
}
#else
static inline void memory_begin(unsigned, unsigned, unsigned, unsigned) {}
static inline const char *memory_end() { return nullptr; }
static inline void memory_shared(unsigned, void *, size_t) {}
static inline void memory_switch(unsigned, unsigned) {}
static inline void memory_barrier() {}
static inline void memory_warp_barrier() {}
static inline void memory_fence() {}
static inline void memory_wait() {}
static inline void memory_leave() {}
static inline void memory_atomic(const void *, size_t, int, int) {}
#endif

namespace host {
struct Dim { unsigned x, y, z; };
struct Block { unsigned size, waiting, round, ended; Dim index; std::vector<unsigned long long> shared; };
struct Warp {
    unsigned size, waiting, round;
    const char *what;
    unsigned long long bits[2], values[HOST_WARP];
};
struct Lane {
    ucontext_t context; /* where it begins */
    jmp_buf place; /* where it goes on */
    std::unique_ptr<char[]> stack;
    Dim thread;
    Block *block;
    Warp *warp;
    bool begun, done;
};
constexpr size_t STACK = 65536;

static Lane *now;
static jmp_buf scheduler;
static Dim grid;
static unsigned word; /* the driver's, for grid barriers */
static std::function<void()> body;

static const char *wrong; /* the error of a launch; null: no error */
static unsigned long long yields, most_yields;

/* Back to the scheduler.  swapcontext would ask the kernel for the mask of signals, which takes most of a launch. */
static void leave()
{
    if (!_setjmp(now->place)) _longjmp(scheduler, 1);
}

/* Let the lane `now` run until it leaves. */
static void run()
{
    if (_setjmp(scheduler)) return;
    if (now->begun) _longjmp(now->place, 1);
    now->begun = true;
    setcontext(&now->context);
}

static void stop(const char *what)
{
    wrong = what;
    for (;;) leave();
}

static void yield()
{
    if (++yields > most_yields) stop("nobody goes on");
    leave();
}

static void block_barrier()
{
    Block &b = *now->block;
    const unsigned round = b.round;
    if (b.ended) stop("a lane waits at a barrier of its block that others never reach");
    if (++b.waiting == b.size) {
        b.waiting = 0;
        b.round++;
        memory_barrier();
    }
    while (b.round == round) yield();
}

static const char *const ORDERED = "__syncwarp"; /* it alone orders memory */

/* Ballots of a warp; all of its lanes must call the same function. */
static unsigned long long votes(bool vote, const char *what)
{
    Warp &w = *now->warp;
    const unsigned round = w.round, lane = now->thread.x % HOST_WARP;
    if (w.waiting && w.what != what) stop("lanes of a warp are at different places");
    w.what = what;
    w.bits[round & 1] |= static_cast<unsigned long long>(vote) << lane;
    if (++w.waiting == w.size) {
        w.waiting = 0;
        w.bits[(round + 1) & 1] = 0;
        w.round++;
        if (what == ORDERED) memory_warp_barrier();
    }
    while (w.round == round) yield();
    return w.bits[round & 1];
}

/* The value of the lane `from`. */
template <class T> static T shuffle(T a, unsigned from)
{
    now->warp->values[now->thread.x % HOST_WARP] = a;
    votes(false, "a shuffle, giving");
    const T other = static_cast<T>(now->warp->values[from]);
    votes(false, "a shuffle, taking");
    return other;
}

static void enter()
{
    body();
    memory_leave();
    if (now->block->waiting || now->warp->waiting) stop("a lane ends where others wait for it");
    now->block->ended++;
    now->done = true;
    for (;;) yield();
}

/* Room for a block: its lanes, with their stacks, which other blocks use later. */
struct Room {
    Block block;
    std::vector<Warp> warps;
    std::vector<Lane> lanes;
    unsigned number;
};

static void begin(Room &room, unsigned number, unsigned lanes, size_t shared, unsigned fill)
{
    room.number = number;
    room.block = {lanes, 0, 0, 0, {number % grid.x, number / grid.x, 0}, std::vector<unsigned long long>(shared / 8 + 3)};
    for (auto &x : room.block.shared) x = 0x0101010101010101ull * fill;
    memory_shared(number, room.block.shared.data(), shared);
    room.warps.assign((lanes + HOST_WARP - 1) / HOST_WARP, Warp());
    room.lanes.resize(lanes);
    for (unsigned t = 0; t < lanes; t++) {
        Lane &lane = room.lanes[t];
        if (!lane.stack) lane.stack.reset(new char[STACK]); /* not cleared: that would take longer than a kernel */
        lane.thread = {t, 0, 0};
        lane.block = &room.block;
        lane.warp = &room.warps[t / HOST_WARP];
        lane.warp->size++;
        lane.begun = lane.done = false;
        getcontext(&lane.context);
        lane.context.uc_stack.ss_sp = lane.stack.get();
        lane.context.uc_stack.ss_size = STACK;
        makecontext(&lane.context, enter, 0);
    }
}

/* Blocks begin in their order, up to `resident` at once, as those of a device do; of a cooperative launch all are. */
static const char *launch(Dim size, unsigned lanes, size_t shared, unsigned seed, const std::function<void()> &what,
                          unsigned resident = HOST_RESIDENT)
{
    const unsigned blocks = size.x * size.y;
    std::mt19937 random(seed);
    memory_begin(blocks, lanes, HOST_WARP, seed);
    grid = size;
    body = what;
    wrong = nullptr;
    yields = 0;
    most_yields = HOST_YIELDS + 20000ull * lanes * (blocks < resident ? blocks : resident);
    word = random() & 0x80000000u;
    std::vector<Room> rooms(blocks < resident ? blocks : resident);
    unsigned begun = 0, left = blocks;
    for (Room &room : rooms) begin(room, begun++, lanes, shared, random() & 255);
    while (left && !wrong) {
        Room &room = rooms[random() % rooms.size()];
        const unsigned first = random() % lanes;
        if (room.block.ended == lanes) continue;
        /* run a block for a while, or to its end, before the next one */
        for (unsigned sweep = 1u << random() % 7; sweep && !wrong && room.block.ended < lanes; sweep--)
            for (unsigned t = 0; t < lanes && !wrong; t++) {
                now = &room.lanes[(first + t) % lanes];
                if (now->done) continue;
                memory_switch(room.number, (first + t) % lanes);
                run();
            }
        if (room.block.ended < lanes) continue;
        left--;
        if (begun < blocks) begin(room, begun++, lanes, shared, random() & 255);
    }
    if (const char *const race = memory_end()) return race;
    if (wrong) return wrong;
    return word & 0x7fffffffu ? "a barrier of the grid was not completed" : nullptr;
}

/* A pointer of any type. */
struct Any {
    void *p;
    template <class T> operator T *() const { return static_cast<T *>(p); }
};

/* Atomic accesses, which are not those of the compiler's instrumentation. */
#define HOST_ATOMIC __attribute__((no_sanitize("thread"), noinline))
template <class F> HOST_ATOMIC static unsigned changed(unsigned *p, F change)
{
    memory_atomic(p, sizeof *p, 1, 1);
    const unsigned was = *p;
    *p = change(was);
    return was;
}
HOST_ATOMIC static unsigned loaded(const unsigned *p)
{
    yield();
    memory_atomic(p, sizeof *p, 1, 0);
    return *p;
}
HOST_ATOMIC static unsigned loaded_here(const unsigned *p)
{
    memory_atomic(p, sizeof *p, 1, 0);
    return *p;
}
HOST_ATOMIC static void stored(unsigned *p, unsigned x)
{
    memory_atomic(p, sizeof *p, 0, 1);
    *p = x;
}
template <int COUNT> static void loaded_words(unsigned *out, const unsigned *p)
{
    for (int i = 0; i < COUNT; i++) out[i] = loaded(p + i);
}
template <class... T> static void stored_words(unsigned *p, T... x)
{
    const unsigned all[] = {x...};
    for (unsigned i = 0; i < sizeof...(x); i++) stored(p + i, all[i]);
}
HOST_ATOMIC static void fence()
{
    memory_fence();
    yield();
}
/* Until then, launches ahead may run. */
HOST_ATOMIC static void wait_for_kernels()
{
    memory_wait();
}
}

#define threadIdx host::now->thread
#define blockIdx host::now->block->index
#define gridDim host::grid
#define __syncthreads() host::block_barrier()
#define __threadfence() host::fence()
#define __syncwarp(mask) ((void)host::votes(false, host::ORDERED))
/* a warp of fewer lanes than 32 is a part of one, whose votes have their place among those of all 32 */
#define __ballot_sync(mask, vote) static_cast<unsigned>(host::votes(vote, "__ballot_sync") << threadIdx.x % 32 / HOST_WARP * HOST_WARP)
#define __shfl_xor_sync(mask, a, far) host::shuffle(a, threadIdx.x % HOST_WARP ^ unsigned(far))
#define HOST_OTHER(lane, lanes) (threadIdx.x % HOST_WARP / (lanes) * (lanes) + unsigned(lane) % (lanes))
#define HOST_SHUFFLE(mask, a, lane, lanes, ...) host::shuffle(a, HOST_OTHER(lane, lanes))
#define __shfl_sync(...) HOST_SHUFFLE(__VA_ARGS__, HOST_WARP, 0)
#define __popc(x) __builtin_popcount(x)
#define __ldcs(p) (*(p))
#define __stcs(p, x) ((void)(*(p) = (x)))
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static inline uchar4 make_uchar4(int x, int y, int z, int w) { return {(unsigned char)x, (unsigned char)y, (unsigned char)z, (unsigned char)w}; }
static inline ushort4 make_ushort4(int x, int y, int z, int w) { return {(unsigned short)x, (unsigned short)y, (unsigned short)z, (unsigned short)w}; }
static inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
static inline float __uint_as_float(unsigned x) { float y; __builtin_memcpy(&y, &x, 4); return y; }
static inline unsigned __float_as_uint(float x) { unsigned y; __builtin_memcpy(&y, &x, 4); return y; }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline unsigned atomicAdd(unsigned *p, unsigned x) { return host::changed(p, [=](unsigned was) { return was + x; }); }
static inline unsigned atomicOr(unsigned *p, unsigned x) { return host::changed(p, [=](unsigned was) { return was | x; }); }
static inline unsigned atomicMin(unsigned *p, unsigned x) { return host::changed(p, [=](unsigned was) { return x < was ? x : was; }); }
static inline unsigned atomicCAS(unsigned *p, unsigned old, unsigned x) { return host::changed(p, [=](unsigned was) { return was == old ? x : was; }); }
template <class T> static inline T min(T a, T b) { return a < b ? a : b; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }
