/* The CUDA runtime of a bundle on a fake CUDA that only records: its launches, and the errors before any launch.
 * Arguments: counts.  Prints the launches of each; exits with 1 and a message if a check fails. */
#include "../vendor/consumers/any_cuda.h"
#include "hs/hs_plan.h"
#include "hs/hs_targets.h"

#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fake device.  Kernels never run, so their addresses are arbitrary. */
static char marks[64];
static const void *kernels[64];
static int device_number, compute = 90, grid_x = 65535, opt_in = 232448;
static int warp = 32, threads = 1024, kernel_threads = 1024;
static int can_cooperate = 1, cores = 132, resident = 2;
static int shared_asked;
static cudaError_t last, attributes_fail, launch_fail;
static unsigned launches, together, early; /* in total; of these the cooperative ones, and those before the end of others */
static int compiled = 80, driver = 13000;  /* the architecture of the code, the version of the driver */
static bool quiet;
static const hs_sort *launched = &TESTED; /* the owner of these kernels */

/* The arguments of the last launch. */
static struct {
    const char *kernel;
    unsigned long long pointers[HS_BINDINGS];
    long long n;
    int argument, low, high; /* limits, only of sorts with a device-side count */
} got;

static cudaError_t note(cudaError_t code)
{
    if (code != cudaSuccess) last = code;
    return code;
}

extern "C" cudaError_t cudaPeekAtLastError(void) { return last; }
extern "C" cudaError_t cudaGetLastError(void)
{
    const cudaError_t was = last;
    last = cudaSuccess;
    return was;
}
extern "C" cudaError_t cudaGetDevice(int *device) { return *device = device_number, cudaSuccess; }
extern "C" cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    switch (attribute) {
    case cudaDevAttrWarpSize: *value = warp; break;
    case cudaDevAttrMaxThreadsPerBlock: *value = threads; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = opt_in; break;
    case cudaDevAttrMaxGridDimX: *value = grid_x; break;
    case cudaDevAttrMaxGridDimY: *value = 65535; break;
    case cudaDevAttrCooperativeLaunch: *value = can_cooperate; break;
    case cudaDevAttrMultiProcessorCount: *value = cores; break;
    default: abort();
    }
    return cudaSuccess;
}
extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    memset(p, 0, sizeof *p);
    strcpy(p->name, "Fake");
    p->major = compute / 10;
    p->minor = compute % 10;
    return cudaSuccess;
}
extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *)
{
    memset(a, 0, sizeof *a);
    a->maxThreadsPerBlock = kernel_threads;
    a->ptxVersion = compiled;
    a->maxDynamicSharedSizeBytes = 16384; /* less than on any device, so that some kernels exceed it */
    return note(attributes_fail);
}
extern "C" cudaError_t cudaDriverGetVersion(int *version) { return *version = driver, cudaSuccess; }
extern "C" cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int bytes)
{
    shared_asked = bytes > shared_asked ? bytes : shared_asked;
    return cudaSuccess;
}
extern "C" cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int block,
                                                                     size_t shared)
{
    const hs_kernel *k = &launched->kernels[static_cast<const char *>(kernel) - marks];
    if (!k->cooperative || block != static_cast<int>(k->work_group) || shared != k->local_bytes) abort();
    return *blocks = resident, cudaSuccess;
}
extern "C" cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **values, size_t shared,
                                        cudaStream_t)
{
    const hs_kernel *k = &launched->kernels[static_cast<const char *>(kernel) - marks];
    launches++;
    if (launch_fail != cudaSuccess) return note(launch_fail);
    got.kernel = k->name;
    for (unsigned i = 0; i < k->bindings; i++) got.pointers[i] = *static_cast<unsigned long long *>(values[i]);
    void *const n = values[k->bindings];
    got.n = k->index64 ? *static_cast<long long *>(n) : *static_cast<int *>(n);
    got.argument = *static_cast<int *>(values[k->bindings + 1]);
    got.low = launched->device_count ? *static_cast<int *>(values[k->bindings + 2]) : 0;
    got.high = launched->device_count ? *static_cast<int *>(values[k->bindings + 3]) : 0;
    if (quiet) return cudaSuccess;
    printf("%s %u %u %u %zu", k->name, grid.x, grid.y, block.x * block.y * block.z, shared);
    for (unsigned i = 0; i < k->bindings; i++) printf(" %llx", got.pointers[i]);
    printf(" %lld %d\n", got.n, got.argument);
    return cudaSuccess;
}

extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **values)
{
    const cudaLaunchAttribute *a = config->attrs;
    if (config->numAttrs && a->id == cudaLaunchAttributeCooperative && a->val.cooperative == 1) together++;
    else if (config->numAttrs && a->id == cudaLaunchAttributeProgrammaticStreamSerialization &&
             a->val.programmaticStreamSerializationAllowed == 1)
        early++;
    else if (config->numAttrs) abort();
    return cudaLaunchKernel(kernel, config->gridDim, config->blockDim, values, config->dynamicSmemBytes, config->stream);
}

