// C++'s std::sort.
#include "baseline.h"
#include "timed.hpp"

#include <algorithm>
#include <cstdint>

namespace {

template <typename Key> double sort(void *keys, std::size_t n)
{
    Key *const first = static_cast<Key *>(keys);
    return timed([=] { std::sort(first, first + n); });
}

} // namespace

const char *baseline_version(void)
{
    return "compiler " __VERSION__;
}

double baseline_sort(void *keys, void *, std::size_t n, int size)
{
    return size == 4 ? sort<std::uint32_t>(keys, n) : sort<std::uint64_t>(keys, n);
}
