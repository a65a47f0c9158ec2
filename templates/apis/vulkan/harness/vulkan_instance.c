/* The Vulkan harness: the loader, an instance, messages of validation layers. */
#include "hn_vulkan.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HN_GET_INSTANCE(name) ((vk.name = (PFN_vk##name)vk.get(hn.instance, "vk" #name)) != NULL) &&

struct hn_functions vk;
struct hn_state hn;

static char hn_text[4096];
static struct {
    char *text;
    size_t length;
} hn_said;

const char *hn_fail(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    vsnprintf(hn_text, sizeof hn_text, format, rest);
    va_end(rest);
    return hn_text;
}

const char *hn_code(const char *call, VkResult code)
{
    return code ? hn_fail("%s: VkResult %d", call, (int)code) : NULL;
}

const char *hn_status(const char *call, hs_status status, VkResult code)
{
    if (!status) return NULL;
    return code ? hn_fail("%s: %s (VkResult %d)", call, hs_status_text(status), (int)code)
                : hn_fail("%s: %s", call, hs_status_text(status));
}

static VKAPI_ATTR VkBool32 VKAPI_CALL hn_hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                              VkDebugUtilsMessageTypeFlagsEXT types,
                                              const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    const char *message = data->pMessage ? data->pMessage : "(no text)";
    const size_t length = strlen(message);
    char *more = (char *)realloc(hn_said.text, hn_said.length + length + 16), *c;
    (void)types, (void)user;
    if (!more || hn_said.length > 1 << 20) return VK_FALSE;
    hn_said.text = more;
    c = more + hn_said.length;
    hn_said.length += (size_t)sprintf(
        c, "%s: %s", severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT ? "error" : "warning", message);
    for (; *c; c++)
        if (*c == '\n') *c = ' ';
    strcpy(c, "\n");
    hn_said.length++;
    return VK_FALSE;
}

void hn_clear_messages(void)
{
    free(hn_said.text);
    memset(&hn_said, 0, sizeof hn_said);
}

const char *hn_messages(void) { return hn_said.text ? hn_said.text : ""; }

void hn_close_instance(void)
{
    if (!hn.instance) return;
    if (hn.messenger) {
        const PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vk.get(hn.instance, "vkDestroyDebugUtilsMessengerEXT");
        if (destroy) destroy(hn.instance, hn.messenger, NULL);
    }
    vk.DestroyInstance(hn.instance, NULL);
    memset(&hn, 0, sizeof hn);
}

static int hn_has_layer(const char *name)
{
    const PFN_vkEnumerateInstanceLayerProperties enumerate =
        (PFN_vkEnumerateInstanceLayerProperties)vk.get(NULL, "vkEnumerateInstanceLayerProperties");
    VkLayerProperties layers[64];
    uint32_t count = 64, i;
    if (!enumerate || enumerate(&count, layers) < 0) return 0;
    for (i = 0; i < count; i++)
        if (strcmp(layers[i].layerName, name) == 0) return 1;
    return 0;
}

const char *hn_instance(int validation)
{
    static const char *const layer = "VK_LAYER_KHRONOS_validation";
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    static const VkValidationFeatureEnableEXT enabled[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT, VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT,
        VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_RESERVE_BINDING_SLOT_EXT};
    VkApplicationInfo application;
    VkInstanceCreateInfo info;
    VkValidationFeaturesEXT features;
    VkDebugUtilsMessengerCreateInfoEXT messenger;
    PFN_vkEnumerateInstanceVersion get_version;
    PFN_vkCreateInstance create;
    PFN_vkCreateDebugUtilsMessengerEXT listen;
    const char *error = NULL;
    uint32_t version = 0;
    VkResult code;
    if (hn.instance) return NULL;
    if (!vk.get) {
        void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL), *symbol;
        if (!library) return hn_fail("no Vulkan loader: %s", dlerror());
        symbol = dlsym(library, "vkGetInstanceProcAddr");
        memcpy(&vk.get, &symbol, sizeof symbol); /* ISO C cannot cast a void pointer to a function pointer */
        if (!vk.get) return "the Vulkan loader has no vkGetInstanceProcAddr";
    }
    get_version = (PFN_vkEnumerateInstanceVersion)vk.get(NULL, "vkEnumerateInstanceVersion");
    create = (PFN_vkCreateInstance)vk.get(NULL, "vkCreateInstance");
    if (!create || !get_version || get_version(&version)) return "the Vulkan loader knows 1.0 only";
    memset(&application, 0, sizeof application);
    memset(&info, 0, sizeof info);
    memset(&features, 0, sizeof features);
    memset(&messenger, 0, sizeof messenger);
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = version < VK_API_VERSION_1_3 ? version : VK_API_VERSION_1_3;
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    if (validation) {
        if (!hn_has_layer(layer)) return "unavailable: validation was asked for, but VK_LAYER_KHRONOS_validation is not installed";
        messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
        messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                    VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
        messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
        messenger.pfnUserCallback = hn_hear;
        features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
        features.pNext = &messenger;
        features.enabledValidationFeatureCount = validation > 1 ? 3 : 1;
        features.pEnabledValidationFeatures = enabled;
        info.pNext = &features;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &layer;
        info.enabledExtensionCount = 2;
        info.ppEnabledExtensionNames = extensions;
    }
    code = create(&info, NULL, &hn.instance);
    if (code) {
        hn.instance = NULL; /* on the next line: without any driver there are no devices, which is no error */
        return code == VK_ERROR_INCOMPATIBLE_DRIVER ? NULL : hn_code("vkCreateInstance", code);
    }
    if (!(HN_INSTANCE_CALLS(HN_GET_INSTANCE) 1)) error = "the Vulkan loader lacks functions of 1.1";
    if (!error && validation) {
        listen = (PFN_vkCreateDebugUtilsMessengerEXT)vk.get(hn.instance, "vkCreateDebugUtilsMessengerEXT");
        if (!listen || listen(hn.instance, &messenger, NULL, &hn.messenger)) error = "no debug messenger";
    }
    hn.device_count = HN_DEVICES;
    code = error ? VK_SUCCESS : vk.EnumeratePhysicalDevices(hn.instance, &hn.device_count, hn.devices);
    if (code < 0) hn.device_count = 0;
    if (code < 0 && code != VK_ERROR_INITIALIZATION_FAILED) /* drivers without any device return this */
        error = hn_code("vkEnumeratePhysicalDevices", code);
    if (error) hn_close_instance();
    return error;
}

const char *hn_count(int *count)
{
    const char *error = hn_instance(0);
    *count = (int)hn.device_count;
    return error;
}