#define CHECK(what) if (!(what)) return fprintf(stderr, "%d: %s\n", __LINE__, #what), 1

static int refused(const hs_cuda *sorter, any_args args, hs_status status)
{
    const unsigned before = launches;
    cudaError_t error = cudaErrorUnknown;
    return any_sort(sorter, NULL, &args, &error) == status && launches == before && error == cudaSuccess;
}

static any_args good(uint64_t n)
{
    any_args a = {};
    a.n = n;
    a.source = reinterpret_cast<void *>(uintptr_t{1} << 40);
    a.destination = reinterpret_cast<void *>(uintptr_t{2} << 40);
    a.source_bytes = a.destination_bytes = n * hs_item_bytes(launched);
    uint64_t scratch = 0;
    if (hs_scratch(launched, n, &scratch) == HS_OK && scratch) {
        a.scratch = reinterpret_cast<void *>(uintptr_t{3} << 40);
        a.scratch_bytes = scratch;
    }
    return a;
}

static int sorts(const hs_cuda *sorter)
{
    const uint64_t bytes = 1000 * TESTED.key_bytes;
    any_args a = good(1000);
    CHECK(any_sort(NULL, NULL, &a, NULL) == HS_ERROR_ARGUMENT);
    CHECK(any_sort(sorter, NULL, NULL, NULL) == HS_ERROR_ARGUMENT);
    CHECK(refused(sorter, good(0), HS_OK));
    CHECK(refused(sorter, any_args{}, HS_OK));
    CHECK(refused(sorter, good(TESTED.max_n + 1), HS_ERROR_COUNT));
    CHECK(refused(sorter, good(UINT64_MAX), HS_ERROR_COUNT));
    a.source = NULL;
    CHECK(refused(sorter, a, HS_ERROR_ARGUMENT));
    a = good(1000);
    cudaError_t error = cudaErrorUnknown;
    CHECK(any_scan(sorter, NULL, &a, &error) == HS_ERROR_KERNELS && error == cudaSuccess);
    a.n = 0;
    CHECK(any_scan(sorter, NULL, &a, NULL) == HS_ERROR_KERNELS);
    for (int k = 0; k < 2; k++) {
        a = good(1000);
        (k ? a.source_bytes : a.destination_bytes) = bytes - 1;
        CHECK(refused(sorter, a, HS_ERROR_COUNT));
        a = good(1000);
        if (k) a.source = static_cast<const char *>(a.source) + 1;
        else a.destination = static_cast<char *>(a.destination) + TESTED.key_bytes / 2;
        CHECK(refused(sorter, a, HS_ERROR_ALIGNMENT));
        a = good(1000);
        a.source = static_cast<char *>(a.destination) + (k ? bytes - TESTED.key_bytes : TESTED.key_bytes - bytes);
        CHECK(refused(sorter, a, HS_ERROR_OVERLAP));
        a.source = static_cast<char *>(a.destination) + (k ? bytes : 0 - bytes); /* next to each other */
        CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK);
    }
    a = good(1000);
    a.source_bytes = a.destination_bytes = 0; /* not checked */
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK);
    device_number = 1; /* not the sorter's */
    CHECK(refused(sorter, good(1000), HS_ERROR_DEVICE));
    device_number = 0;
    return 0;
}

/* Errors of the API are returned and cleared; errors from before the call stay. */
static int errors(const hs_cuda_kernels *sort, const hs_cuda *sorter)
{
    const any_args a = good(1000);
    hs_cuda *none = NULL;
    cudaError_t error = cudaSuccess;
    for (int k = 0; k < 2; k++) {
        const cudaError_t waiting = k ? cudaErrorMemoryAllocation : cudaSuccess;
        last = waiting;
        CHECK(any_sort(sorter, NULL, &a, &error) == HS_OK && error == cudaSuccess && last == waiting);
        attributes_fail = cudaErrorNoKernelImageForDevice;
        CHECK(hs_cuda_create(sort, &none, &error) == HS_ERROR_DEVICE && error == attributes_fail && !none);
        CHECK(k || last == cudaSuccess);
        attributes_fail = cudaSuccess;
        launch_fail = cudaErrorIllegalAddress;
        launches = 0;
        CHECK(any_sort(sorter, NULL, &a, &error) == HS_ERROR_DEVICE_LOST && error == launch_fail && launches == 1);
        CHECK(k ? last != cudaSuccess : last == cudaSuccess);
        launch_fail = cudaSuccess;
    }
    last = cudaSuccess;
    return 0;
}

