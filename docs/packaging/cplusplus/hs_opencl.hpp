// SPDX-License-Identifier: MIT-0
// C++17 owners for the OpenCL functions of a bundle of hsgen: sorters that release, exceptions for statuses.
#ifndef HS_OPENCL_HPP
#define HS_OPENCL_HPP

#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace hs {

// A call that failed: its status, the code of OpenCL, and the start of the compiler's log as the message.
struct failure : std::runtime_error {
    hs_status status;
    cl_int code;
    failure(hs_status failed, const hs_opencl_error &error)
        : std::runtime_error(hs_status_text(failed) + (error.log[0] ? std::string(": ") + error.log : std::string())),
          status(failed), code(error.code)
    {
    }
};

// A sort for one device.  Movable; calls of one sorter come from one thread at a time.
class opencl_sorter {
public:
    // The first sort of the bundle that suits the device; `key` as in "u32", `value` as in "v4" or null.
    opencl_sorter(cl_context context, cl_device_id device, const char *key, const char *value = nullptr)
    {
        const hs_sort *sort = nullptr;
        check(hs_opencl_match(hs_targets, hs_targets_count, key, value, device, &sort), {});
        if (!sort) throw std::runtime_error(std::string("no target of the bundle sorts ") + key + " on this device");
        hs_opencl_error error{};
        hs_opencl *handle = nullptr;
        check(hs_opencl_create(sort, context, device, &handle, &error), error);
        owner_.reset(handle);
    }

    void sort(cl_command_queue queue, const hs_opencl_sort_args &args)
    {
        hs_opencl_error error{};
        check(hs_opencl_sort(owner_.get(), queue, &args, &error), error);
    }

    hs_opencl *get() const noexcept { return owner_.get(); }

private:
    struct release {
        void operator()(hs_opencl *sorter) const noexcept { hs_opencl_release(sorter); }
    };
    static void check(hs_status status, const hs_opencl_error &error)
    {
        if (status != HS_OK) throw failure(status, error);
    }
    std::unique_ptr<hs_opencl, release> owner_;
};

} // namespace hs

#endif
