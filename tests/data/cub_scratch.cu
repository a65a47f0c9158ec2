// Prints, as JSON, the temporary storage that CUB's radix sorts ask for, out of place: see cub_scratch.json.
//   nvcc -std=c++17 -I CCCL/include tests/data/cub_scratch.cu -o cub_scratch && ./cub_scratch > tests/data/cub_scratch.json
#include <cstdint>
#include <cstdio>
#include <cub/device/device_radix_sort.cuh>

template <typename Key>
static size_t bytes(uint64_t n, bool values)
{
    size_t need = 0;
    const Key *in = nullptr;
    Key *out = nullptr;
    const uint32_t *from = nullptr;
    uint32_t *to = nullptr;
    if (values) cub::DeviceRadixSort::SortPairs(nullptr, need, in, out, from, to, n);
    else cub::DeviceRadixSort::SortKeys(nullptr, need, in, out, n);
    return need;
}

int main()
{
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    printf("{\n  \"device\": \"%s\",\n  \"cub\": \"%d.%d.%d\",\n  \"bytes\": {", device.name, CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
           CUB_SUBMINOR_VERSION);
    for (int kind = 0; kind < 4; kind++) {
        const bool wide = kind % 2, values = kind / 2;
        printf("%s\n    \"%s %s\": {", kind ? "," : "", wide ? "u64" : "u32", values ? "v4" : "none");
        for (int bit = 0; bit <= 30; bit++)
            for (int more = 0; more < 2; more++) {
                const uint64_t n = more ? 3ull << bit >> 1 : 1ull << bit;
                if (n == 1 && more) continue;
                if (n > 1ull << 30) continue;
                printf("%s\"%llu\": %zu", bit + more ? ", " : "", (unsigned long long)n,
                       wide ? bytes<uint64_t>(n, values) : bytes<uint32_t>(n, values));
            }
        printf("}");
    }
    printf("\n  }\n}\n");
    return 0;
}
