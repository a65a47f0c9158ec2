/* CUDA for one thread of the host: every lane of a grid is a fiber, all blocks are resident, and a seed decides the
 * order of execution.  Lanes that wait for others of their block or warp that never arrive end the launch with a
 * message. */
#undef _FORTIFY_SOURCE /* it takes jumps to another stack for errors */
#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#ifndef HOST_WARP
#define HOST_WARP 32 /* lanes of a warp */
#endif
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
struct uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };

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
static unsigned long long yields;

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
    if (++yields > 5000000ull) stop("nobody goes on");
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
    }
    while (b.round == round) yield();
}

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
    if (now->block->waiting || now->warp->waiting) stop("a lane ends where others wait for it");
    now->block->ended++;
    now->done = true;
    for (;;) yield();
}

static const char *launch(Dim size, unsigned lanes, size_t shared, unsigned seed, const std::function<void()> &what)
{
    const unsigned blocks = size.x * size.y;
    std::vector<Block> every(blocks);
    std::vector<Warp> warps(size_t(blocks) * ((lanes + HOST_WARP - 1) / HOST_WARP));
    std::vector<Lane> all(size_t(blocks) * lanes);
    std::mt19937 random(seed);
    grid = size;
    body = what;
    wrong = nullptr;
    yields = 0;
    word = random() & 0x80000000u;
    for (unsigned i = 0; i < all.size(); i++) {
        const unsigned b = i / lanes, t = i % lanes;
        if (t == 0) {
            every[b] = {lanes, 0, 0, 0, {b % size.x, b / size.x, 0}, std::vector<unsigned long long>(shared / 8 + 1)};
            for (auto &x : every[b].shared) x = 0x0101010101010101ull * (random() & 255);
        }
        Warp &w = warps[b * ((lanes + HOST_WARP - 1) / HOST_WARP) + t / HOST_WARP];
        w.size++;
        all[i].stack.reset(new char[STACK]); /* not cleared: that would take longer than a kernel */
        all[i].thread = {t, 0, 0};
        all[i].block = &every[b];
        all[i].warp = &w;
        getcontext(&all[i].context);
        all[i].context.uc_stack.ss_sp = all[i].stack.get();
        all[i].context.uc_stack.ss_size = STACK;
        makecontext(&all[i].context, enter, 0);
    }
    for (unsigned left = unsigned(all.size()); left;) {
        const unsigned b = random() % blocks, first = random() % lanes;
        if (every[b].ended == lanes) continue;
        /* run a block for a while, or to its end, before the next one */
        for (unsigned sweep = random() % 64 + 1; sweep; sweep--)
            for (unsigned t = 0; t < lanes; t++) {
                now = &all[b * lanes + (first + t) % lanes];
                if (now->done) continue;
                run();
                if (wrong) return wrong;
                left -= now->done;
            }
    }
    return word & 0x7fffffffu ? "a barrier of the grid was not completed" : nullptr;
}

/* A pointer of any type. */
struct Any {
    void *p;
    template <class T> operator T *() const { return static_cast<T *>(p); }
};
}

#define threadIdx host::now->thread
#define blockIdx host::now->block->index
#define gridDim host::grid
#define __syncthreads() host::block_barrier()
#define __threadfence() host::yield()
#define __syncwarp(mask) ((void)host::votes(false, "__syncwarp"))
#define __ballot_sync(mask, vote) static_cast<unsigned>(host::votes(vote, "__ballot_sync"))
#define __shfl_xor_sync(mask, a, far) host::shuffle(a, threadIdx.x % HOST_WARP ^ unsigned(far))
#define __shfl_sync(mask, a, lane, width) host::shuffle(a, unsigned(lane) % (width) + threadIdx.x % HOST_WARP / (width) * (width))
#define __popc(x) __builtin_popcount(x)
static inline unsigned atomicAdd(unsigned *p, unsigned x) { const unsigned was = *p; *p += x; return was; }
static inline unsigned atomicOr(unsigned *p, unsigned x) { const unsigned was = *p; *p |= x; return was; }
static inline unsigned atomicMin(unsigned *p, unsigned x) { const unsigned was = *p; if (x < was) *p = x; return was; }
static inline unsigned atomicCAS(unsigned *p, unsigned old, unsigned x) { const unsigned was = *p; if (was == old) *p = x; return was; }
template <class T> static inline T min(T a, T b) { return a < b ? a : b; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }
