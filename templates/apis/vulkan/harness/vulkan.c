/* The harness of harness.h for Vulkan.  Options of hn_open:
 *   binding_limit=N  sorts whose bindings are greater take device addresses
 *   size_control=0   do not enable subgroup size control
 *   validation=1     core and synchronization validation; validation=2: GPU-assisted as well
 *   poison=1         fill scratch before every sort */
#include "harness.h"
#include "hs/hs_targets.h"

#include "copy.h"
#include "any_vulkan.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HN_INSTANCE_CALLS(X)                                                                                          \
    X(DestroyInstance) X(EnumeratePhysicalDevices) X(EnumerateDeviceExtensionProperties) X(CreateDevice)              \
    X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceFeatures2) X(GetPhysicalDeviceMemoryProperties)                \
    X(GetPhysicalDeviceQueueFamilyProperties) X(GetDeviceProcAddr)
#define HN_DEVICE_CALLS(X)                                                                                            \
    X(DestroyDevice) X(GetDeviceQueue) X(CreateCommandPool) X(DestroyCommandPool) X(AllocateCommandBuffers)           \
    X(BeginCommandBuffer) X(EndCommandBuffer) X(CreateFence) X(DestroyFence) X(ResetFences) X(WaitForFences)          \
    X(QueueSubmit) X(CreateQueryPool) X(DestroyQueryPool) X(GetQueryPoolResults) X(CmdResetQueryPool)                 \
    X(CmdWriteTimestamp) X(CreateBuffer) X(DestroyBuffer) X(GetBufferMemoryRequirements) X(AllocateMemory)            \
    X(FreeMemory) X(BindBufferMemory) X(MapMemory) X(CmdCopyBuffer) X(CmdFillBuffer) X(CmdPipelineBarrier)            \
    X(CreateDescriptorPool) X(DestroyDescriptorPool) X(ResetDescriptorPool) X(DeviceWaitIdle)
#define HN_MEMBER(name) PFN_vk##name name;
#define HN_GET_INSTANCE(name) ((vk.name = (PFN_vk##name)vk.get(hn.instance, "vk" #name)) != NULL) &&
#define HN_GET_DEVICE(name) ((vk.name = (PFN_vk##name)vk.GetDeviceProcAddr(hn.device, "vk" #name)) != NULL) &&

enum { HN_DEVICES = 64 };
static const uint64_t hn_staging = 1 << 24; /* bytes */
static const VkPipelineStageFlags hn_stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
static const VkAccessFlags hn_accesses = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                         VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

typedef struct hn_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceAddress address;
    uint64_t bytes;
    void *mapped;
} hn_memory;

static struct {
    PFN_vkGetInstanceProcAddr get;
    HN_INSTANCE_CALLS(HN_MEMBER)
    HN_DEVICE_CALLS(HN_MEMBER)
    PFN_vkGetBufferDeviceAddress get_address;
} vk;

static struct {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice devices[HN_DEVICES];
    uint32_t device_count;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool command_pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkQueryPool queries;
    VkDescriptorPool sets;
    uint64_t tick_mask;
    double tick_seconds;
    uint32_t features;
    uint64_t binding_limit, sorted; /* sorted: the last n */
    int poison, unchecked; /* unchecked: no guard was looked at since the last sort */
    hn_memory buffers[HN_SLOTS], staging, scratch; /* scratch: with the guard behind */
    hs_vulkan *sorter, *copier;
} hn;

/* A physical device, asked with the structures that it knows. */
typedef struct hn_facts {
    VkPhysicalDeviceProperties2 base;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceSubgroupSizeControlProperties control;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceSubgroupSizeControlFeatures control_feature;
    VkPhysicalDeviceBufferDeviceAddressFeatures address_feature;
    VkPhysicalDevice16BitStorageFeatures storage16_feature;
    VkPhysicalDevice8BitStorageFeatures storage8_feature;
    uint32_t cores, units, threads, registers; /* of a core; 0 where the device does not tell */
    const char *extensions[3]; /* to be enabled for these features */
    uint32_t extension_count;
} hn_facts;

static char hn_text[4096];
static struct {
    char *text;
    size_t length;
} hn_said;

static const char *hn_fail(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    vsnprintf(hn_text, sizeof hn_text, format, rest);
    va_end(rest);
    return hn_text;
}

static const char *hn_code(const char *call, VkResult code)
{
    return code ? hn_fail("%s: VkResult %d", call, (int)code) : NULL;
}

static const char *hn_status(const char *call, hs_status status, VkResult code)
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

const char *hn_messages(void) { return hn_said.text ? hn_said.text : ""; }

static void hn_close_instance(void)
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

