/* The headers of cuda_on_host.hpp, apart, so that a process parses them once. */
#ifndef HOST_HEADERS
#define HOST_HEADERS
#undef _FORTIFY_SOURCE /* it takes jumps to another stack for errors */
#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>
#endif