static int creates(const hs_cuda_kernels *sort)
{
    hs_cuda *none = NULL;
    const hs_cuda_kernels empty = {&TESTED, NULL}, nothing = {NULL, kernels};
    int *const facts[] = {&warp, &threads, &kernel_threads, &opt_in}, low[] = {64, 16, 16, 1024};
    CHECK(hs_cuda_create(NULL, &none, NULL) == HS_ERROR_ARGUMENT);
    CHECK(hs_cuda_create(sort, NULL, NULL) == HS_ERROR_ARGUMENT);
    CHECK(hs_cuda_create(&nothing, &none, NULL) == HS_ERROR_ARGUMENT);
    CHECK(hs_cuda_create(&empty, &none, NULL) == HS_ERROR_KERNELS);
    for (int k = 0; k < 4; k++) {
        const int was = *facts[k];
        *facts[k] = low[k];
        CHECK(hs_cuda_create(sort, &none, NULL) == HS_ERROR_DEVICE && !none);
        *facts[k] = was;
    }
    return 0;
}

static int matches(const hs_cuda_kernels *sort)
{
    const hs_target *target = hs_targets[0];
    static hs_cuda_kernels others[16];
    const hs_cuda_kernels *every[16], *found = NULL;
    for (size_t s = 0; s < target->sort_count && s < 16; s++) {
        others[s].sort = target->sorts[s];
        others[s].kernels = kernels;
        every[s] = target->sorts[s] == &TESTED ? sort : &others[s];
    }
    const hs_cuda_target mine = {target, every}, *const all[] = {&mine};
    CHECK(hs_cuda_match(all, 1, NULL, NULL, &found) == HS_ERROR_ARGUMENT);
    CHECK(hs_cuda_match(all, 1, "u32", NULL, NULL) == HS_ERROR_ARGUMENT);
    CHECK(hs_cuda_match(NULL, 1, "u32", NULL, &found) == HS_ERROR_ARGUMENT);
    CHECK(hs_cuda_match(all, 0, "u32", NULL, &found) == HS_OK && !found);
    CHECK(hs_cuda_match(all, 1, "u16", NULL, &found) == HS_OK && !found);
    CHECK(hs_cuda_match(all, 1, TESTED.key, NULL, &found) == HS_OK && found == sort);
    compute = 75; /* this target is for 8.0 and later */
    CHECK(hs_cuda_match(all, 1, TESTED.key, NULL, &found) == HS_OK && !found);
    compute = 90;
    attributes_fail = cudaErrorNoKernelImageForDevice; /* it matches, but was compiled for others */
    CHECK(hs_cuda_match(all, 1, TESTED.key, NULL, &found) == HS_OK && !found && last == cudaSuccess);
    attributes_fail = cudaErrorIllegalAddress; /* says nothing about the sort */
    CHECK(hs_cuda_match(all, 1, TESTED.key, NULL, &found) == HS_ERROR_DEVICE_LOST && !found);
    attributes_fail = last = cudaSuccess;
    return 0;
}

/* A scan matches no sort of keys, though its elements may have the same type. */
static int matches_no_scan(const hs_cuda_kernels *sort)
{
    hs_sort scan = TESTED;
    scan.kind = HS_SCAN;
    const hs_sort *sorts[] = {&scan, &TESTED};
    const hs_cuda_kernels first = {&scan, kernels}, *const both[] = {&first, sort}, *found = NULL;
    const hs_target target = {"two", NULL, sorts, 2};
    const hs_cuda_target mine = {&target, both}, *const all[] = {&mine};
    CHECK(hs_cuda_match(all, 1, TESTED.key, NULL, &found) == HS_OK && found == sort);
    return 0;
}

static const hs_scratch_rule RULE = {100, UINT64_MAX, 4096, 8, 1, 0, 0};

/* A sort with scratch, steps for in-place or out-of-place calls only, and a kernel for 64-bit counts; then the same as
 * a scan. */