/* Make an instance of the highest version up to 1.3, or keep the one that is there. */
static const char *hn_instance(int validation)
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
        memcpy(&vk.get, &symbol, sizeof symbol); /* C has no cast for this */
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
        hn.instance = NULL; /* a loader without any driver says so by this code: it shows no devices */
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
    if (code < 0 && code != VK_ERROR_INITIALIZATION_FAILED) /* so do drivers without any device */
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

/* Whether the device has a feature's structures: by its version, or by an extension that is then to be enabled. */
static int hn_has(VkPhysicalDevice device, hn_facts *facts, uint32_t version, const char *name, int enable)
{
    uint32_t count = 0, i;
    VkExtensionProperties *list;
    int found = 0;
    if (facts->base.properties.apiVersion >= version) return 1;
    if (vk.EnumerateDeviceExtensionProperties(device, NULL, &count, NULL) < 0) return 0;
    list = (VkExtensionProperties *)calloc(count + 1, sizeof *list);
    if (!list || vk.EnumerateDeviceExtensionProperties(device, NULL, &count, list) < 0) count = 0;
    for (i = 0; i < count; i++) found |= strcmp(list[i].extensionName, name) == 0;
    free(list);
    if (found && enable) facts->extensions[facts->extension_count++] = name;
    return found;
}

/* What some vendors tell of their cores, by extensions of theirs that no version of Vulkan has taken up. */
static void hn_ask_cores(VkPhysicalDevice device, hn_facts *facts)
{
    VkPhysicalDeviceProperties2 base;
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV sm;
    VkPhysicalDeviceShaderCorePropertiesAMD cu;
    memset(&base, 0, sizeof base);
    memset(&sm, 0, sizeof sm);
    memset(&cu, 0, sizeof cu);
    base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    if (hn_has(device, facts, UINT32_MAX, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, 0)) {
        sm.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
        base.pNext = &sm;
        vk.GetPhysicalDeviceProperties2(device, &base);
        facts->cores = sm.shaderSMCount;
        facts->threads = sm.shaderWarpsPerSM;
    } else if (hn_has(device, facts, UINT32_MAX, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME, 0)) {
        cu.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD;
        base.pNext = &cu;
        vk.GetPhysicalDeviceProperties2(device, &base);
        facts->cores = cu.shaderEngineCount * cu.shaderArraysPerEngineCount * cu.computeUnitsPerShaderArray;
        facts->units = cu.simdPerComputeUnit;
        facts->threads = cu.simdPerComputeUnit * cu.wavefrontsPerSimd;
        facts->registers = cu.simdPerComputeUnit * cu.vgprsPerSimd * cu.wavefrontSize;
    }
#ifdef VK_ARM_shader_core_builtins
    else if (hn_has(device, facts, UINT32_MAX, VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, 0)) {
        VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM core;
        memset(&core, 0, sizeof core);
        core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM;
        base.pNext = &core;
        vk.GetPhysicalDeviceProperties2(device, &base);
        facts->cores = core.shaderCoreCount;
        facts->threads = core.shaderWarpsPerCore;
    }
#endif
}

static const char *hn_ask(int index, hn_facts *facts)
{
    VkPhysicalDevice device;
    memset(facts, 0, sizeof *facts);
    if (index < 0 || (uint32_t)index >= hn.device_count) return hn_fail("there is no Vulkan device %d", index);
    device = hn.devices[index];
    facts->base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    facts->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    vk.GetPhysicalDeviceProperties2(device, &facts->base);
    if (facts->base.properties.apiVersion < VK_API_VERSION_1_1) return hn_fail("device %d has Vulkan 1.0 only", index);
    facts->subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    facts->base.pNext = &facts->subgroup;
    if (hn_has(device, facts, VK_API_VERSION_1_2, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME, 0)) {
        facts->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
        facts->driver.pNext = facts->base.pNext;
        facts->base.pNext = &facts->driver;
    }
    if (hn_has(device, facts, VK_API_VERSION_1_3, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, 1)) {
        facts->control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
        facts->control.pNext = facts->base.pNext;
        facts->base.pNext = &facts->control;
        facts->control_feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
        facts->features.pNext = &facts->control_feature;
    }
    if (hn_has(device, facts, VK_API_VERSION_1_2, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, 1)) {
        facts->address_feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
        facts->address_feature.pNext = facts->features.pNext;
        facts->features.pNext = &facts->address_feature;
    }
    facts->storage16_feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
    facts->storage16_feature.pNext = facts->features.pNext;
    facts->features.pNext = &facts->storage16_feature;
    if (hn_has(device, facts, VK_API_VERSION_1_2, VK_KHR_8BIT_STORAGE_EXTENSION_NAME, 1)) {
        facts->storage8_feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES;
        facts->storage8_feature.pNext = facts->features.pNext;
        facts->features.pNext = &facts->storage8_feature;
    }
    vk.GetPhysicalDeviceProperties2(device, &facts->base);
    vk.GetPhysicalDeviceFeatures2(device, &facts->features);
    hn_ask_cores(device, facts);
    return NULL;
}

