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

/* HSGEN_EXAMPLE */

/* Encode a check of the keys on the device, which stores sums over the keys in the report at `offset`.  If the bundle
 * has no check of such keys, the words of the report do not change. */
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

/* Sort `buffer` in place together with the values.  One command buffer checks the keys, sorts, and checks the keys
 * again; the caller waits for it.  `missing` gets the option or buffer that the sort lacks for this call, if any, with
 * the option of hsgen that adds it. */
static hs_status run(const hs_metal *sorter, const hs_metal *checker, id<MTLDevice> device, id<MTLCommandQueue> queue,
                     id<MTLBuffer> buffer, id<MTLBuffer> moved, int *wrong, const char **missing)
{
    static const uint32_t none[16] = {0};
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLBuffer> reports = [device newBufferWithBytes:none length:sizeof none options:MTLResourceStorageModeShared];
    id<MTLBuffer> scratch = nil, output = nil;
    uint64_t bytes = 0, output_bytes = 0;
    hs_info info;
    uint32_t words[16], faults = 0;
    hs_metal_sort_args args;
    /* The program allocates all memory: the keys, and as much scratch as the sort asks for, which may be none. */
    hs_status status = hs_scratch(hs_metal_sort_of(sorter), COUNT, &bytes);
    if (status != HS_OK) return status;
    if (bytes) scratch = [device newBufferWithLength:(NSUInteger)bytes options:MTLResourceStorageModeShared];
    status = hs_describe(hs_metal_sort_of(sorter), &info);
    if (status != HS_OK) return status;
    if (info.reports) /* for a report, such as the positions of runs */
        output_bytes = sizeof(uint32_t) * (info.report_words + (uint64_t)COUNT * info.report_words_per_key);
    if (output_bytes)
        output = [device newBufferWithLength:(NSUInteger)output_bytes options:MTLResourceStorageModeShared];
    if (!commands || !reports || (bytes && !scratch) || (output_bytes && !output)) return HS_ERROR_DEVICE_MEMORY;

    /* In place; set args.destination to sort into another buffer. */
    memset(&args, 0, sizeof args);
    args.n = COUNT;
    args.source.memory = buffer;
    args.scratch.memory = scratch;
    args.report.memory = output;
    if (MAKES_INDICES == 1)
        args.values_destination.memory = moved;
    else
        args.values.memory = moved;
    status = look(checker, commands, buffer, reports, 0);
    if (status == HS_OK) status = hs_metal_sort(sorter, commands, &args);
    if (status == HS_ERROR_OPTION) /* `missing` names the option or buffer that the sort does not support */
        *missing = hs_missing_option(hs_metal_sort_of(sorter), &args.options,
                                     1u << HS_SOURCE | (moved ? 1u << HS_VALUES : 0));
    if (status == HS_OK) status = look(checker, commands, buffer, reports, 8 * sizeof *words);
    if (status != HS_OK) return status;
    [commands commit];
    [commands waitUntilCompleted];
    if ([commands status] != MTLCommandBufferStatusCompleted) return HS_ERROR_API;

    /* The sums over the keys before and after the sort verify the result on the device. */
    memcpy(words, [reports contents], sizeof words);
    status = hs_digest_compare(words, words + 8, 0, &faults);
    *wrong = faults != 0;
    return status;
}

int main(void)
{
    static unsigned char before[(size_t)COUNT * KEY_BYTES], values[(size_t)COUNT * VALUE_BYTES + 1];
    const hs_metal_kernels *sort = NULL, *check = NULL;
    hs_metal *sorter = NULL, *checker = NULL;
    hs_metal_error error;
    const char *missing = NULL;
    hs_status status = HS_ERROR_DEVICE;
    int right = 0, wrong = 0;
    memset(&error, 0, sizeof error);
    @autoreleasepool {
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        if (device) status = hs_metal_match(hs_metal_targets, hs_metal_targets_count, KEY, VALUE, device, &sort);
        if (status == HS_OK && !sort) status = HS_ERROR_DEVICE; /* there is no device on which a target of this
                                                                   bundle sorts */

        /* Compile the kernels once, then sort as often as you like. */
        if (status == HS_OK) status = hs_metal_create(sort, device, &sorter, &error);
        if (status == HS_OK)
            status = hs_metal_match_kind(hs_metal_targets, hs_metal_targets_count, HS_DIGEST, KEY, NULL, device, &check);
        if (check && check->sort->key_bytes != KEY_BYTES) check = NULL;
        if (status == HS_OK && check) status = hs_metal_create(check, device, &checker, &error);
        if (status == HS_OK) {
            id<MTLCommandQueue> queue = [device newCommandQueue];
            id<MTLBuffer> buffer, moved = nil;
            fill(before, values);
            buffer = [device newBufferWithBytes:before length:sizeof before options:MTLResourceStorageModeShared];
            if (VALUE_BYTES > 0)
                moved = [device newBufferWithBytes:values length:sizeof values options:MTLResourceStorageModeShared];
            status = HS_ERROR_DEVICE_MEMORY;
            if (queue && buffer && (moved || VALUE_BYTES == 0))
                status = run(sorter, checker, device, queue, buffer, moved, &wrong, &missing);
            if (status == HS_OK) right = !wrong && is_sorted(before, [buffer contents], moved ? [moved contents] : NULL);
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
