/* What the CUDA harness measures sorts against: CUB's radix sort, as the toolkit brings it.  Compiled only when it is
 * asked for; hn_peer is then found beside the functions of harness.h. */
#include "cuda.h"

#include <cub/device/device_radix_sort.cuh>

#include <string.h>

template <typename Key>
static cudaError_t hn_cub(size_t *temporary, uint64_t n)
{
    /* a first call, with no memory, only says how much it needs */
    void *const memory = *temporary ? hn_state.peer : NULL;
    return cub::DeviceRadixSort::SortKeys(memory, *temporary, reinterpret_cast<const Key *>(hn_state.buffers[0]),
                                          reinterpret_cast<Key *>(hn_state.buffers[1]), static_cast<uint32_t>(n), 0,
                                          static_cast<int>(8 * sizeof(Key)), hn_state.stream);
}

template <typename Key, typename Value>
static cudaError_t hn_cub_pairs(size_t *temporary, uint64_t n)
{
    void *const memory = *temporary ? hn_state.peer : NULL;
    return cub::DeviceRadixSort::SortPairs(
        memory, *temporary, reinterpret_cast<const Key *>(hn_state.buffers[0]), reinterpret_cast<Key *>(hn_state.buffers[1]),
        reinterpret_cast<const Value *>(hn_state.buffers[2]), reinterpret_cast<Value *>(hn_state.buffers[3]),
        static_cast<uint32_t>(n), 0, static_cast<int>(8 * sizeof(Key)), hn_state.stream);
}

template <typename Key>
static cudaError_t hn_cub_of(int value_bytes, size_t *temporary, uint64_t n)
{
    switch (value_bytes) {
    case 0: return hn_cub<Key>(temporary, n);
    case 4: return hn_cub_pairs<Key, uint32_t>(temporary, n);
    case 8: return hn_cub_pairs<Key, uint2>(temporary, n);
    case 16: return hn_cub_pairs<Key, uint4>(temporary, n);
    default: return cudaErrorInvalidValue;
    }
}

static cudaError_t hn_cub_any(int key_bytes, int value_bytes, size_t *temporary, uint64_t n)
{
    return key_bytes == 4 ? hn_cub_of<uint32_t>(value_bytes, temporary, n)
                          : hn_cub_of<uint64_t>(value_bytes, temporary, n);
}

/* Sort the first n keys of buffer 0 to buffer 1 with the peer called `name`, and wait; with values, if these have a
 * size, of buffer 2 to buffer 3. */
extern "C" const char *hn_peer(const char *name, int key_bytes, int value_bytes, uint64_t n, double *device_seconds)
{
    size_t temporary = 0;
    *device_seconds = -1;
    if (!hn_state.open) return hn_wrong("no device is open");
    if (strcmp(name, "cub") != 0) return hn_wrong("no such peer; the CUDA harness knows cub");
    if ((key_bytes != 4 && key_bytes != 8) || n > UINT32_MAX) return hn_wrong("cub is asked for 4 or 8 bytes a key");
    for (int slot = 0; slot < (value_bytes ? 4 : 2); slot++)
        if (!hn_state.buffers[slot] ||
            hn_state.sizes[slot] / static_cast<unsigned>(slot < 2 ? key_bytes : value_bytes) < n)
            return hn_wrong("a buffer holds fewer keys or values");
    cudaError_t code = hn_cub_any(key_bytes, value_bytes, &temporary, n);
    if (code != cudaSuccess) return hn_said("asking cub for its needs", code);
    if (temporary == 0) temporary = 1;
    if (temporary > hn_state.peer_size) /* kept between calls, and not timed */
        if (const char *wrong = hn_allocate(&hn_state.peer, &hn_state.peer_size, temporary)) return wrong;
    code = cudaEventRecord(hn_state.start, hn_state.stream);
    if (code == cudaSuccess) code = hn_cub_any(key_bytes, value_bytes, &temporary, n);
    if (code == cudaSuccess) code = cudaEventRecord(hn_state.stop, hn_state.stream);
    return code != cudaSuccess ? hn_said("cub", code) : hn_time(device_seconds);
}
