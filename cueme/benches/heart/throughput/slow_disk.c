/* A disk that takes longer: preloaded, it lets each call that waits for the disk last five milliseconds more, and
 * adds a byte to the file that CUEME_BENCH_WAITS names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int waits = -1;

__attribute__((constructor)) static void open_waits(void) {
    const char *path = getenv("CUEME_BENCH_WAITS");
    if (path) waits = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static int last_longer(const char *name, int file) {
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    const struct timespec delay = {.tv_sec = 0, .tv_nsec = 5000000};
    int result = real(file);
    nanosleep(&delay, NULL);
    if (write(waits, ".", 1) != 1) abort();
    return result;
}

int fsync(int file) { return last_longer("fsync", file); }
int fdatasync(int file) { return last_longer("fdatasync", file); }
