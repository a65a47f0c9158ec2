// The time of a call, for baselines in C++.
#ifndef HSGEN_TIMED_HPP
#define HSGEN_TIMED_HPP

#include <chrono>

// Return the seconds that calling `work` takes.
template <typename Work> double timed(Work &&work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

#endif
