/* The memory of a device for kernels on fibers: who may see what of whom, and what may become visible late.
 *
 * Kernels are compiled with -fsanitize=thread, so that the compiler calls `__tsan_...` before each access; these
 * functions are here, not in ThreadSanitizer's library.  cuda_on_host.hpp says which lane runs, and where lanes meet.
 *
 * Races.  Accesses of two lanes to the same bytes, one of which writes, race unless both are atomic or one happens before
 * the other: by a barrier of the block, by __syncwarp, or by a fence, an atomic store, an atomic load of what it stored and
 * a fence, in this order, as in C++ and CUDA.  Lanes of a block may store the same bytes with the same contents.
 *
 * Early launches.  A launch may begin before the launches ahead have ended (memory_early).  A lane that accesses a buffer, or
 * ends, before it has waited for them races with them, whatever they access.
 *
 * Late stores.  As `memory_mode` says, one in so many stores of a warp becomes visible to other blocks only some steps of the
 * scheduler later, or when a fence orders it.  Likewise, one in so many lines that a block has read stays as it was, as in
 * a cache, until a fence.
 */
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace {
/* A moment of a block: after so many of its barriers; of one lane of it, also after so many of its fences. */
struct Moment {
    uint32_t round = 0, lane = 0, fences = 0;
};
using Clock = std::vector<Moment>; /* for each block, what happened before */

bool later(const Moment &a, const Moment &b)
{
    return a.round != b.round ? a.round > b.round : a.lane == b.lane && a.fences > b.fences;
}

void join(Clock &to, const Clock &from)
{
    if (from.empty()) return;
    if (to.empty()) to.resize(from.size());
    for (size_t i = 0; i < to.size(); i++)
        if (later(from[i], to[i])) to[i] = from[i];
}

struct Lane {
    Clock seen, pending, released; /* empty: nothing */
    uint32_t fences = 0, number = 0;
    bool waited = false; /* for the launches ahead */
};

struct Access {
    int32_t block = -1;
    uint32_t lane = 0, round = 0, warp_round = 0, fences = 0;
    bool atomic = false, wrote = false;
    int many = 0;      /* in this round, 0: by this lane; 1: by others of its warp, too; 2: by other lanes of the block */
    bool alone = true; /* in this round of the warp, by this lane only */
};

constexpr size_t PART = 64;

struct Cell {
    Access write;
    std::vector<Access> others; /* loads and atomic accesses since that store: the last of each kind and block */
};

struct Line { /* what a block sees instead of memory */
    char *at;
    std::vector<char> bytes;   /* seen by the block; while it runs, those of the memory */
    std::vector<char> shown;   /* while it runs: what was put in place */
    bool store;                /* a late store; else a cached line */
    uint64_t due;
    uint32_t round, lane;
};

struct Region {
    char *begin, *end;
    std::string name;
    bool shared;
    uint32_t granule;
    std::vector<std::unique_ptr<Cell[]>> cells; /* in parts of PART, made when accessed */
    bool group = false, device = false;         /* whether lanes, or blocks, read what others wrote */

    Region(const char *name_, char *begin_, size_t bytes, bool shared_, uint32_t granule_)
        : begin(begin_), end(begin_ + bytes), name(name_), shared(shared_), granule(granule_)
    {
        forget();
    }
    void forget()
    {
        cells.clear();
        cells.resize(size_t(end - begin) / granule / PART + 1);
    }
    Cell &at(size_t i)
    {
        std::unique_ptr<Cell[]> &part = cells[i / PART];
        if (!part) part.reset(new Cell[PART]);
        return part[i % PART];
    }
    bool has(const char *p) const { return p >= begin && p < end; }
};

struct Array { /* in shared memory */
    std::string name;
    size_t begin, bytes;
};

std::vector<Region> regions;
std::vector<std::unique_ptr<Region>> shared; /* of each block that has begun */
std::vector<Array> arrays;
std::vector<Clock> clocks;
std::vector<std::vector<Lane>> all;
std::vector<uint32_t> rounds;
std::vector<std::vector<uint32_t>> warp_rounds;
std::unordered_map<const void *, Clock> words; /* what atomic stores have released */
std::vector<std::vector<Line>> lines;
std::vector<size_t> with_lines; /* blocks that may have some */
uint32_t lanes_, warp_, seed_;
int block = -1;
uint32_t lane;
uint64_t steps;
std::string found;
char message[512];
char *low, *high;
bool checks = true, early = false;
unsigned rate, delay;
unsigned long late_stores, stale_lines;

struct Unsure { /* a store that races unless it changes nothing */
    char *at;
    size_t bytes;
    char before[16];
    std::string what;
} unsure;

void race(const char *form, ...)
{
    if (!found.empty()) return;
    va_list list;
    va_start(list, form);
    vsnprintf(message, sizeof message, form, list);
    va_end(list);
    found = message;
}

Region *region(const char *p)
{
    if (block < 0) return nullptr;
    if (shared[size_t(block)]->has(p)) return shared[size_t(block)].get();
    if (p < low || p >= high) return nullptr;
    for (Region &r : regions)
        if (r.has(p)) return &r;
    return nullptr;
}

bool before(const Access &a)
{
    if (a.block == block) {
        if (a.lane == lane && a.alone && a.many < 2) return true;
        if (a.round < rounds[size_t(block)]) return true;
        return a.many < 2 && a.lane / warp_ == lane / warp_ && a.warp_round < warp_rounds[size_t(block)][lane / warp_];
    }
    const Lane &me = all[size_t(block)][lane];
    auto covered = [&](const Clock &c) {
        if (c.empty()) return false;
        const Moment &m = c[size_t(a.block)];
        return a.round < m.round || (a.round == m.round && !a.many && a.lane == m.lane && a.fences < m.fences);
    };
    return covered(clocks[size_t(block)]) || covered(me.seen);
}

std::string who(const Access &a)
{
    char text[96];
    snprintf(text, sizeof text, "%s of lane %u%s of block %d", a.atomic ? "an atomic access" : "an access", a.lane,
             a.many == 0 ? "" : a.many == 1 ? ", and others of its warp," : ", and others,", a.block);
    return text;
}

/* Element i of a region; of shared memory, that of an array. */
std::string where(const Region &r, size_t i)
{
    char text[96];
    const Array *of = nullptr;
    if (r.shared)
        for (const Array &a : arrays)
            if (a.begin <= i * r.granule && i * r.granule < a.begin + a.bytes) of = &a;
    if (of != nullptr) snprintf(text, sizeof text, "%s, byte %zu", of->name.c_str(), i * r.granule - of->begin);
    else snprintf(text, sizeof text, "%s, byte %zu", r.name.c_str(), i * r.granule);
    return text;
}

void settle()
{
    if (unsure.bytes == 0) return;
    if (memcmp(unsure.at, unsure.before, unsure.bytes) != 0) race("%s", unsure.what.c_str());
    unsure.bytes = 0;
}

void access(char *p, size_t bytes, bool reads, bool writes, bool atomic)
{
    Region *r = region(p);
    if (r == nullptr || !found.empty() || !checks) return;
    if (early && !r->shared && !all[size_t(block)][lane].waited)
        race("race in %s: lane %u of block %d has not waited for the launches ahead", where(*r, size_t(p - r->begin) / r->granule).c_str(), lane, block);
    Access now;
    now.block = block, now.lane = lane, now.round = rounds[size_t(block)];
    now.warp_round = warp_rounds[size_t(block)][lane / warp_], now.fences = all[size_t(block)][lane].fences, now.atomic = atomic;
    for (size_t i = size_t(p - r->begin) / r->granule; i <= (size_t(p - r->begin) + bytes - 1) / r->granule; i++) {
        Cell &c = r->at(i);
        const Access &w = c.write;
        const bool both = w.atomic && atomic;
        if (w.block >= 0 && !both && !before(w)) {
            char text[400];
            snprintf(text, sizeof text, "race in %s: %s of lane %u of block %d and %s that wrote", where(*r, i).c_str(),
                     atomic ? "an atomic access" : writes ? "a store" : "a load", lane, block, who(w).c_str());
            if (writes && !reads && !atomic && w.block == block && unsure.bytes == 0 && bytes <= sizeof unsure.before) {
                unsure.at = p, unsure.bytes = bytes, unsure.what = text;
                memcpy(unsure.before, p, bytes);
            } else
                race("%s", text);
        }
        if (reads && !writes && w.block >= 0 && !both && !(w.block == block && w.lane == lane))
            (w.block == block ? r->group : r->device) = true;
        if (writes)
            for (const Access &a : c.others)
                if (!(a.atomic && atomic) && !before(a))
                    race("race in %s: %s of lane %u of block %d and %s before it", where(*r, i).c_str(),
                         atomic ? "an atomic access" : "a store", lane, block, who(a).c_str());
        if (!writes && !atomic)
            for (const Access &a : c.others)
                if (a.wrote && !before(a))
                    race("race in %s: a load of lane %u of block %d and %s that wrote", where(*r, i).c_str(), lane,
                         block, who(a).c_str());
        if (writes) c.write = now;
        if (writes && !atomic) c.others.clear();
        else {
            Access one = now, *last = nullptr;
            one.wrote = writes;
            for (Access &a : c.others)
                if (a.block == block && a.atomic == atomic && a.wrote == writes) last = &a;
            if (last == nullptr) c.others.push_back(one);
            else {
                if (last->round == one.round && last->lane / warp_ != lane / warp_) one.many = 2;
                else if (last->round == one.round && last->lane != lane) one.many = 1;
                if (last->round == one.round && last->many > one.many) one.many = last->many;
                one.alone = !(one.many && last->warp_round == one.warp_round && (last->lane != lane || !last->alone));
                *last = one;
            }
        }
    }
}

/* Late stores and cached lines. */
uint32_t hash(uint64_t x)
{
    x ^= x >> 33, x *= 0xff51afd7ed558ccdull, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53ull;
    return uint32_t(x ^ x >> 33);
}

void show(std::vector<Line> &of)
{
    for (Line &l : of) {
        l.shown = l.bytes;
        for (size_t i = 0; i < l.bytes.size(); i++) std::swap(l.at[i], l.bytes[i]);
    }
}

void hide(std::vector<Line> &of)
{
    for (size_t k = of.size(); k-- > 0;) {
        Line &l = of[k];
        for (size_t i = 0; i < l.bytes.size(); i++) {
            const bool stored = l.at[i] != l.shown[i]; /* by the block itself, since it runs */
            if (l.store || !stored) std::swap(l.at[i], l.bytes[i]);
            else l.bytes[i] = l.at[i];
        }
    }
}

/* With the lines of the running block hidden: make those that `which` takes as memory has them, or memory as they are. */
template <class F> void end(std::vector<Line> &of, F which)
{
    std::vector<Line> rest;
    for (Line &l : of) {
        if (!which(l)) rest.push_back(l);
        else if (l.store) memcpy(l.at, l.bytes.data(), l.bytes.size());
    }
    of.swap(rest);
}

void late(char *p, size_t bytes, bool store)
{
    Region *r = region(p);
    if (rate == 0 || r == nullptr || r->shared) return;
    Lane &me = all[size_t(block)][lane];
    const uint64_t mark = (uint64_t(seed_) << 40) + (uint64_t(block) << 32) + (uint64_t(lane / warp_) << 24) + me.number++;
    std::vector<Line> &mine = lines[size_t(block)];
    for (const Line &l : mine)
        if (l.at < p + bytes && p < l.at + l.bytes.size()) return;
    if (hash(mark * 2 + store) % rate != 0) return;
    char *const at = store ? p : p - (p - r->begin) % 32;
    const size_t size = store ? bytes : size_t(r->end - at < 32 ? r->end - at : 32);
    for (const Line &l : mine)
        if (l.at < at + size && at < l.at + l.bytes.size()) return;
    Line one{at, std::vector<char>(at, at + size), {}, store, steps + delay, rounds[size_t(block)], lane};
    one.shown = one.bytes;
    if (mine.empty()) with_lines.push_back(size_t(block));
    mine.push_back(one);
    (store ? late_stores : stale_lines)++;
}
}

