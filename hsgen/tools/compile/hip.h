/* The parts of HIP that hsgen's kernels use, implemented with builtins of LLVM's AMDGPU back end.  clang alone has
   neither AMD's headers nor its device library.  hsgen/tools/compile/hip.py includes this file before the kernels'
   text, and defines HS_WAVE, the number of lanes of a wavefront.  Kernels compiled with this file are never run; only
   their resources are reported. */

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(lanes) __attribute__((amdgpu_flat_work_group_size(1, lanes)))
#define HS_DEVICE static __device__ __forceinline__

typedef __SIZE_TYPE__ size_t;
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
HS_DEVICE uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
HS_DEVICE uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
HS_DEVICE ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

/* Ids.  Grids have one or two dimensions.  The number of blocks is at the start of the implicit arguments; before
   version 5 of these arguments, it is the number of lanes of the grid divided by that of a block. */
struct hs_place { unsigned x, y; };
#define threadIdx (hs_place{__builtin_amdgcn_workitem_id_x(), 0u})
#define blockIdx (hs_place{__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y()})
#if __clang_major__ >= 18
#define gridDim (hs_place{*(const __attribute__((address_space(4))) unsigned *)__builtin_amdgcn_implicitarg_ptr(), 0u})
#else
#define gridDim (hs_place{__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(), 0u})
#endif
#define warpSize HS_WAVE

/* A barrier is the barrier instruction between a release fence and an acquire fence. */
HS_DEVICE void __syncthreads()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

HS_DEVICE unsigned atomicAdd(unsigned *p, unsigned x)
{
    return __hip_atomic_fetch_add(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
HS_DEVICE unsigned atomicOr(unsigned *p, unsigned x)
{
    return __hip_atomic_fetch_or(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
HS_DEVICE unsigned atomicMin(unsigned *p, unsigned x)
{
    return __hip_atomic_fetch_min(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
HS_DEVICE unsigned atomicCAS(unsigned *p, unsigned old, unsigned x)
{
    __hip_atomic_compare_exchange_strong(p, &old, x, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    return old;
}

/* Shuffles exchange 32-bit words through the crossbar of local memory.  As in AMD's headers, a lane whose partner lies
   beyond `width` gets its own value. */
#if __has_builtin(__builtin_amdgcn_ballot_w64)
#define __ballot(vote) __builtin_amdgcn_ballot_w64((vote) != 0)
#else /* clang 15 and before: uicmp compares with 0; 33 is LLVM's number of the predicate "not equal" */
#define __ballot(vote) __builtin_amdgcn_uicmp((unsigned)(vote), 0u, 33)
#endif
#if HS_WAVE == 64
HS_DEVICE int __lane_id() { return (int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
#else
HS_DEVICE int __lane_id() { return (int)__builtin_amdgcn_mbcnt_lo(~0u, 0u); }
#endif
HS_DEVICE unsigned hs_word_of(unsigned a, int lane) { return (unsigned)__builtin_amdgcn_ds_bpermute(lane << 2, (int)a); }
HS_DEVICE unsigned long long hs_word_of(unsigned long long a, int lane)
{
    return (unsigned long long)hs_word_of((unsigned)(a >> 32), lane) << 32 | hs_word_of((unsigned)a, lane);
}
HS_DEVICE int hs_word_of(int a, int lane) { return (int)hs_word_of((unsigned)a, lane); }
template <class T> HS_DEVICE T __shfl_xor(T a, int mask, int width = HS_WAVE)
{
    const int self = __lane_id(), other = self ^ mask;
    return hs_word_of(a, other >= ((self + width) & ~(width - 1)) ? self : other);
}
template <class T> HS_DEVICE T __shfl(T a, int lane, int width = HS_WAVE)
{
    return hs_word_of(a, (lane & (width - 1)) + (__lane_id() & ~(width - 1)));
}

/* Minimum, maximum and bit counts of integers. */
#define HS_NUMBERS(type) \
    HS_DEVICE type min(type a, type b) { return a < b ? a : b; } \
    HS_DEVICE type max(type a, type b) { return a > b ? a : b; }
HS_NUMBERS(int)
HS_NUMBERS(unsigned)
HS_NUMBERS(long long)
HS_NUMBERS(unsigned long long)
HS_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
HS_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }

/* Bits and sums of floats. */
HS_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
HS_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
HS_DEVICE float __fadd_rn(float a, float b) { return a + b; }