static int hn_controls(const hn_facts *facts)
{
    return facts->control_feature.subgroupSizeControl && facts->control_feature.computeFullSubgroups &&
           (facts->control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
}

/* `text` as the inside of a JSON string. */
static const char *hn_quote(const char *text, char *out, size_t size)
{
    size_t i = 0;
    for (; *text && i + 2 < size; text++) {
        if ((unsigned char)*text < ' ') continue;
        if (*text == '"' || *text == '\\') out[i++] = '\\';
        out[i++] = *text;
    }
    out[i] = 0;
    return out;
}

const char *hn_describe(int index, char *text, size_t size)
{
    const VkSubgroupFeatureFlags operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    char name[520], platform[520], driver[520], widths[256] = "1";
    const char *error = hn_instance(0), *type = "gpu";
    const VkPhysicalDeviceProperties *p;
    uint32_t width, least, most;
    hn_facts facts;
    if (!error) error = hn_ask(index, &facts);
    if (error) return error;
    p = &facts.base.properties;
    if (p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) type = "cpu";
    if (p->deviceType == VK_PHYSICAL_DEVICE_TYPE_OTHER) type = "other";
    least = most = facts.subgroup.subgroupSize;
    if (hn_controls(&facts)) {
        least = facts.control.minSubgroupSize;
        most = facts.control.maxSubgroupSize;
    }
    for (width = 2; width <= most; width *= 2)
        if (width >= least) sprintf(widths + strlen(widths), ", %u", (unsigned)width);
    sprintf(driver, "%u.%u.%u", (unsigned)VK_API_VERSION_MAJOR(p->driverVersion),
            (unsigned)VK_API_VERSION_MINOR(p->driverVersion), (unsigned)VK_API_VERSION_PATCH(p->driverVersion));
    snprintf(text, size,
             "{\"name\": \"%s\", \"platform\": \"%s\", \"driver\": \"%s\", \"type\": \"%s\", \"vendor\": %u, "
             "\"compute\": 0, \"work_group\": %u, \"local_bytes\": %u, \"subgroups\": [%s], \"shuffle\": %s, "
             "\"ballot\": %s, \"int64\": %s, \"storage8\": %s, \"storage16\": %s, \"groups\": %u, "
             "\"group_subgroups\": %u, \"binding_bytes\": %u, \"vulkan\": \"%u.%u\", \"cores\": %u, \"units\": %u, "
             "\"threads\": %u, \"registers\": %u}",
             hn_quote(p->deviceName, name, sizeof name), hn_quote(facts.driver.driverName, platform, sizeof platform),
             facts.driver.driverInfo[0] ? hn_quote(facts.driver.driverInfo, driver, sizeof driver) : driver, type,
             (unsigned)p->vendorID, (unsigned)p->limits.maxComputeWorkGroupInvocations,
             (unsigned)p->limits.maxComputeSharedMemorySize, widths,
             (facts.subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                     (facts.subgroup.supportedOperations & operations) == operations
                 ? "true"
                 : "false",
             facts.subgroup.supportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT ? "true" : "false",
             facts.features.features.shaderInt64 ? "true" : "false",
             facts.storage8_feature.storageBuffer8BitAccess ? "true" : "false",
             facts.storage16_feature.storageBuffer16BitAccess ? "true" : "false",
             (unsigned)p->limits.maxComputeWorkGroupCount[0],
             hn_controls(&facts) ? (unsigned)facts.control.maxComputeWorkgroupSubgroups : 0u,
             (unsigned)p->limits.maxStorageBufferRange, (unsigned)VK_API_VERSION_MAJOR(p->apiVersion),
             (unsigned)VK_API_VERSION_MINOR(p->apiVersion), (unsigned)facts.cores, (unsigned)facts.units,
             (unsigned)facts.threads, (unsigned)facts.registers);
    return NULL;
}

static const char *hn_options(const char *options, int *validation, int *size_control)
{
    char words[256], *word;
    if (strlen(options) >= sizeof words) return "the options are too long";
    strcpy(words, options);
    for (word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '='), *end = NULL;
        const unsigned long long number = value ? strtoull(value + 1, &end, 10) : 0;
        if (!end || end == value + 1 || *end) return hn_fail("the option %s is not NAME=NUMBER", word);
        *value = 0;
        if (strcmp(word, "binding_limit") == 0) hn.binding_limit = number;
        else if (strcmp(word, "validation") == 0 && number <= 2) *validation = (int)number;
        else if (strcmp(word, "size_control") == 0 && number <= 1) *size_control = (int)number;
        else if (strcmp(word, "poison") == 0 && number <= 1) hn.poison = (int)number;
        else return hn_fail("there is no option %s=%llu for Vulkan", word, number);
    }
    return NULL;
}

static void hn_drop(hn_memory *memory)
{
    if (memory->buffer) vk.DestroyBuffer(hn.device, memory->buffer, NULL);
    if (memory->memory) vk.FreeMemory(hn.device, memory->memory, NULL); /* unmaps it */
    memset(memory, 0, sizeof *memory);
}

static const char *hn_make(hn_memory *memory, uint64_t bytes, int host)
{
    const VkMemoryPropertyFlags device_local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                cached = visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    VkBufferCreateInfo info;
    VkMemoryRequirements needs;
    VkMemoryAllocateInfo allocate;
    VkMemoryAllocateFlagsInfo flags;
    VkPhysicalDeviceMemoryProperties types;
    VkBufferDeviceAddressInfo whose;
    VkResult code;
    uint32_t i, best = 0;
    hn_drop(memory);
    memset(&info, 0, sizeof info);
    memset(&allocate, 0, sizeof allocate);
    memset(&flags, 0, sizeof flags);
    memset(&whose, 0, sizeof whose);
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes ? bytes : 1;
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (!host) info.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    if (!host && (hn.features & HS_VULKAN_ADDRESS)) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    code = vk.CreateBuffer(hn.device, &info, NULL, &memory->buffer);
    if (code) {
        memory->buffer = VK_NULL_HANDLE;
        return hn_code("vkCreateBuffer", code);
    }
    vk.GetBufferMemoryRequirements(hn.device, memory->buffer, &needs);
    vk.GetPhysicalDeviceMemoryProperties(hn.physical, &types);
    allocate.memoryTypeIndex = UINT32_MAX;
    for (i = 0; i < types.memoryTypeCount; i++) {
        const VkMemoryPropertyFlags has = types.memoryTypes[i].propertyFlags;
        uint32_t rank = 1;
        if (!(needs.memoryTypeBits >> i & 1) || (host && (has & visible) != visible)) continue;
        if (host ? (has & cached) == cached : (has & device_local) != 0) rank = 2;
        if (rank > best) allocate.memoryTypeIndex = i;
        if (rank > best) best = rank;
    }
    if (!best) return "no memory type suits";
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    if (info.usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) allocate.pNext = &flags;
    allocate.allocationSize = needs.size;
    code = vk.AllocateMemory(hn.device, &allocate, NULL, &memory->memory);
    if (code) memory->memory = VK_NULL_HANDLE;
    else code = vk.BindBufferMemory(hn.device, memory->buffer, memory->memory, 0);
    if (!code && host) code = vk.MapMemory(hn.device, memory->memory, 0, VK_WHOLE_SIZE, 0, &memory->mapped);
    if (code) {
        hn_drop(memory);
        return hn_fail("%llu bytes of memory: VkResult %d", (unsigned long long)bytes, (int)code);
    }
    whose.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    whose.buffer = memory->buffer;
    if (allocate.pNext) memory->address = vk.get_address(hn.device, &whose);
    memory->bytes = bytes;
    return NULL;
}

/* Everything of a device but its buffers. */
static const char *hn_device(const hn_facts *facts)
{
    const float priority = 1;
    VkPhysicalDeviceSubgroupSizeControlFeatures control = facts->control_feature;
    VkPhysicalDeviceBufferDeviceAddressFeatures address;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceMaintenance4Features maintenance;
    VkPhysicalDevice16BitStorageFeatures storage16;
    VkPhysicalDevice8BitStorageFeatures storage8;
    VkQueueFamilyProperties families[64];
    VkDeviceQueueCreateInfo queue;
    VkDeviceCreateInfo info;
    VkCommandPoolCreateInfo pool;
    VkCommandBufferAllocateInfo commands;
    VkFenceCreateInfo fence;
    VkQueryPoolCreateInfo queries;
    VkResult code;
    uint32_t count = 64, family;
    memset(&address, 0, sizeof address);
    memset(&maintenance, 0, sizeof maintenance);
    memset(&storage16, 0, sizeof storage16);
    memset(&storage8, 0, sizeof storage8);
    memset(&features, 0, sizeof features);
    memset(&queue, 0, sizeof queue);
    memset(&info, 0, sizeof info);
    memset(&pool, 0, sizeof pool);
    memset(&commands, 0, sizeof commands);
    memset(&fence, 0, sizeof fence);
    memset(&queries, 0, sizeof queries);
    vk.GetPhysicalDeviceQueueFamilyProperties(hn.physical, &count, families);
    for (family = 0; family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT);) family++;
    if (family == count) return "the device has no compute queue";
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.features.shaderInt64 = facts->features.features.shaderInt64;
    if (features.features.shaderInt64) hn.features |= HS_VULKAN_INT64;
    if (hn_controls(facts)) {
        control.pNext = NULL;
        features.pNext = &control;
        hn.features |= HS_VULKAN_SUBGROUP_SIZE;
    }
    if (facts->address_feature.bufferDeviceAddress) {
        address.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
        address.bufferDeviceAddress = VK_TRUE;
        address.pNext = features.pNext;
        features.pNext = &address;
        hn.features |= HS_VULKAN_ADDRESS;
    }
    if (facts->storage16_feature.storageBuffer16BitAccess) {
        storage16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
        storage16.storageBuffer16BitAccess = VK_TRUE;
        storage16.pNext = features.pNext;
        features.pNext = &storage16;
        hn.features |= HS_VULKAN_STORAGE16;
    }
    if (facts->storage8_feature.storageBuffer8BitAccess) {
        storage8.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES;
        storage8.storageBuffer8BitAccess = VK_TRUE;
        storage8.pNext = features.pNext;
        features.pNext = &storage8;
        hn.features |= HS_VULKAN_STORAGE8;
    }
    if (facts->base.properties.apiVersion >= VK_API_VERSION_1_3) {
        maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES;
        maintenance.maintenance4 = VK_TRUE;
        maintenance.pNext = features.pNext;
        features.pNext = &maintenance;
        hn.features |= HS_VULKAN_MAINTENANCE4;
    }
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &features;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = facts->extension_count;
    info.ppEnabledExtensionNames = facts->extensions;
    code = vk.CreateDevice(hn.physical, &info, NULL, &hn.device);
    if (code) {
        hn.device = NULL;
        return hn_code("vkCreateDevice", code);
    }
    if (!(HN_DEVICE_CALLS(HN_GET_DEVICE) 1)) return "the device lacks functions";
    vk.get_address = (PFN_vkGetBufferDeviceAddress)vk.GetDeviceProcAddr(hn.device, "vkGetBufferDeviceAddress");
    if (!vk.get_address)
        vk.get_address = (PFN_vkGetBufferDeviceAddress)vk.GetDeviceProcAddr(hn.device, "vkGetBufferDeviceAddressKHR");
    if (!vk.get_address) hn.features &= ~(uint32_t)HS_VULKAN_ADDRESS;
    vk.GetDeviceQueue(hn.device, family, 0, &hn.queue);
    if (families[family].timestampValidBits) {
        hn.tick_mask = UINT64_MAX >> (64 - families[family].timestampValidBits);
        hn.tick_seconds = (double)facts->base.properties.limits.timestampPeriod * 1e-9;
    }
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = family;
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandBufferCount = 1;
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = 2;
    code = vk.CreateCommandPool(hn.device, &pool, NULL, &hn.command_pool);
    commands.commandPool = hn.command_pool;
    if (!code) code = vk.AllocateCommandBuffers(hn.device, &commands, &hn.commands);
    if (!code) code = vk.CreateFence(hn.device, &fence, NULL, &hn.fence);
    if (!code && hn.tick_mask) code = vk.CreateQueryPool(hn.device, &queries, NULL, &hn.queries);
    return code ? hn_code("the device's objects", code) : hn_make(&hn.staging, hn_staging, 1);
}

