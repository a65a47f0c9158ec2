/* Fills the variables of fake_loader.h from Vulkan's own loader before the program starts. */
#include "fake_loader.h"

#include <dlfcn.h>
#include <string.h>

#define DEFINED(name) PFN_vk##name vk##name;
LOADED(DEFINED)

#define FOUND(name)                          \
    found = dlsym(library, "vk" #name);      \
    memcpy(&vk##name, &found, sizeof found);

__attribute__((constructor)) static void load(void)
{
    void *found, *library = dlopen("libvulkan.so.1", RTLD_NOW);
    if (!library) return;
    LOADED(FOUND)
}