static int scratch_and_wide()
{
    static const hs_kernel two[] = {{"narrow", 64, 1, 0, 2, 0, 0, 0}, {"broad", 64, 1, 0, 3, 0, 1, 0}};
    static const hs_step steps[] = {
        {0, {0, 1000000, HS_IN_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 10}, {HS_LITERAL, 5, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_SCRATCH, 1, 0, 0}}},
        {0, {0, 1000000, HS_OUT_OF_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 10}, {HS_LITERAL, 6, 0, 0},
         {{HS_SCRATCH, 1024, 1, 0}, {HS_DESTINATION, 0, 0, 0}}},
        {1, {1000000, UINT64_C(1) << 40, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 10}, {HS_LITERAL, 7, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_SCRATCH, 0, 8, 0}, {HS_DESTINATION, 0, 0, 0}}}};
    hs_sort made = TESTED;
    made.kernels = two;
    made.kernel_count = 2;
    made.steps = steps;
    made.step_count = 3;
    made.max_n = UINT64_C(1) << 34;
    made.scratch = &RULE;
    made.scratch_rule_count = 1;
    const hs_cuda_kernels sort = {&made, kernels};
    const uint64_t huge = (UINT64_C(1) << 33) + 5, at = uint64_t{3} << 40;
    hs_cuda *sorter = NULL;
    launched = &made;
    CHECK(hs_cuda_create(&sort, &sorter, NULL) == HS_OK);
    any_args a = good(1000);
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && got.argument == 6 && got.pointers[0] == at + 2048);
    a.destination = NULL;
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && got.argument == 5 && got.pointers[1] == at + 1024);
    a.destination = const_cast<void *>(a.source);
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && got.argument == 5 && got.n == 1000);
    a = good(huge);
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && got.argument == 7 && got.n == 8589934597ll);
    CHECK(got.pointers[1] == at + (8 * huge + 1023) / 1024 * 1024);
    a = good(1000);
    a.scratch_bytes--;
    CHECK(refused(sorter, a, HS_ERROR_SCRATCH));
    a = good(1000);
    a.scratch = NULL;
    CHECK(refused(sorter, a, HS_ERROR_SCRATCH));
    a.scratch = reinterpret_cast<void *>(at + 128);
    CHECK(refused(sorter, a, HS_ERROR_ALIGNMENT));
    a.scratch = const_cast<void *>(a.source);
    CHECK(refused(sorter, a, HS_ERROR_OVERLAP));
    a.scratch = a.destination;
    CHECK(refused(sorter, a, HS_ERROR_OVERLAP));
    made.kind = HS_SCAN;
    made.columns = 3;
    a = good(1000);
    CHECK(a.source_bytes == 3000 * made.key_bytes && refused(sorter, a, HS_ERROR_KERNELS));
    CHECK(any_scan(sorter, NULL, &a, NULL) == HS_OK && got.argument == 6);
    a.source_bytes--;
    CHECK(any_scan(sorter, NULL, &a, NULL) == HS_ERROR_COUNT);
    hs_cuda_release(sorter);
    launched = &TESTED;
    return 0;
}

/* A kernel whose groups wait for each other, after one without waits: only the first must be resident as a whole, in
 * the largest of its grids. */
static int cooperates()
{
    static const hs_kernel two[] = {{"apart", 64, 1, 0, 1, 0, 0, 0}, {"grid", 256, 32, 20000, 2, 1, 0, 1}};
    static const hs_step steps[] = {
        {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 100000}, {HS_LITERAL, 0, 0, 0},
         {{HS_SOURCE, 0, 0, 0}}},
        {1, {1000, 5000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 255, 256, 1, 9}, {HS_LITERAL, 0, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}}},
        {1, {5000, 9000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 255, 256, 1, 10}, {HS_LITERAL, 1, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}}}};
    hs_sort made = TESTED;
    made.kernels = two;
    made.steps = steps;
    made.kernel_count = 2;
    made.step_count = 3;
    made.max_n = 9000;
    made.scratch_rule_count = 0;
    const hs_cuda_kernels sort = {&made, kernels}, *const every[] = {&sort}, *found = NULL;
    const hs_sort *sorts[] = {&made};
    const hs_target target = {"one", NULL, sorts, 1};
    const hs_cuda_target mine = {&target, every}, *const all[] = {&mine};
    hs_cuda *sorter = NULL;
    launched = &made;
    resident = 3;
    cores = 4;
    shared_asked = 0;
    CHECK(hs_cuda_match(all, 1, made.key, NULL, &found) == HS_OK && found == &sort);
    CHECK(shared_asked == 20000); /* the number of resident blocks depends on it */
    CHECK(hs_cuda_create(&sort, &sorter, NULL) == HS_OK);
    launches = together = early = 0;
    any_args a = good(1000);
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && launches == 1 && together == 0 && got.n == 1000);
    a = good(6000);
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && launches == 2 && together == 1 && early == 0 && got.argument == 1);
    for (int kind = 0; kind < 3; kind++) { /* code that waits; other code; a driver that does not capture such launches */
        hs_cuda *waiting = NULL;
        any_args few = good(1000);
        compiled = kind == 1 ? 89 : 90;
        driver = kind == 2 ? 12020 : 12030;
        early = 0;
        CHECK(hs_cuda_create(&sort, &waiting, NULL) == HS_OK);
        CHECK(any_sort(waiting, NULL, &few, NULL) == HS_OK && early == (kind ? 0u : 1u));
        CHECK(any_sort(waiting, NULL, &a, NULL) == HS_OK && early == (kind ? 0u : 1u)); /* the cooperative one is not */
        hs_cuda_release(waiting);
    }
    compiled = 80, driver = 13000;
    CHECK(got.n == 6000 && got.pointers[1] == uint64_t{2} << 40);
    launch_fail = cudaErrorCooperativeLaunchTooLarge;
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_ERROR_DEVICE && last == cudaSuccess);
    launch_fail = cudaSuccess;
    hs_cuda_release(sorter);
    int *const facts[] = {&can_cooperate, &cores, &resident}, low[] = {0, 3, 0};
    for (int k = 0; k < 3; k++) {
        const int was = *facts[k];
        *facts[k] = low[k];
        CHECK(hs_cuda_create(&sort, &sorter, NULL) == HS_ERROR_DEVICE && !sorter);
        CHECK(hs_cuda_match(all, 1, made.key, NULL, &found) == HS_OK && !found);
        *facts[k] = was;
    }
    cores = 5;
    resident = 2; /* exactly as many as in the largest grid */
    CHECK(hs_cuda_create(&sort, &sorter, NULL) == HS_OK && hs_cuda_kernel_count(sorter) == 2);
    hs_cuda_release(sorter);
    hs_cuda_create_options few; /* without the kernel whose groups wait, so the device need not hold them */
    memset(&few, 0, sizeof few);
    few.scope.max_n = 1000;
    resident = 0;
    CHECK(hs_cuda_create_with(&sort, &few, &sorter, NULL) == HS_OK && hs_cuda_kernel_count(sorter) == 1);
    a = good(1000);
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && hs_cuda_kernel_count(NULL) == 0);
    a = good(1001);
    CHECK(refused(sorter, a, HS_ERROR_SCOPE));
    hs_cuda_release(sorter);
    resident = 2;
    few.scope.max_n = 9001;
    CHECK(hs_cuda_create_with(&sort, &few, &sorter, NULL) == HS_ERROR_COUNT && !sorter);
    few.scope.max_n = 0;
    few.scope.calls = HS_CALLS_IN_PLACE;
    CHECK(hs_cuda_create_with(&sort, &few, &sorter, NULL) == HS_OK && hs_cuda_kernel_count(sorter) == 2);
    CHECK(refused(sorter, a, HS_ERROR_SCOPE));
    a.destination = NULL;
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK);
    hs_cuda_release(sorter);
    launched = &TESTED;
    return 0;
}

