/* Compares sorts with CUB at counts that are too large for `hsgen bench`, which keeps keys on the host: keys are made and results
 * compared on the device.  Out of place, device time, medians of turns; a row is printed only if both results are equal.
 *   hsgen generate -t nvidia-hopper --api cuda --key u32 --key u64 --value none --value v4 -o sorts
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I CCCL/include -I sorts/include tests/device/compare_cub.cu \
 *       $(cd sorts && sed "s|^|$PWD/|" sources/cuda.txt) -o compare_cub
 *   ./compare_cub u32 none uniform 9 2^28 3*2^29 2^32
 * Keys: u32 or u64; values: none or v4; kinds: uniform, ramps, equal, hot, normal (floats), few (1000 values), many (100000
 * values), sparse (a quarter of the bits are set), late (timestamps), zipf (log-uniform).  More kinds: power (Pareto of exponent
 * 0.2), byte (256 values), morton (points on a sphere), relu (half are zero, the others floats).  Of a narrow range: half (of
 * all keys), ids (28 or 40 bits), across (a power of two), missed (ids, and one other key).  Exit code 0 if all were right,
 * else 1. */
#include "compare_cub.h"

#include <cub/device/device_radix_sort.cuh>

#include <cstring>

/* The Morton code of a random point on a sphere; a coordinate has a third of a key's bits, rounded down. */
__device__ uint64_t morton(uint64_t random, int bits)
{
    const int width = bits / 3;
    const float height = 2 * ((random >> 40) + 0.5f) / 16777216.0f - 1, radius = sqrtf(fmaxf(1 - height * height, 0));
    const float angle = 6.2831853f * (random & 0xffffff) / 16777216.0f;
    const float point[] = {radius * cosf(angle), radius * sinf(angle), height};
    uint64_t code = 0;
    for (int axis = 0; axis < 3; axis++) {
        const uint64_t cell = static_cast<uint64_t>((point[axis] + 1) / 2 * static_cast<float>((uint64_t(1) << width) - 1));
        for (int bit = 0; bit < width; bit++) code |= (cell >> bit & 1) << (3 * bit + axis);
    }
    return code;
}

template <typename Key>
__global__ void make(Key *keys, uint32_t *values, uint64_t n, int kind)
{
    const int bits = 8 * sizeof(Key);
    EACH(i, n)
    {
        const uint64_t random = mixed(i);
        const uint64_t ramp = (i & 4095) << (bits - 12) | (i >> 12);
        const uint64_t hot = random & 1 ? random >> 8 : (random >> 8 & ((uint64_t(1) << bits / 2) - 1));
        const float even = (static_cast<uint32_t>(random) + 0.5f) / 4294967296.0f, far = normcdfinvf(even);
        const double fine = far + 1e-9 * static_cast<double>(random >> 40);
        const uint64_t normal = bits == 32 ? __float_as_uint(far) : static_cast<uint64_t>(__double_as_longlong(fine));
        const uint64_t late = (i + mixed(i) % 1000) * (bits == 32 ? 16 : 1000003), zipf = static_cast<uint64_t>(exp2f(20 * even));
        const int narrow = bits == 32 ? 28 : 40;
        const uint64_t id = random >> (64 - narrow);
        const uint64_t power = static_cast<uint64_t>(fminf(powf(even, -5), bits == 32 ? 4.29e9f : 1.8e19f));
        const uint64_t made[] = {random, ramp, 12345, hot, normal, mixed(random % 1000), mixed(random % 100000),
                                 random & mixed(random), late, zipf, power, mixed(random % 256),
                                 kind == 12 ? morton(random, bits) : 0, random & 1 ? normal & ~uint64_t(0) >> (65 - bits) : 0,
                                 random >> (65 - bits), id, (uint64_t(1) << (bits - 1)) - (uint64_t(1) << (narrow - 1)) + id,
                                 i == n / 2 ? ~uint64_t(0) : id};
        keys[i] = static_cast<Key>(made[kind]);
        if (values) values[i] = static_cast<uint32_t>(i);
    }
}

static const char *const kinds[] = {"uniform", "ramps", "equal", "hot", "normal", "few", "many", "sparse", "late", "zipf",
                                    "power", "byte", "morton", "relu", "half", "ids", "across", "missed"};

template <typename Key>
static bool measure(const char *name, bool valued, int number, int rounds, const char *text, uint64_t n)
{
    const uint64_t held = valued ? n : 0;
    Key *keys = memory<Key>(n), *ours = memory<Key>(n), *theirs = memory<Key>(n);
    uint32_t *values = memory<uint32_t>(held), *our_values = memory<uint32_t>(held), *their_values = memory<uint32_t>(held);
    make<<<2048, 256>>>(keys, values, n, number);
    const std::string kind = kinds[number];

    const sorter sort(HS_SORT, name, valued ? "v4" : nullptr, n);
    const auto own = [&] { sort.sort(n, keys, ours, values, our_values); };

    const auto call = [&](void *at, size_t &bytes) {
        return valued ? cub::DeviceRadixSort::SortPairs(at, bytes, keys, theirs, values, their_values, n)
                      : cub::DeviceRadixSort::SortKeys(at, bytes, keys, theirs, n);
    };
    temporary storage(call);
    const auto cub_sort = [&] { TRY(call(storage.at, storage.bytes)); };

    own(), cub_sort();
    unsigned long long wrong = differences(ours, theirs, n);
    if (valued) wrong += differences(our_values, their_values, n);
    std::vector<float> a, b, c;
    for (int i = 0; i < rounds && !wrong; i++) {
        a.push_back(timed(own));
        b.push_back(timed(cub_sort));
        c.push_back(timed([&] { TRY(cudaMemcpyAsync(theirs, keys, n * sizeof(Key), cudaMemcpyDeviceToDevice)); }));
    }
    if (wrong) std::printf("%s %s %s %s: %llu elements differ\n", name, valued ? "v4" : "none", kind.c_str(), text, wrong);
    else
        std::printf("%-4s %-4s %-8s %8s  %9.3f ms  %7.2f G/s  CUB %d.%d.%d %9.3f ms  %7.2f G/s  ratio %5.2f  copy %8.3f ms  scratch %.0f MB, "
                    "CUB %.0f MB\n", name, valued ? "v4" : "none", kind.c_str(), text, median(a), double(n) / median(a) / 1e6,
                    CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION, median(b), double(n) / median(b) / 1e6,
                    median(b) / median(a), median(c), double(sort.bytes) / 1e6, double(storage.bytes) / 1e6);
    std::fflush(stdout);
    for (void *at : std::vector<void *>{keys, ours, theirs, values, our_values, their_values}) TRY(cudaFree(at));
    return !wrong;
}

int main(int count, char **words)
{
    int kind = 0;
    while (count > 5 && kind < 18 && std::strcmp(words[3], kinds[kind])) kind++;
    bool right = count > 5 && kind < 18;
    if (!right) std::printf("usage: %s u32|u64 none|v4 KIND ROUNDS COUNT..., with the kinds at the start of this file\n", words[0]);
    for (int i = 5; right && i < count; i++) {
        const std::string key = words[1];
        const bool valued = !std::strcmp(words[2], "v4");
        const int rounds = std::atoi(words[4]);
        const uint64_t n = counted(words[i]);
        right &= key == "u64" ? measure<uint64_t>("u64", valued, kind, rounds, words[i], n)
                              : measure<uint32_t>("u32", valued, kind, rounds, words[i], n);
    }
    return right ? 0 : 1;
}