const char *hn_open(int index, const char *options)
{
    int validation = 0, size_control = 1;
    const char *error;
    hn_facts facts;
    hn_close();
    free(hn_said.text);
    memset(&hn_said, 0, sizeof hn_said);
    memset(&hn, 0, sizeof hn);
    error = hn_options(options, &validation, &size_control);
    if (!error) error = hn_instance(validation);
    if (!error) error = hn_ask(index, &facts);
    if (!error) {
        hn.physical = hn.devices[index];
        if (!size_control) facts.control_feature.subgroupSizeControl = VK_FALSE;
        error = hn_device(&facts);
    }
    if (error) hn_close();
    return error;
}

void hn_close(void)
{
    int slot;
    if (hn.device) {
        vk.DeviceWaitIdle(hn.device);
        hs_vulkan_release(hn.sorter);
        hs_vulkan_release(hn.copier);
        for (slot = 0; slot < HN_SLOTS; slot++) hn_drop(&hn.buffers[slot]);
        hn_drop(&hn.staging);
        hn_drop(&hn.scratch);
        vk.DestroyDescriptorPool(hn.device, hn.sets, NULL);
        vk.DestroyQueryPool(hn.device, hn.queries, NULL);
        vk.DestroyFence(hn.device, hn.fence, NULL);
        vk.DestroyCommandPool(hn.device, hn.command_pool, NULL);
        vk.DestroyDevice(hn.device, NULL);
    }
    hn_close_instance();
}