static void *at(uint64_t buffer, uint64_t bytes = 0) { return reinterpret_cast<void *>((buffer << 40) + bytes); }

/* A call of a sort with values: sources at 1 and 4, destinations at 2 and 5, scratch at 3. */
static any_args valued(uint64_t n)
{
    any_args a = good(n);
    a.values = at(4);
    a.values_destination = at(5);
    a.values_bytes = a.values_destination_bytes = n * launched->value_bytes;
    return a;
}

/* The arguments of kernels of a sort with values, key transform, bit range and device-side count. */
static int everything_launches(const hs_cuda *sorter)
{
    any_args a = valued(1000);
    const uint64_t places[] = {1, 2, 4, 5, 1};
    a.options.type = HS_I32;
    a.options.begin_bit = 4; /* 28 bits: four passes of seven */
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK);
    CHECK(got.argument == (1 | 11 << 8 | 7 << 16 | HS_DIRECT | HS_SIGNED) && got.low == 5 && got.high == 0x7fffffff);
    for (int k = 0; k < 5; k++) CHECK(got.pointers[k] == places[k] << 40);
    a.count = static_cast<const uint32_t *>(at(6, 4));
    a.options.descending = 1;
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && got.pointers[4] == (uint64_t{6} << 40) + 4);
    CHECK(got.argument == (1 | 11 << 8 | 7 << 16 | HS_DIRECT | HS_SIGNED | HS_DESCENDING | HS_DEVICE_COUNT));
    a.n = (1 << 30) - 1; /* the actual count may be small: also a step for few runs, in the grid for its maximum */
    a.source_bytes = a.destination_bytes = a.values_bytes = a.values_destination_bytes = 0;
    a.scratch_bytes = size_t{1} << 34;
    launches = 0;
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && launches == 2);
    a.count = NULL;
    launches = 0;
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && launches == 1);
    a = valued(1000);
    a.options.begin_bit = 4;
    a.destination = a.values_destination = NULL; /* in place, which DIRECT does not concern */
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && !(got.argument & HS_DIRECT));
    CHECK(got.pointers[1] == got.pointers[0] && got.pointers[3] == got.pointers[2]);
    a.destination = const_cast<void *>(a.source);
    a.values_destination = const_cast<void *>(a.values);
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && got.pointers[3] == got.pointers[2]);
    a.values = a.values_destination = a.destination; /* which is written then */
    a.values_bytes = a.values_destination_bytes = 0;
    CHECK(refused(sorter, a, HS_ERROR_OVERLAP));
    return 0;
}

