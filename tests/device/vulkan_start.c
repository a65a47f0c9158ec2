/* How long a device takes to make the pipelines of a sort: of the sort that is compiled first, of each, of all in one
 * thread, in several, and with a VkPipelineCache that already has them.
 *   hsgen generate -t nvidia-vulkan --api vulkan --key u32 --value none -o sorts
 *   cc -O2 -I sorts/include tests/device/vulkan_start.c $(sed "s|^|sorts/|" sorts/sources/vulkan.txt) -lvulkan -lpthread
 *   __GL_SHADER_DISK_CACHE=0 ./a.out u32 none 8 2^20 0
 * Arguments: key, value, threads, and the greatest counts to sort, 0 for any.  Exit code 0 if everything was created. */
#include "hs/hs_targets.h"
#include "hs/hs_vulkan.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan.h>

#define TRY(call) ((call) ? (fprintf(stderr, "line %d: %s\n", __LINE__, #call), exit(1)) : (void)0)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

typedef struct job {
    hs_vulkan *sorter;
    uint32_t *next, count;
} job;

static void *work(void *given)
{
    const job *j = given;
    for (;;) {
        const uint32_t at = __atomic_fetch_add(j->next, 1, __ATOMIC_RELAXED);
        if (at >= j->count) return NULL;
        TRY(hs_vulkan_create_pipeline(j->sorter, at, NULL));
    }
}

/* Make the first `count` pipelines in threads. */
static void share(hs_vulkan *sorter, uint32_t count, int threads)
{
    pthread_t ids[64];
    uint32_t next = 0;
    job j = {sorter, &next, count};
    for (int t = 0; t < threads; t++) TRY(pthread_create(&ids[t], NULL, work, &j));
    for (int t = 0; t < threads; t++) TRY(pthread_join(ids[t], NULL));
}

static double create(const hs_sort *sort, hs_vulkan_device *where, uint64_t max_n, int threads, int each, VkPipelineCache cache)
{
    hs_vulkan_create_options options = {0};
    hs_vulkan *sorter;
    uint32_t i;
    where->cache = cache;
    options.scope.max_n = max_n;
    options.deferred = 1;
    const double begin = now();
    TRY(hs_vulkan_create_with(sort, where, &options, &sorter, NULL));
    const uint32_t count = hs_vulkan_pipeline_count(sorter);
    if (each) {
        for (i = 0; i < count; i++) {
            const double from = now();
            TRY(hs_vulkan_create_pipeline(sorter, i, NULL));
            printf("  pipeline %2u: %7.1f ms\n", i, now() - from);
        }
    } else {
        share(sorter, count, threads);
    }
    const double took = now() - begin;
    hs_vulkan_release(sorter);
    return took;
}

/* The time until calls are taken by the sort that is compiled first, in this thread or in several. */
static double create_first(const hs_sort *sort, const hs_vulkan_device *where, uint64_t max_n, int threads)
{
    hs_vulkan_create_options options = {0};
    hs_vulkan *sorter;
    options.scope.max_n = max_n;
    options.first = 1;
    options.deferred = threads > 1;
    const double begin = now();
    TRY(hs_vulkan_create_with(sort, where, &options, &sorter, NULL));
    if (threads > 1) share(sorter, hs_vulkan_first_count(sorter), threads);
    const double took = now() - begin;
    hs_vulkan_release(sorter);
    return took;
}

int main(int argc, char **argv)
{
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO, NULL, NULL, 0, NULL, 0, VK_API_VERSION_1_3};
    VkInstanceCreateInfo instance_info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, NULL, 0, &application};
    hs_vulkan_device where = {0};
    uint32_t one = 1, needed;
    if (argc < 5) return fprintf(stderr, "usage: %s KEY VALUE THREADS MAX_N...\n", argv[0]), 2;
    TRY(vkCreateInstance(&instance_info, NULL, &where.instance));
    if (vkEnumeratePhysicalDevices(where.instance, &one, &where.physical) < 0 || !one) return 1;
    const hs_sort *sort;
    where.get_proc = vkGetInstanceProcAddr;
    where.features = HS_VULKAN_SUBGROUP_SIZE;
    TRY(hs_vulkan_match(hs_targets, hs_targets_count, argv[1], strcmp(argv[2], "none") ? argv[2] : NULL, &where, &sort));
    if (!sort) return fprintf(stderr, "no target of this bundle suits the device\n"), 1;
    TRY(hs_vulkan_features(sort, &where, &needed, &where.features));
    where.features &= HS_VULKAN_SUBGROUP_SIZE;
    VkPhysicalDeviceVulkan13Features enable = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    enable.subgroupSizeControl = enable.computeFullSubgroups = where.features != 0;
    const float priority = 1;
    VkDeviceQueueCreateInfo queue_info = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, 0, 1, &priority};
    VkDeviceCreateInfo device_info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &enable, 0, 1, &queue_info};
    TRY(vkCreateDevice(where.physical, &device_info, NULL, &where.device));
    VkPhysicalDeviceProperties about;
    vkGetPhysicalDeviceProperties(where.physical, &about);
    printf("%s, target %s, %s %s\n", about.deviceName, sort->target, argv[1], argv[2]);
    const int threads = atoi(argv[3]) < 64 ? atoi(argv[3]) : 64;
    for (int i = 4; i < argc; i++) {
        const char *power = strchr(argv[i], '^');
        const uint64_t max_n = power ? 1ull << atoi(power + 1) : strtoull(argv[i], NULL, 10);
        VkPipelineCacheCreateInfo cache_info = {VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
        VkPipelineCache cache;
        if (sort->first) {
            const double first = create_first(sort, &where, max_n, 1);
            const double shared = create_first(sort, &where, max_n, threads);
            printf("up to %s keys: the first sort %.0f ms, in %d threads %.0f ms\n", argv[i], first, threads, shared);
        }
        create(sort, &where, max_n, 1, 1, VK_NULL_HANDLE);
        const double alone = create(sort, &where, max_n, 1, 0, VK_NULL_HANDLE);
        const double several = create(sort, &where, max_n, threads, 0, VK_NULL_HANDLE);
        TRY(vkCreatePipelineCache(where.device, &cache_info, NULL, &cache));
        create(sort, &where, max_n, threads, 0, cache);
        const double warm = create(sort, &where, max_n, 1, 0, cache);
        vkDestroyPipelineCache(where.device, cache, NULL);
        printf("up to %s keys: one thread %.0f ms, %d threads %.0f ms, with a warm cache %.1f ms\n", argv[i], alone, threads,
               several, warm);
        fflush(stdout);
    }
    return 0;
}