static const char *hn_create(const hs_sort *sort, hs_vulkan **sorter)
{
    hs_vulkan_device device;
    VkResult code = VK_SUCCESS;
    memset(&device, 0, sizeof device);
    device.instance = hn.instance;
    device.physical = hn.physical;
    device.device = hn.device;
    device.get_proc = vk.get;
    device.features = hn.features;
    device.binding_limit = hn.binding_limit;
    return hn_status("hs_vulkan_create", hs_vulkan_create(sort, &device, sorter, &code), code);
}

const char *hn_sorter(const char *target, const char *algorithm, const char *key, const char *value)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 0};
    VkDescriptorPoolCreateInfo pool;
    const hs_sort *sort = NULL;
    const char *error;
    size_t i;
    if (!hn.device) return "no device is open";
    hn.sorted = 0;
    for (i = 0; i < hs_targets_count && !sort; i++)
        if (strcmp(hs_targets[i]->name, target) == 0) sort = hs_find(hs_targets[i], algorithm, key, value);
    if (!sort) return hn_fail("the bundle has no sort %s/%s_%s of values %s", target, algorithm, key, value);
    hs_vulkan_release(hn.sorter);
    hn.sorter = NULL;
    vk.DestroyDescriptorPool(hn.device, hn.sets, NULL);
    hn.sets = VK_NULL_HANDLE;
    memset(&pool, 0, sizeof pool);
    error = hn_create(sort, &hn.sorter);
    if (error) return error;
    pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    hs_vulkan_descriptors(hn.sorter, &pool.maxSets, &size.descriptorCount);
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    return hn_code("vkCreateDescriptorPool", vk.CreateDescriptorPool(hn.device, &pool, NULL, &hn.sets));
}

