/* An allocator to preload that checks every block, and guard pages around the text and the options of OpenCL programs.
 *
 * Each block has a mark before it and one after it.  A freed block is filled, kept for a while, and checked when it is
 * given back.  A wrong mark or byte is one line on stderr that begins with "HEAP" and names who allocated the block.
 * The text of a program and its options end where a page without access begins, and are gone after the call.
 * gcc -O2 -fPIC -shared heap_checked.c -o heap_checked.so -ldl -lpthread
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

#define LIVE 0xC0FFEE1234567890ull
#define DEAD 0xDEADBEEF0BADF00Dull
enum { AFTER = 16, MARK = 0xA5, FILL = 0xFD, FILLED = 256, KEPT = 1 << 20, KEPT_BYTES = 128 << 20, ROW = 96 };

typedef struct {
    uint64_t state;
    size_t size;
    void *base, *who, *freed_by;
    uint64_t end;
} Head;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Head *kept[KEPT];
static size_t newest, oldest, kept_bytes;
static long texts, options;

static const char *module(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
}

static void say(const char *what, const Head *head, size_t at)
{
    char line[600];
    int n = snprintf(line, sizeof line, "HEAP %s: %zu bytes, at byte %zu; allocated by %s %p, freed by %s\n", what,
                     head->size, at, module(head->who), head->who, head->freed_by ? module(head->freed_by) : "none");
    if (n > 0 && write(2, line, (size_t)n) < 0) abort();
}

static void *make(size_t size, size_t alignment, void *who)
{
    if (alignment < 16) alignment = 16;
    size_t before = (sizeof(Head) + alignment - 1) / alignment * alignment;
    if (size > SIZE_MAX / 2 - before) return errno = ENOMEM, NULL;
    size_t all = before + size + AFTER;
    char *base = alignment == 16 ? __libc_malloc(all) : __libc_memalign(alignment, all);
    if (!base) return NULL;
    *((Head *)(base + before) - 1) = (Head){LIVE, size, base, who, NULL, LIVE};
    memset(base + before + size, MARK, AFTER);
    return base + before;
}

static void check(const Head *head, const char *what)
{
    const unsigned char *bytes = (const unsigned char *)(head + 1);
    for (size_t i = head->size; i < head->size + AFTER; i++)
        if (bytes[i] != MARK) { say(what, head, i); return; }
}

static void give_back(Head *head)
{
    const unsigned char *bytes = (const unsigned char *)(head + 1);
    if (head->state != DEAD || head->end != LIVE) say("write before a freed block", head, 0);
    else {
        check(head, "write behind a freed block");
        for (size_t i = 0; i < head->size && i < FILLED; i++)
            if (bytes[i] != FILL) { say("write to a freed block", head, i); break; }
    }
    __libc_free(head->base);
}

static void drop(void *block, void *who)
{
    if (!block) return;
    Head *head = (Head *)block - 1;
    if (head->state == DEAD) { say("block freed twice", head, 0); return; }
    if (head->state != LIVE || head->end != LIVE) { say("write before a block, or no block", head, 0); return; }
    check(head, "write behind a block");
    head->state = DEAD, head->freed_by = who;
    memset(block, FILL, head->size < FILLED ? head->size : FILLED);
    pthread_mutex_lock(&lock);
    kept[newest++ % KEPT] = head, kept_bytes += head->size + ROW;
    while (kept_bytes > KEPT_BYTES || newest - oldest >= KEPT) {
        Head *last = kept[oldest++ % KEPT];
        kept_bytes -= last->size + ROW;
        give_back(last);
    }
    pthread_mutex_unlock(&lock);
}

#define WHO __builtin_return_address(0)
void *malloc(size_t size) { return make(size, 16, WHO); }
void free(void *block) { drop(block, WHO); }
void *memalign(size_t alignment, size_t size) { return make(size, alignment, WHO); }
void *aligned_alloc(size_t alignment, size_t size) { return make(size, alignment, WHO); }
size_t malloc_usable_size(void *block) { return block ? ((Head *)block - 1)->size : 0; }

int posix_memalign(void **to, size_t alignment, size_t size)
{
    void *block = make(size, alignment, WHO);
    return block ? (*to = block, 0) : ENOMEM;
}

void *calloc(size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) return errno = ENOMEM, NULL;
    void *block = make(all, 16, WHO);
    return block ? memset(block, 0, all) : NULL;
}

void *realloc(void *block, size_t size)
{
    if (block && !size) return drop(block, WHO), NULL;
    void *made = make(size, 16, WHO);
    if (!block || !made) return made;
    size_t before = ((Head *)block - 1)->size;
    memcpy(made, block, before < size ? before : size);
    return drop(block, WHO), made;
}

/* The loader of OpenCL is no library of the whole process, so the next function of a name is not found. */
static int is_loader(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    if (!strstr(info->dlpi_name, "libOpenCL")) return 0;
    snprintf(path, 512, "%s", info->dlpi_name);
    return 1;
}

static void *real(const char *name)
{
    char path[512] = "";
    dl_iterate_phdr(is_loader, path);
    void *loader = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *found = loader ? dlsym(loader, name) : NULL;
    if (!found) abort();
    return found;
}

static const char *guarded(const char *text, size_t size, void **pages, size_t *bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    char *all = mmap(NULL, *bytes = room + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) abort();
    memcpy(all + page + room - size, text, size);
    mprotect(all, page, PROT_NONE), mprotect(all + page, room, PROT_READ);
    mprotect(all + page + room, page, PROT_NONE);
    return *pages = all, all + page + room - size;
}

void *clCreateProgramWithSource(void *context, unsigned count, const char **text, const size_t *sizes, int *status)
{
    typedef void *Create(void *, unsigned, const char **, const size_t *, int *);
    Create *create = (Create *)real("clCreateProgramWithSource");
    if (count != 1) return create(context, count, text, sizes, status);
    size_t bytes;
    void *pages;
    const char *copy = guarded(*text, sizes && *sizes ? *sizes : strlen(*text) + 1, &pages, &bytes);
    void *made = create(context, 1, &copy, sizes, status);
    texts++, munmap(pages, bytes);
    return made;
}

int clBuildProgram(void *program, unsigned count, void *const *devices, const char *given, void *done, void *data)
{
    typedef int Build(void *, unsigned, void *const *, const char *, void *, void *);
    Build *build = (Build *)real("clBuildProgram");
    if (!given) return build(program, count, devices, given, done, data);
    size_t bytes;
    void *pages;
    const char *copy = guarded(given, strlen(given) + 1, &pages, &bytes);
    int status = build(program, count, devices, copy, done, data);
    options++, munmap(pages, bytes);
    return status;
}

__attribute__((destructor)) static void end(void)
{
    char line[100];
    pthread_mutex_lock(&lock);
    while (oldest < newest) give_back(kept[oldest++ % KEPT]);
    pthread_mutex_unlock(&lock);
    int n = snprintf(line, sizeof line, "CHECKED %ld texts, %ld options\n", texts, options);
    if (n > 0 && write(2, line, (size_t)n) < 0) abort();
}