static int everything_refused(const hs_cuda *sorter, const hs_cuda *plain)
{
    for (int k = 0;; k++) {
        any_args a = valued(1000);
        const hs_cuda *s = sorter;
        hs_status status = HS_ERROR_OPTION;
        switch (k) {
        case 0: a.options.type = HS_F64; break;
        case 1: a.options.discard_keys = 1; break;
        case 2: a.values = NULL; break;
        case 3: s = plain; break;
        case 4: s = plain; a = good(1000); a.options.type = HS_F32; break;
        case 5: s = plain; a = good(1000); a.options.descending = 1; break;
        case 6: s = plain; a = good(1000); a.options.begin_bit = 1; break;
        case 7: s = plain; a = good(1000); a.count = static_cast<const uint32_t *>(at(6)); break;
        case 8: a.n = 0; a.options.type = HS_F64; break;
        case 9: a.options.begin_bit = 9; a.options.end_bit = 8; status = HS_ERROR_RANGE; break;
        case 10: a.options.end_bit = 33; status = HS_ERROR_RANGE; break;
        case 11: a.destination = NULL; status = HS_ERROR_ARGUMENT; break;
        case 12: a.values_destination = NULL; status = HS_ERROR_ARGUMENT; break;
        case 13: a.values_bytes--; status = HS_ERROR_COUNT; break;
        case 14: a.values_destination_bytes--; status = HS_ERROR_COUNT; break;
        case 15:
            a = valued(1 << 30);
            a.count = static_cast<const uint32_t *>(at(6));
            status = HS_ERROR_COUNT;
            break;
        case 16: a.values = at(4, 4); status = HS_ERROR_ALIGNMENT; break;
        case 17: a.values_destination = at(5, 8); status = HS_ERROR_ALIGNMENT; break;
        case 18: a.count = static_cast<const uint32_t *>(at(6, 2)); status = HS_ERROR_ALIGNMENT; break;
        case 19: a.values_destination = at(4, 16); status = HS_ERROR_OVERLAP; break;
        case 20: a.values_destination = at(1, 992); status = HS_ERROR_OVERLAP; break;
        case 21: a.count = static_cast<const uint32_t *>(at(2, 400)); status = HS_ERROR_OVERLAP; break;
        case 22: a.values = at(3, 16); status = HS_ERROR_OVERLAP; break;
        default: return 0;
        }
        if (!refused(s, a, status)) return fprintf(stderr, "call %d is not refused as it should be\n", k), 1;
    }
}

static int everything()
{
    static const hs_kernel one[] = {{"one", 64, 1, 0, 5, 0, 0, 0}};
    static const hs_binding all[] = {
        {HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}, {HS_VALUES, 0, 0, 0}, {HS_VALUES_OUT, 0, 0, 0}, {HS_COUNT, 0, 0, 0}};
    static hs_step steps[] = {{0, {0, UINT64_MAX, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1},
                               {HS_INDIRECT_GRIDS, 0, 0, 0},
                               {{HS_COUNT, 0, 0, 0}}},
                              {0, {0, 5, HS_ANYWHERE, HS_ALL_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 10}, {HS_PASS, 1, 8, 0},
                               {{HS_COUNT, 0, 0, 0}}},
                              {0, {5, UINT64_MAX, HS_ANYWHERE, HS_SOME_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 10},
                               {HS_PASS, 1, 8, HS_DIRECT},
                               {{HS_COUNT, 0, 0, 0}}}};
    hs_sort made = TESTED, bare = TESTED;
    for (hs_step &step : steps) memcpy(step.bindings, all, sizeof all);
    steps[1].guard.range = HS_ANY_BITS;
    made.kernels = one;
    made.steps = steps;
    made.kernel_count = 1;
    made.step_count = 3;
    made.max_n = UINT64_C(1) << 34;
    made.scratch = &RULE;
    made.scratch_rule_count = 1;
    made.value = "v16";
    made.value_bytes = 16;
    made.key_bits = 32;
    made.key_transform = made.bit_range = made.device_count = 1;
    bare.key_transform = bare.bit_range = bare.device_count = 0;
    bare.key_bits = 32;
    const hs_cuda_kernels sort = {&made, kernels}, less = {&bare, kernels};
    hs_cuda *sorter = NULL, *plain = NULL;
    launched = &made;
    CHECK(hs_cuda_create(&sort, &sorter, NULL) == HS_OK && hs_cuda_create(&less, &plain, NULL) == HS_OK);
    if (everything_launches(sorter) || everything_refused(sorter, plain)) return 1;
    hs_cuda_release(sorter);
    hs_cuda_release(plain);
    launched = &TESTED;
    return 0;
}