const char *hn_buffer(int slot, uint64_t bytes)
{
    if (!hn.device) return "no device is open";
    return slot >= 0 && slot < HN_SLOTS ? hn_make(&hn.buffers[slot], bytes, 0) : "there is no such buffer";
}

static void hn_barrier(VkPipelineStageFlags to, VkAccessFlags accesses)
{
    VkMemoryBarrier barrier;
    memset(&barrier, 0, sizeof barrier);
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = hn_accesses;
    barrier.dstAccessMask = accesses;
    vk.CmdPipelineBarrier(hn.commands, hn_stages, to, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static const char *hn_begin(void)
{
    VkCommandBufferBeginInfo begin;
    memset(&begin, 0, sizeof begin);
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    return hn_code("vkBeginCommandBuffer", vk.BeginCommandBuffer(hn.commands, &begin));
}

/* End the command buffer, submit it and wait. */
static const char *hn_finish(void)
{
    VkSubmitInfo submit;
    VkResult code;
    memset(&submit, 0, sizeof submit);
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &hn.commands;
    code = vk.EndCommandBuffer(hn.commands);
    if (!code) code = vk.ResetFences(hn.device, 1, &hn.fence);
    if (!code) code = vk.QueueSubmit(hn.queue, 1, &submit, hn.fence);
    if (!code) code = vk.WaitForFences(hn.device, 1, &hn.fence, VK_TRUE, UINT64_MAX);
    return hn_code("running commands", code);
}

static void hn_tick(uint32_t which)
{
    if (!hn.queries) return;
    if (which == 0) vk.CmdResetQueryPool(hn.commands, hn.queries, 0, 2);
    vk.CmdWriteTimestamp(hn.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, hn.queries, which);
}

static const char *hn_seconds(double *seconds)
{
    uint64_t ticks[2];
    VkResult code;
    *seconds = -1;
    if (!hn.queries) return NULL;
    code = vk.GetQueryPoolResults(hn.device, hn.queries, 0, 2, sizeof ticks, ticks, sizeof ticks[0],
                                  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (!code) *seconds = (double)((ticks[1] - ticks[0]) & hn.tick_mask) * hn.tick_seconds;
    return hn_code("vkGetQueryPoolResults", code);
}

/* Copy between a buffer and the host, through the staging buffer, piece by piece. */
static const char *hn_move(const hn_memory *memory, uint64_t offset, const void *from, void *to, uint64_t bytes)
{
    const char *error = NULL;
    uint64_t done, part;
    if (!memory->buffer) return "there is no such buffer";
    if (offset > memory->bytes || bytes > memory->bytes - offset) return "beyond the end of the buffer";
    for (done = 0; !error && done < bytes; done += part) {
        VkBufferCopy copy = {0, 0, 0};
        part = bytes - done < hn_staging ? bytes - done : hn_staging;
        copy.size = part;
        error = hn_begin();
        if (error) return error;
        hn_barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
        if (from) {
            memcpy(hn.staging.mapped, (const char *)from + done, (size_t)part);
            copy.dstOffset = offset + done;
            vk.CmdCopyBuffer(hn.commands, hn.staging.buffer, memory->buffer, 1, &copy);
        } else {
            copy.srcOffset = offset + done;
            vk.CmdCopyBuffer(hn.commands, memory->buffer, hn.staging.buffer, 1, &copy);
            hn_barrier(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        }
        error = hn_finish();
        if (!error && to) memcpy((char *)to + done, hn.staging.mapped, (size_t)part);
    }
    return error;
}

static int hn_is_slot(int slot) { return slot >= 0 && slot < HN_SLOTS; }

const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes)
{
    return hn_is_slot(slot) ? hn_move(&hn.buffers[slot], offset, data, NULL, bytes) : "there is no such buffer";
}

static const char *hn_check_guard(void)
{
    static unsigned char guard[HN_GUARD];
    const char *error;
    if (!hn.unchecked) return NULL;
    hn.unchecked = 0;
    error = hn_move(&hn.scratch, hn.scratch.bytes - HN_GUARD, NULL, guard, HN_GUARD);
    return error || hn_whole(guard) ? error : HN_OVERWRITTEN;
}

const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes)
{
    const char *error = hn_check_guard();
    if (error) return error;
    return hn_is_slot(slot) ? hn_move(&hn.buffers[slot], offset, NULL, data, bytes) : "there is no such buffer";
}

const char *hn_outcome(uint32_t *redone)
{
    const hs_sort *sort = hs_vulkan_sort_of(hn.sorter);
    uint32_t words[256];
    uint64_t offset = 0, bytes = 0;
    hs_status status;
    const char *error = hn_check_guard();
    if (!error) error = hn_status("hs_device_status_at", hs_device_status_at(sort, hn.sorted, &offset, &bytes), VK_SUCCESS);
    if (!error && bytes > sizeof words) error = "more words of an outcome than there is room for";
    if (!error && bytes) error = hn_move(&hn.scratch, offset, NULL, words, bytes);
    if (error) return error;
    status = hs_device_status(sort, words, bytes, redone);
    return status == HS_ERROR_SEGMENTS ? NULL : hn_status("hs_device_status", status, VK_SUCCESS);
}

/* Scratch of just so many bytes, in whole words, with a guard behind. */
static const char *hn_prepare(uint64_t bytes)
{
    const uint64_t whole = (bytes + 3) / 4 * 4;
    const int fresh = !hn.scratch.buffer || hn.scratch.bytes != whole + HN_GUARD;
    const char *error = fresh ? hn_check_guard() : NULL;
    if (!error && fresh) error = hn_make(&hn.scratch, whole + HN_GUARD, 0);
    if (!error && (fresh || hn.poison)) {
        error = hn_begin();
        if (error) return error;
        hn_barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
        vk.CmdFillBuffer(hn.commands, hn.scratch.buffer, 0, whole, HN_POISON_BYTE * 0x01010101u);
        if (fresh) vk.CmdFillBuffer(hn.commands, hn.scratch.buffer, whole, HN_GUARD, HN_GUARD_BYTE * 0x01010101u);
        error = hn_finish();
    }
    hn.unchecked = !error;
    return error;
}

/* The part of a buffer from the place of a role to its end; nothing where the role is not played. */
static hs_vulkan_buffer hn_part(const hn_call *call, int role)
{
    hs_vulkan_buffer part;
    const hn_memory *memory;
    memset(&part, 0, sizeof part);
    if (!hn_plays(call, role)) return part;
    memory = &hn.buffers[call->slots[role]];
    part.offset = call->offsets[role];
    part.buffer = memory->buffer;
    part.size = memory->bytes > part.offset ? memory->bytes - part.offset : 0;
    part.address = memory->address;
    return part;
}

const char *hn_sort(const hn_call *call, double *device_seconds)
{
    static const char *const names[] = HN_NAMES("vulkan", "");
    const hs_sort *sort = hs_vulkan_sort_of(hn.sorter);
    any_args args;
    const char *error;
    uint64_t scratch = 0;
    VkResult code = VK_SUCCESS;
    hs_status status;
    if (!sort) return "no sort is ready";
    memset(&args, 0, sizeof args);
    args.n = call->n;
    args.parts = call->parts;
    args.options.type = (hs_type)call->type;
    args.options.descending = call->descending;
    args.options.begin_bit = call->begin_bit;
    args.options.end_bit = call->end_bit;
    args.options.discard_keys = call->discard_keys;
    error = hn_status("hs_scratch_with", hs_scratch_with(sort, call->n, &args.options, &scratch), code);
    if (!error && scratch) error = hn_prepare(scratch);
    if (!error) error = hn_code("vkResetDescriptorPool", vk.ResetDescriptorPool(hn.device, hn.sets, 0));
    if (!error) error = hn_begin();
    if (error) return error;
    hn.sorted = call->n;
    args.source = hn_part(call, HS_SOURCE);
    args.destination = hn_part(call, HS_DESTINATION);
    args.values = hn_part(call, HS_VALUES);
    args.values_destination = hn_part(call, HS_VALUES_OUT);
    args.count = hn_part(call, HS_COUNT);
    args.other = hn_part(call, HS_OTHER_INPUT);
    args.other_values = hn_part(call, HS_OTHER_VALUES);
    args.report = hn_part(call, HS_REPORT);
    args.scratch.buffer = hn.scratch.buffer;
    args.scratch.size = scratch;
    args.scratch.address = hn.scratch.address;
    args.pool = hn.sets;
    args.stages = hn_stages;
    args.accesses = hn_accesses;
    hn_tick(0);
    status = any_entries[sort->kind](hn.sorter, hn.commands, &args, &code);
    error = hn_status(names[sort->kind], status, code);
    hn_tick(1);
    if (error) return error; /* the next hn_begin resets what was recorded */
    error = hn_finish();
    return error ? error : hn_seconds(device_seconds);
}

const char *hn_clock(int on)
{
    (void)on; /* timestamps are always written */
    return NULL;
}

const char *hn_room(uint64_t *total, uint64_t *largest)
{
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t i;
    *total = *largest = 0;
    if (!hn.device) return "no device is open";
    vk.GetPhysicalDeviceMemoryProperties(hn.physical, &memory);
    for (i = 0; i < memory.memoryHeapCount; i++)
        if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && memory.memoryHeaps[i].size > *total)
            *total = memory.memoryHeaps[i].size;
    return NULL;
}

/* A copy as a "sort" of 16-byte keys whose only kernel copies them. */
static const hs_kernel hn_copy_kernels[] = {{"copy", 256, 1, 0, 2, 0, 0, 0}};
static const hs_spirv hn_copy_spirv[] = {{hn_copy_words, sizeof hn_copy_words}};
static const hs_step hn_copy_steps[] = {
    {0, {0, 1u << 30, HS_ANYWHERE, HS_ANY_BITS, 0}, {HS_BY_N, 255, 256, 1, 1u << 30}, {HS_LITERAL, 0, 0, 0},
     {{HS_SOURCE, 0, 0}, {HS_DESTINATION, 0, 0}}}};
static const hs_sort hn_copy_sort = {
    "harness", "copy", "16 bytes", "none", HS_SORT, 1, 16, 0, 0, 128, 0, 0, 0, 0, 256, 0, 65535, 1, 1,
    hn_copy_kernels, hn_copy_steps, 1u << 30,
    {0, 0, 0, 1, 0, 0}, {{HS_SCRATCH, 0, 0}, 0, 0}, NULL, 0, hn_copy_spirv, NULL, 11};

const char *hn_copy(uint64_t bytes, double *device_seconds)
{
    any_args args;
    VkBufferCopy whole = {0, 0, 0};
    const char *error = NULL;
    VkResult code = VK_SUCCESS;
    hs_status status;
    if (bytes == 0 || bytes > hn.buffers[0].bytes || bytes > hn.buffers[1].bytes) return "the buffers are smaller";
    if (!hn.sorter) return "no sort is ready"; /* its descriptor pool is used */
    if (!hn.copier) error = hn_create(&hn_copy_sort, &hn.copier);
    if (!error) error = hn_code("vkResetDescriptorPool", vk.ResetDescriptorPool(hn.device, hn.sets, 0));
    if (!error) error = hn_begin();
    if (error) return error;
    memset(&args, 0, sizeof args);
    args.n = bytes / 16;
    args.source.buffer = hn.buffers[0].buffer;
    args.destination.buffer = hn.buffers[1].buffer;
    args.source.size = args.destination.size = whole.size = bytes;
    args.pool = hn.sets;
    args.stages = hn_stages;
    args.accesses = hn_accesses;
    hn_tick(0);
    status = any_sort(hn.copier, hn.commands, &args, &code);
    if (status == HS_ERROR_DEVICE) { /* more than one binding takes */
        hn_barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
        vk.CmdCopyBuffer(hn.commands, hn.buffers[0].buffer, hn.buffers[1].buffer, 1, &whole);
        status = HS_OK;
    }
    hn_tick(1);
    error = hn_status("hs_vulkan_sort", status, code);
    if (!error) error = hn_finish();
    return error ? error : hn_seconds(device_seconds);
}
