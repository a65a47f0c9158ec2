/* Sort random numbers with Metal: all that a program does, from the device to the sorted array.
 *
 * README.md has the line that builds it.  The exit code is 0 if the numbers came back sorted. */
#include "hs/hs_metal.h"
#include "hs/hs_targets_metal.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100003 }; /* any count will do */

/* Random numbers; the same each time. */
static void fill(uint32_t *keys, size_t count)
{
    uint32_t x = 2463534242u;
    size_t i;
    for (i = 0; i < count; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        keys[i] = x;
    }
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Encode what the device finds of the keys, sums over them, into the report at `offset`; where a bundle has no check of
 * such keys, the words stay as they are. */
static hs_status look(const hs_metal *checker, id<MTLCommandBuffer> commands, id<MTLBuffer> buffer,
                      id<MTLBuffer> reports, uint64_t offset)
{
    hs_metal_digest_args args;
    if (!checker) return HS_OK;
    memset(&args, 0, sizeof args);
    args.n = COUNT;
    args.source.memory = buffer;
    args.digest.memory = reports;
    args.digest.offset = offset;
    return hs_metal_digest(checker, commands, &args);
}

/* Sort `buffer` in place between two looks, which say whether that went wrong; the command buffer does all, the
 * caller waits.  `missing`: what the sort lacks for the call, and how to generate it. */
static hs_status run(const hs_metal *sorter, const hs_metal *checker, id<MTLDevice> device, id<MTLCommandQueue> queue,
                     id<MTLBuffer> buffer, int *wrong, const char **missing)
{
    static const uint32_t none[16] = {0};
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLBuffer> reports = [device newBufferWithBytes:none length:sizeof none options:MTLResourceStorageModeShared];
    id<MTLBuffer> scratch = nil;
    uint64_t bytes = 0;
    uint32_t words[16], faults = 0;
    hs_metal_sort_args args;
    /* Memory is yours to allocate: the keys, and as much scratch as the sort asks for, which may be none. */
    hs_status status = hs_scratch(hs_metal_sort_of(sorter), COUNT, &bytes);
    if (status != HS_OK) return status;
    if (bytes) scratch = [device newBufferWithLength:(NSUInteger)bytes options:MTLResourceStorageModeShared];
    if (!commands || !reports || (bytes && !scratch)) return HS_ERROR_DEVICE_MEMORY;

    /* In place; set args.destination to sort into another buffer. */
    memset(&args, 0, sizeof args);
    args.n = COUNT;
    args.source.memory = buffer;
    args.scratch.memory = scratch;
    status = look(checker, commands, buffer, reports, 0);
    if (status == HS_OK) status = hs_metal_sort(sorter, commands, &args);
    if (status == HS_ERROR_OPTION) /* of the buffers, the source alone is given; add others that you give */
        *missing = hs_missing_option(hs_metal_sort_of(sorter), &args.options, 1u << HS_SOURCE);
    if (status == HS_OK) status = look(checker, commands, buffer, reports, 8 * sizeof *words);
    if (status != HS_OK) return status;
    [commands commit];
    [commands waitUntilCompleted];
    if ([commands status] != MTLCommandBufferStatusCompleted) return HS_ERROR_API;

    /* By sums over the keys before and after, the device itself has found out whether it sorted right. */
    memcpy(words, [reports contents], sizeof words);
    status = hs_digest_compare(words, words + 8, 0, &faults);
    *wrong = faults != 0;
    return status;
}

int main(void)
{
    static uint32_t expected[COUNT];
    const hs_metal_kernels *sort = NULL, *check = NULL;
    hs_metal *sorter = NULL, *checker = NULL;
    hs_metal_error error;
    const char *missing = NULL;
    hs_status status = HS_ERROR_DEVICE;
    int right = 0, wrong = 0;
    memset(&error, 0, sizeof error);
    @autoreleasepool {
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        if (device) status = hs_metal_match(hs_metal_targets, hs_metal_targets_count, "u32", NULL, device, &sort);
        if (status == HS_OK && !sort) status = HS_ERROR_DEVICE; /* none that a target of this bundle sorts on */

        /* Compile the kernels: once, then sort as often as you like. */
        if (status == HS_OK) status = hs_metal_create(sort, device, &sorter, &error);
        if (status == HS_OK)
            status = hs_metal_match_kind(hs_metal_targets, hs_metal_targets_count, HS_DIGEST, "u32", NULL, device,
                                         &check);
        if (status == HS_OK && check) status = hs_metal_create(check, device, &checker, &error);
        if (status == HS_OK) {
            id<MTLCommandQueue> queue = [device newCommandQueue];
            id<MTLBuffer> buffer;
            fill(expected, COUNT);
            buffer = [device newBufferWithBytes:expected length:sizeof expected options:MTLResourceStorageModeShared];
            status = HS_ERROR_DEVICE_MEMORY;
            if (queue && buffer) status = run(sorter, checker, device, queue, buffer, &wrong, &missing);
            if (status == HS_OK) {
                qsort(expected, COUNT, sizeof *expected, compare);
                right = !wrong && memcmp([buffer contents], expected, sizeof expected) == 0;
            }
        }
        if (right)
            printf("sorted %d keys on %s with target %s\n", (int)COUNT, [[device name] UTF8String],
                   sort->sort->target);
        else
            fprintf(stderr, "not sorted: %s (Metal's code %ld)\n%s%s\n",
                    status ? hs_status_text(status) : "wrong order", error.code, missing ? missing : "", error.log);
        hs_metal_release(sorter);
        hs_metal_release(checker);
    }
    return right ? 0 : 1;
}