extern "C" {
void memory_region(const char *name, void *begin, size_t bytes, unsigned granule)
{
    if (bytes) regions.emplace_back(name, static_cast<char *>(begin), bytes, false, granule);
}

void memory_array(const char *name, size_t begin, size_t bytes)
{
    arrays.push_back({name, begin, bytes});
}

/* What the next launches do: look for races; let one in so many stores and lines be late, stores by so many steps. */
void memory_mode(int races, unsigned one_in, unsigned steps_)
{
    checks = races != 0, rate = one_in, delay = steps_;
}

/* Whether the next launches begin before the launches ahead have ended.  A launch ends when all of its lanes have waited
 * and ended; so the end of one implies the end of all before it. */
void memory_early(int may_be)
{
    early = may_be != 0;
}

void memory_wait()
{
    all[size_t(block)][lane].waited = true;
}

void memory_leave()
{
    settle();
    if (early && checks && !all[size_t(block)][lane].waited)
        race("race: lane %u of block %d ends before it has waited for the launches ahead", lane, block);
}

void memory_begin(unsigned blocks, unsigned lanes, unsigned warp, unsigned seed)
{
    lanes_ = lanes, warp_ = warp, seed_ = seed, steps = 0, block = -1, found.clear(), words.clear(), unsure.bytes = 0;
    low = reinterpret_cast<char *>(~uintptr_t(0)), high = nullptr;
    clocks.assign(blocks, Clock());
    all.clear(), all.resize(blocks);
    rounds.assign(blocks, 1);
    warp_rounds.clear(), warp_rounds.resize(blocks);
    lines.assign(blocks, {}), with_lines.clear();
    shared.clear(), shared.resize(blocks);
    for (Region &r : regions) {
        r.forget();
        if (r.begin < low) low = r.begin;
        if (r.end > high) high = r.end;
    }
}

/* A block begins. */
void memory_shared(unsigned b, void *begin, size_t bytes)
{
    all[b].resize(lanes_);
    warp_rounds[b].assign((lanes_ + warp_ - 1) / warp_, 1);
    char name[32];
    snprintf(name, sizeof name, "shared memory of block %u", b);
    shared[b].reset(new Region(name, static_cast<char *>(begin), bytes, true, 4));
}

void memory_switch(unsigned b, unsigned l)
{
    settle();
    steps++;
    if (int(b) != block) {
        if (block >= 0) hide(lines[size_t(block)]);
        for (size_t i = 0; i < with_lines.size();) {
            std::vector<Line> &of = lines[with_lines[i]];
            end(of, [](const Line &x) { return x.due <= steps; });
            if (of.empty()) with_lines[i] = with_lines.back(), with_lines.pop_back();
            else i++;
        }
        show(lines[b]);
    }
    block = int(b), lane = l;
}

void memory_barrier()
{
    Clock &mine = clocks[size_t(block)];
    for (Lane &x : all[size_t(block)])
        join(mine, x.seen), x.seen.clear();
    rounds[size_t(block)]++;
}

void memory_warp_barrier()
{
    warp_rounds[size_t(block)][lane / warp_]++;
}

void memory_fence()
{
    settle();
    Lane &me = all[size_t(block)][lane];
    join(me.seen, me.pending), me.pending.clear();
    me.fences++;
    me.released = clocks[size_t(block)];
    me.released.resize(clocks.size());
    join(me.released, me.seen);
    me.released[size_t(block)] = {rounds[size_t(block)], lane, me.fences};
    std::vector<Line> &of = lines[size_t(block)];
    if (of.empty()) return;
    hide(of);
    end(of, [](const Line &x) { return !x.store || x.round < rounds[size_t(block)] || x.lane == lane; });
    show(of);
}

void memory_atomic(const void *p, size_t bytes, int reads, int writes)
{
    settle();
    char *const at = static_cast<char *>(const_cast<void *>(p));
    access(at, bytes, reads != 0, writes != 0, true);
    Lane &me = all[size_t(block)][lane];
    if (reads) {
        const auto w = words.find(p);
        if (w != words.end()) join(me.pending, w->second);
    }
    if (writes) {
        Clock &w = words[p];
        if (!reads) w.clear();
        join(w, me.released);
    }
    std::vector<Line> &of = lines[size_t(block)];
    if (of.empty()) return;
    hide(of);
    end(of, [&](const Line &x) { return x.at < at + bytes && at < x.at + x.bytes.size(); });
    show(of);
}

/* What is wrong, or null. */
const char *memory_end()
{
    settle();
    if (block >= 0) hide(lines[size_t(block)]);
    for (auto &of : lines) end(of, [](const Line &) { return true; });
    block = -1;
    shared.clear();
    return found.empty() ? nullptr : message;
}

/* Of buffer `number`: 1 if lanes read what others of their block wrote, 2 if blocks read what others wrote. */
int memory_handed(unsigned number)
{
    return regions[number].group + 2 * regions[number].device;
}

unsigned long memory_lateness(int of_stores)
{
    return of_stores ? late_stores : stale_lines;
}

void memory_clear()
{
    regions.clear(), arrays.clear(), late_stores = stale_lines = 0;
}

#define BOTH(bytes) \
    void __tsan_read##bytes(void *p) { if (block >= 0) settle(), access((char *)p, bytes, true, false, false), late((char *)p, bytes, false); } \
    void __tsan_write##bytes(void *p) { if (block >= 0) settle(), access((char *)p, bytes, false, true, false), late((char *)p, bytes, true); } \
    void __tsan_unaligned_read##bytes(void *p) { __tsan_read##bytes(p); } \
    void __tsan_unaligned_write##bytes(void *p) { __tsan_write##bytes(p); } \
    void __tsan_volatile_read##bytes(void *p) { __tsan_read##bytes(p); } \
    void __tsan_volatile_write##bytes(void *p) { __tsan_write##bytes(p); }
BOTH(1)
BOTH(2)
BOTH(4)
BOTH(8)
BOTH(16)
void __tsan_read_range(void *p, size_t bytes) { if (block >= 0) settle(), access((char *)p, bytes, true, false, false); }
void __tsan_write_range(void *p, size_t bytes) { if (block >= 0) settle(), access((char *)p, bytes, false, true, false); }
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
}
