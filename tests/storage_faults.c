/* Stands between a program and the C library, and has its writes to one folder fail.
 *
 * Loaded with LD_PRELOAD. Every call that changes or syncs a file of the folder is counted; the
 * chosen one ends the process before it, halfway through it, or finds the disk full. Nothing here
 * knows what the files hold.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum mode { COUNT = 0, KILL_BEFORE = 1, KILL_HALFWAY = 2, DISK_FULL = 3 };

static char folder[4096];
static char kinds[1 << 20]; /* w: a write, s: a sync, n: a change of a name or a length */
static volatile long calls = 0, chosen = 0;
static volatile int mode = COUNT;

void storage_faults_arm(const char *in_folder, int as_mode, long at_call) {
    strncpy(folder, in_folder, sizeof folder - 1);
    calls = 0;
    memset(kinds, 0, sizeof kinds);
    chosen = at_call;
    mode = as_mode;
}

/* One letter for each call since it was armed. */
const char *storage_faults_kinds(void) { return kinds; }

static int is_ours(const char *path) {
    size_t length = strlen(folder);
    return length > 0 && strncmp(path, folder, length) == 0;
}

static int is_our_file(int descriptor) {
    char link[64], path[4096];
    if (folder[0] == 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_ours(path);
}

/* Whether this call is to fail; it does not return where the process is to end before it. */
static int counted(char kind) {
    long call = __sync_add_and_fetch(&calls, 1);
    if (call < (long)sizeof kinds) kinds[call - 1] = kind;
    if (mode == KILL_BEFORE && call == chosen) kill(getpid(), SIGKILL);
    return mode == DISK_FULL && call >= chosen;
}

static int is_halfway(void) { return mode == KILL_HALFWAY && calls == chosen; }

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__) = NULL; \
    if (real == NULL) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name);

static int full(void) { errno = ENOSPC; return -1; }

static ssize_t writing(ssize_t (*real)(int, const void *, size_t, off_t), int file,
                       const void *bytes, size_t count, off_t offset) {
    if (is_our_file(file)) {
        if (counted('w')) {
            /* A disk has room for some of it, and then for nothing. */
            if (calls == chosen && count > 1) return real(file, bytes, count / 2, offset);
            return full();
        }
        if (is_halfway()) {
            real(file, bytes, count / 2, offset);
            kill(getpid(), SIGKILL);
        }
    }
    return real(file, bytes, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)
    return writing(real, file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t)
    return writing(real, file, bytes, count, offset);
}

ssize_t write(int file, const void *bytes, size_t count) {
    REAL(ssize_t, "write", int, const void *, size_t)
    if (is_our_file(file)) {
        if (counted('w')) return full();
        if (is_halfway()) { real(file, bytes, count / 2); kill(getpid(), SIGKILL); }
    }
    return real(file, bytes, count);
}

int fsync(int file) {
    REAL(int, "fsync", int)
    if (is_our_file(file) && counted('s')) return full();
    return real(file);
}

int fdatasync(int file) {
    REAL(int, "fdatasync", int)
    if (is_our_file(file) && counted('s')) return full();
    return real(file);
}

int ftruncate(int file, off_t length) {
    REAL(int, "ftruncate", int, off_t)
    if (is_our_file(file) && counted('n')) return full();
    return real(file, length);
}

int ftruncate64(int file, off_t length) {
    REAL(int, "ftruncate64", int, off_t)
    if (is_our_file(file) && counted('n')) return full();
    return real(file, length);
}

int truncate(const char *path, off_t length) {
    REAL(int, "truncate", const char *, off_t)
    if (is_ours(path) && counted('n')) return full();
    return real(path, length);
}

/* Names can be changed and removed on a full disk; here a process may only end before it. */
int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *)
    if (is_ours(from)) counted('n');
    return real(from, to);
}

int link(const char *from, const char *to) {
    REAL(int, "link", const char *, const char *)
    if (is_ours(from)) counted('n');
    return real(from, to);
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *)
    if (is_ours(path)) counted('n');
    return real(path);
}

int remove(const char *path) {
    REAL(int, "remove", const char *)
    if (is_ours(path)) counted('n');
    return real(path);
}