/* Indices, and discarded keys: the destination follows the rest of scratch. */
static int indices()
{
    static const hs_kernel one[] = {{"one", 64, 1, 0, 3, 0, 0, 0}};
    static const hs_step steps[] = {{0, {0, 1000000, HS_OUT_OF_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 10},
                                     {HS_LITERAL, 0, 0, 0},
                                     {{HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}, {HS_VALUES_OUT, 0, 0, 0}}}};
    hs_sort made = TESTED;
    made.kernels = one;
    made.steps = steps;
    made.kernel_count = made.step_count = 1;
    const hs_scratch_rule rule = {0, UINT64_MAX, 100, 0, 1, 0, 0};
    made.scratch = &rule;
    made.scratch_rule_count = 1;
    made.value = "index64";
    made.value_bytes = 8;
    made.index = 1;
    const hs_cuda_kernels sort = {&made, kernels};
    hs_cuda *sorter = NULL;
    launched = &made;
    CHECK(hs_cuda_create(&sort, &sorter, NULL) == HS_OK);
    any_args a = good(1000);
    CHECK(refused(sorter, a, HS_ERROR_OPTION));
    a.values_destination = at(5);
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && got.pointers[2] == uint64_t{5} << 40 && got.argument == 0);
    a.options.discard_keys = 1;
    CHECK(refused(sorter, a, HS_ERROR_ARGUMENT)); /* room for discarded keys */
    a.destination = NULL;
    CHECK(refused(sorter, a, HS_ERROR_SCRATCH));
    a.scratch_bytes = 1024 + 1000 * made.key_bytes;
    CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK && got.argument == HS_DISCARD);
    CHECK(got.pointers[1] == (uint64_t{3} << 40) + 1024);
    a.scratch = at(3, 128);
    CHECK(refused(sorter, a, HS_ERROR_ALIGNMENT));
    a.scratch = at(5, 256);
    CHECK(refused(sorter, a, HS_ERROR_OVERLAP));
    a.scratch = at(3);
    a.values = at(4);
    CHECK(refused(sorter, a, HS_ERROR_OPTION));
    hs_cuda_release(sorter);
    launched = &TESTED;
    return 0;
}


/* A call of a kind that is refused, and launches nothing. */
static int declined(hs_kind kind, const hs_cuda *sorter, const any_args &args, hs_status status)
{
    const unsigned before = launches;
    return any_entries[kind](sorter, NULL, &args, NULL) == status && launches == before;
}

/* Segments and merges: a first kernel gets only the arguments in scratch, the second the buffers, one of which serves
 * twice. */
static int parted(hs_sort made)
{
    static const hs_kernel two[] = {{"begin", 1, 1, 0, 1, 0, 0, 0}, {"tell", 64, 1, 0, 3, 0, 0, 0}};
    static const hs_step steps[] = {
        {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_CALL_NUMBER, 0, 0, HS_DIRECT},
         {{HS_SCRATCH, 0, 0, 0}}},
        {1, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_NUMBER, 0, 1, 1, 1000}, {HS_LITERAL, 3, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_OTHER_INPUT, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}}}};
    const uint64_t key = made.key_bytes;
    made.kernels = two;
    made.kernel_count = made.step_count = 2;
    made.steps = steps;
    made.max_n = 1000;
    const hs_scratch_rule rule = {0, UINT64_MAX, 1024, 0, 1, 0, 0};
    made.scratch = &rule;
    made.scratch_rule_count = 1;
    for (const hs_kind kind : {HS_SEGMENTED_SORT, HS_MERGE}) {
        made.kind = kind;
        const bool merge = kind == HS_MERGE;
        const hs_cuda_kernels sort = {&made, kernels};
        hs_cuda *sorter = NULL;
        launched = &made;
        CHECK(hs_cuda_create(&sort, &sorter, NULL) == HS_OK);
        any_args a = good(1000);
        a.parts = 10;
        a.other = at(4);
        if (merge) a.source_bytes = 10 * key;
        a.other_bytes = merge ? 990 * key : 44;
        for (const hs_kind other : {HS_SORT, HS_SCAN, HS_SEGMENTED_SORT, HS_MERGE, HS_DIGEST})
            CHECK(other == kind || declined(other, sorter, a, HS_ERROR_KERNELS));
        launches = 0;
        CHECK(any_entries[kind](sorter, NULL, &a, NULL) == HS_OK && launches == 2 && got.argument == 3);
        CHECK(got.pointers[0] == UINT64_C(1) << 40 && got.pointers[1] == uint64_t{4} << 40);
        a.other_bytes--;
        CHECK(declined(kind, sorter, a, HS_ERROR_COUNT));
        a.other_bytes = 0; /* not checked */
        a.other = at(4, 2);
        CHECK(declined(kind, sorter, a, HS_ERROR_ALIGNMENT));
        a.other = a.destination;
        CHECK(declined(kind, sorter, a, HS_ERROR_OVERLAP));
        a.other = NULL;
        a.parts = merge ? 1001 : 11;
        CHECK(declined(kind, sorter, a, HS_ERROR_PARTS));
        a.parts = merge ? 1000 : 10; /* an empty array, or rows */
        a.source_bytes = 0;
        CHECK(any_entries[kind](sorter, NULL, &a, NULL) == HS_OK && got.pointers[1] == UINT64_C(1) << 40);
        CHECK(got.argument == (merge ? 3 : 3 | HS_ROWS));
        hs_cuda_release(sorter);
    }
    launched = &TESTED;
    return 0;
}

