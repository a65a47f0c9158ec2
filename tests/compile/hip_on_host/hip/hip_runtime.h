/* What kernels use of HIP, by the fibers of cuda_on_host.hpp: lanes of a wavefront exchange values together. */
#ifndef HOST_HIP_RUNTIME_H
#define HOST_HIP_RUNTIME_H

#include "hip_runtime_api.h"

#include "../../cuda_on_host.hpp"

#include <type_traits>
#include <utility>

namespace host {
template <class T> T taken(void *value) { return *static_cast<T *>(value); }

template <class... T, size_t... I>
const char *launched(void (*function)(T...), Dim grid, unsigned lanes, size_t shared, void **values,
                     std::index_sequence<I...>)
{
    static unsigned seed;
    return launch(grid, lanes, shared, seed++, [=] { function(taken<T>(values[I])...); });
}

/* The address of a kernel, by which launches find it. */
template <class... T> const void *registered(void (*function)(T...))
{
    const void *const where = reinterpret_cast<const void *>(function);
    functions[where] = {[=](unsigned x, unsigned y, unsigned lanes, size_t shared, void **values) {
                            return launched(function, {x, y, 1}, lanes, shared, values, std::index_sequence_for<T...>());
                        },
                        0};
    return where;
}

static inline unsigned loaded(const unsigned *p, int order)
{
    const unsigned x = loaded(p);
    if (order != __ATOMIC_RELAXED) fence();
    return x;
}

static inline unsigned added(unsigned *p, unsigned x, int order)
{
    if (order != __ATOMIC_RELAXED) fence();
    return changed(p, [=](unsigned was) { return was + x; });
}

static inline void fenced(const char *scope)
{
    if (scope[0] == 'a') fence(); /* of the agent, which is the device */
}
}

#define warpSize HOST_WARP
#define __HIP_MEMORY_SCOPE_AGENT 0
#define __HIP_MEMORY_SCOPE_WORKGROUP 0
#define __hip_atomic_load(p, order, scope) host::loaded(p, order)
#define __hip_atomic_fetch_add(p, x, order, scope) host::added(p, x, order)
#define __hip_atomic_store(p, x, order, scope) host::stored(p, x)
#define __builtin_amdgcn_fence(order, scope) host::fenced(scope)
#define __builtin_amdgcn_wave_barrier() ((void)host::votes(false, host::ORDERED))
#define __ballot(vote) host::votes(vote, "__ballot")
#define __shfl_xor(a, mask) host::shuffle(a, threadIdx.x % HOST_WARP ^ unsigned(mask))
#define __shfl(a, lane, lanes) host::shuffle(a, threadIdx.x % HOST_WARP / (lanes) * (lanes) + unsigned(lane))
#define __popcll(x) __builtin_popcountll(x)

#endif
