/* Sorts many counts with every CUDA sort of a bundle, in and out of place, and checks each: small enough for
 * compute-sanitizer, and reaching every kernel.  Prints one line; exit code 0 if all were right, else 1. */
#include "hs/hs_cuda.h"
#include "hs/hs_targets_cuda.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

/* Device memory that is freed at the end of its scope; null without memory. */
struct Memory {
    void *at = nullptr;
    explicit Memory(size_t bytes) { if (cudaMalloc(&at, std::max<size_t>(bytes, 1)) != cudaSuccess) at = nullptr; }
    ~Memory() { cudaFree(at); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    bool write(const void *from, size_t bytes) { return at && cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess; }
    bool read(void *to, size_t bytes) { return at && cudaMemcpy(to, at, bytes, cudaMemcpyDeviceToHost) == cudaSuccess; }
};

/* Key-high u64 sorts compare the upper halves of elements. */
template <typename Key>
static Key compared(const hs_sort *sort, Key key) { return static_cast<Key>(key >> sort->first_bit); }

/* Sort n keys, with values if the sort has them (whose first four bytes are the indices of their keys), and with the
 * device-side count if the sort takes one.  Keys have random bits in `mask`. */
template <typename Key>
static bool sorts(const hs_cuda_kernels *kernels, uint64_t n, bool in_place, uint64_t mask, std::mt19937_64 &random)
{
    const hs_sort *sort = kernels->sort;
    const size_t size = sort->value_bytes;
    const uint32_t count = static_cast<uint32_t>(n);
    std::vector<Key> keys(n), result(n);
    std::vector<unsigned char> values(n * size), moved(n * size);
    std::vector<uint32_t> order(n);
    for (Key &key : keys) key = static_cast<Key>(random() & mask);
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        if (size) std::memcpy(&values[i * size], &i, sizeof i);
    }
    uint64_t scratch = 0;
    if (hs_scratch(sort, n, &scratch) != HS_OK) return false;
    Memory from(n * sizeof(Key)), to(n * sizeof(Key)), values_from(n * size), values_to(n * size), work(scratch), live(4);
    hs_cuda *sorter = nullptr;
    hs_cuda_sort_args args = {};
    args.n = n;
    args.scratch = scratch ? work.at : nullptr;
    args.scratch_bytes = scratch;
    args.source = from.at;
    args.destination = in_place ? nullptr : to.at;
    if (size && !sort->index) args.values = values_from.at;
    if (size && (sort->index || !in_place)) args.values_destination = values_to.at;
    if (sort->device_count) args.count = static_cast<const uint32_t *>(live.at);
    bool fine = from.write(keys.data(), n * sizeof(Key)) && values_from.write(values.data(), n * size) && live.write(&count, 4);
    fine = fine && hs_cuda_create(kernels, &sorter, nullptr) == HS_OK;
    fine = fine && hs_cuda_sort(sorter, nullptr, &args, nullptr) == HS_OK;
    fine = fine && (in_place ? from : to).read(result.data(), n * sizeof(Key));
    fine = fine && (args.values_destination ? values_to : values_from).read(moved.data(), n * size);
    hs_cuda_release(sorter);
    const auto less = [&](uint32_t a, uint32_t b) { return compared(sort, keys[a]) < compared(sort, keys[b]); };
    std::stable_sort(order.begin(), order.end(), less);
    for (uint64_t i = 0; fine && i < n; i++) {
        uint32_t place = order[i];
        if (size) std::memcpy(&place, &moved[i * size], sizeof place);
        fine = result[i] == keys[order[i]] && place == order[i];
    }
    return fine;
}

static bool any(const hs_cuda_kernels *kernels, uint64_t n, bool in_place, uint64_t mask, std::mt19937_64 &random)
{
    switch (kernels->sort->key_bytes) {
    case 1: return sorts<uint8_t>(kernels, n, in_place, mask, random);
    case 2: return sorts<uint16_t>(kernels, n, in_place, mask, random);
    case 4: return sorts<uint32_t>(kernels, n, in_place, mask, random);
    default: return sorts<uint64_t>(kernels, n, in_place, mask, random);
    }
}

int main()
{
    /* even keys; keys of one highest digit; keys crowded in few values of the highest digit */
    const uint64_t masks[] = {~0ull, 0x000fff000fff0fffull, 0xff000003ff000003ull};
    std::mt19937_64 random(1);
    int done = 0, wrong = 0;
    for (size_t t = 0; t < hs_cuda_targets_count; t++)
        for (size_t s = 0; s < hs_cuda_targets[t]->target->sort_count; s++) {
            const hs_cuda_kernels *kernels = hs_cuda_targets[t]->sorts[s];
            const uint64_t block = kernels->sort->block;
            const uint64_t counts[] = {0, 1, 2, 129, block - 1, block, block + 1, 3 * block + 7, 16 * block + 1, 67 * block + 5};
            for (uint64_t n : counts)
                for (int in_place = 0; in_place < 2; in_place++, done++) {
                    const bool fine = any(kernels, n, in_place, masks[done / 2 % 3], random);
                    if (!fine && ++wrong < 10)
                        std::printf("%s %s %s, %llu keys: wrong\n", kernels->sort->target, kernels->sort->key,
                                    kernels->sort->value, static_cast<unsigned long long>(n));
                }
        }
    std::printf("%d sorts, %d wrong\n", done, wrong);
    return wrong ? 1 : 0;
}