/* Kinds with a report write it for n = 0 as well. */
static int reporting(hs_sort made)
{
    static const hs_kernel one[] = {{"tell", 64, 1, 0, 2, 0, 0, 0}};
    static const hs_step steps[] = {{0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 1, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_NUMBER, 1, 1, 1, 1000},
                                     {HS_CALL_NUMBER, 0, 0, 0},
                                     {{HS_SOURCE, 0, 0, 0}, {HS_REPORT, 0, 0, 0}}}};
    made.kernels = one;
    made.kernel_count = made.step_count = 1;
    made.steps = steps;
    made.max_n = 1000;
    made.scratch_rule_count = 0;
    for (const hs_kind kind : {HS_DIGEST, HS_SORT}) {
        made.kind = kind;
        made.report_words = kind == HS_DIGEST ? 8 : 1;
        made.report_words_per_key = kind == HS_SORT;
        const hs_cuda_kernels sort = {&made, kernels};
        hs_cuda *sorter = NULL;
        any_args a = {};
        launched = &made;
        CHECK(hs_cuda_create(&sort, &sorter, NULL) == HS_OK);
        CHECK(declined(kind, sorter, a, HS_ERROR_ARGUMENT));
        a.report = static_cast<uint32_t *>(at(5));
        a.report_bytes = kind == HS_DIGEST ? 32 : 4;
        launches = 0;
        CHECK(any_entries[kind](sorter, NULL, &a, NULL) == HS_OK && launches == 1 && got.n == 0 && got.argument == 0);
        CHECK(got.pointers[0] == uint64_t{5} << 40 && got.pointers[1] == got.pointers[0]);
        a.report_bytes--;
        CHECK(declined(kind, sorter, a, HS_ERROR_COUNT));
        a.report_bytes = 0;
        a.source = at(1);
        a.n = 20;
        a.parts = 4;
        CHECK(any_entries[kind](sorter, NULL, &a, NULL) == HS_OK && got.argument == (kind == HS_DIGEST ? 20 : 4));
        hs_cuda_release(sorter);
    }
    launched = &TESTED;
    return 0;
}

/* Each kind is found separately. */
static int matches_by_kind(const hs_cuda_kernels *sort)
{
    hs_sort check = TESTED;
    check.kind = HS_DIGEST;
    const hs_sort *sorts[] = {&TESTED, &check};
    const hs_cuda_kernels second = {&check, kernels}, *const both[] = {sort, &second}, *found = NULL;
    const hs_target target = {"two", NULL, sorts, 2};
    const hs_cuda_target mine = {&target, both}, *const all[] = {&mine};
    CHECK(hs_cuda_match_kind(all, 1, HS_DIGEST, TESTED.key, NULL, &found) == HS_OK && found == &second);
    CHECK(hs_cuda_match_kind(all, 1, HS_SORT, TESTED.key, NULL, &found) == HS_OK && found == sort);
    CHECK(hs_cuda_match_kind(all, 1, HS_MERGE, TESTED.key, NULL, &found) == HS_OK && !found);
    return 0;
}

int main(int argc, char **argv)
{
    const hs_cuda_kernels sort = {&TESTED, kernels};
    hs_cuda *sorter = NULL;
    uint32_t greatest = 0;
    for (int k = 0; k < 64; k++) kernels[k] = &marks[k];
    for (uint32_t k = 0; k < TESTED.kernel_count; k++)
        if (TESTED.kernels[k].local_bytes > greatest) greatest = TESTED.kernels[k].local_bytes;
    CHECK(hs_cuda_create(&sort, &sorter, NULL) == HS_OK && sorter);
    CHECK(hs_cuda_sort_of(sorter) == &TESTED && shared_asked == static_cast<int>(greatest));
    for (int k = 1; k < argc; k++)
        for (int in_place = 0; in_place < 2; in_place++) {
            any_args a = good(strtoull(argv[k], NULL, 10));
            if (in_place) a.destination = NULL;
            printf("n %s %d\n", argv[k], in_place);
            CHECK(any_sort(sorter, NULL, &a, NULL) == HS_OK);
        }
    quiet = true;
    if (sorts(sorter) || errors(&sort, sorter) || creates(&sort) || matches(&sort)) return 1;
    if (matches_no_scan(&sort) || scratch_and_wide() || cooperates()) return 1;
    if (everything() || indices() || parted(TESTED) || reporting(TESTED) || matches_by_kind(&sort)) return 1;
    hs_cuda_release(sorter);
    hs_cuda_release(NULL);
    CHECK(hs_cuda_sort_of(NULL) == NULL);
    return 0;
}
