// Highway's vqsort, through an interface that all its versions have.
#include "baseline.h"
#include "timed.hpp"

#include <cstdint>

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/highway.h>

#define TEXT(x) #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

namespace {

template <typename Key> double sort(void *keys, std::size_t n)
{
    static const hwy::Sorter sorter; // allocates its memory in the first call, which is never timed
    Key *const first = static_cast<Key *>(keys);
    return timed([=] { sorter(first, n, hwy::SortAscending()); });
}

} // namespace

const char *baseline_version(void)
{
    return VERSION(HWY_MAJOR, HWY_MINOR, HWY_PATCH);
}

double baseline_sort(void *keys, void *, std::size_t n, int size)
{
    return size == 4 ? sort<std::uint32_t>(keys, n) : sort<std::uint64_t>(keys, n);
}
