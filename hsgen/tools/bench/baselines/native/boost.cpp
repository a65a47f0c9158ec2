// Boost.Compute's sort on an OpenCL device, in place in a device vector.  Functions return null, or an error message,
// which is valid until the next call.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS

#include "timed.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/compute/algorithm/copy.hpp>
#include <boost/compute/algorithm/sort.hpp>
#include <boost/compute/container/vector.hpp>
#include <boost/compute/system.hpp>
#include <boost/compute/utility/program_cache.hpp>
#include <boost/version.hpp>

namespace compute = boost::compute;

namespace {

// Keys of one type on the device: the input, and the copy of it that is sorted.
struct Keys {
    virtual ~Keys() = default;
    virtual void prepare() = 0;
    virtual double sort() = 0;
    virtual void result(void *out) = 0;
};

template <typename Key> class Typed final : public Keys {
public:
    Typed(const void *keys, std::size_t n, compute::command_queue &queue)
        : queue_(queue), source_(n, queue.get_context()), work_(n, queue.get_context())
    {
        const Key *const first = static_cast<const Key *>(keys);
        compute::copy(first, first + n, source_.begin(), queue_);
    }

    void prepare() override
    {
        compute::copy(source_.begin(), source_.end(), work_.begin(), queue_);
        queue_.finish();
    }

    double sort() override
    {
        return timed([this] {
            compute::sort(work_.begin(), work_.end(), queue_);
            queue_.finish();
        });
    }

    void result(void *out) override
    {
        compute::copy(work_.begin(), work_.end(), static_cast<Key *>(out), queue_);
    }

private:
    compute::command_queue &queue_;
    compute::vector<Key> source_, work_;
};

compute::command_queue *queue;
Keys *keys;
std::string said;

// Open a device.  Its objects are never destroyed: at exit, the driver may be unloaded before objects are destroyed.
void open(const compute::device &device)
{
    // keep the context alive, because Intel's CPU runtime destroys a context to which only a queue refers
    const auto *context = new compute::context(device);
    queue = new compute::command_queue(*context, device);
    // keep Boost.Compute's cache of programs for this context alive, by one more reference
    new auto(compute::program_cache::get_global_cache(*context));
}

template <typename Work> const char *guarded(Work &&work)
{
    try {
        work();
        return nullptr;
    } catch (const std::exception &e) {
        said = e.what();
    }
    return said.c_str();
}

} // namespace

extern "C" const char *baseline_version(void)
{
    return BOOST_LIB_VERSION;
}

// Open the device with these names of platform and device.  If several devices have them, `index` selects one.
extern "C" const char *baseline_open(const char *platform, const char *name, int index)
{
    return guarded([=]() mutable {
        for (const auto &device : compute::system::devices()) {
            if (device.platform().name() != platform || device.name() != name || index-- > 0) continue;
            if (queue && queue->get_device() == device) return;
            open(device);
            return;
        }
        throw std::runtime_error("OpenCL's loader does not show the device " + std::string(name));
    });
}

// Copy n keys of `size` bytes, 4 or 8, to the device; they replace the keys of the previous call.
extern "C" const char *baseline_keys(const void *from, std::size_t n, int size)
{
    return guarded([=] {
        delete std::exchange(keys, nullptr);
        if (size == 4)
            keys = new Typed<std::uint32_t>(from, n, *queue);
        else
            keys = new Typed<std::uint64_t>(from, n, *queue);
    });
}

// Copy the input to the vector that is sorted, and wait.
extern "C" const char *baseline_prepare(void)
{
    return guarded([] { keys->prepare(); });
}

// Sort, and wait; store the seconds that the sort took.
extern "C" const char *baseline_sort(double *seconds)
{
    return guarded([=] { *seconds = keys->sort(); });
}

// Copy the sorted keys to the host.
extern "C" const char *baseline_result(void *out)
{
    return guarded([=] { keys->result(out); });
}

// Release the keys.
extern "C" void baseline_close(void)
{
    delete std::exchange(keys, nullptr);
}
