// macOS: shared memory whose name is gone before anybody can open it, the system's own wait on a word, sockets. Compiled, and not yet run: docs/decisions/0051.
//
// What differs: a bell is a byte on a socket; an address is a file; nothing is sealed, since what shm_open made takes a size once, from then on
// EINVAL; but only such memory is mapped, because a file could be cut off under us (M1 in memory.c).
#include "system.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <libproc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// The wait on a word that libc++ and Rust's standard library rest on; the public one, os_sync_wait_on_address, came with macOS 14.4. SHARED: by the page, not
// by the address in this process.
#define COMPARE_AND_WAIT_SHARED 3
#define WAKE_ALL 0x100
#define NO_ERRNO 0x01000000
int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t timeout_us);
int __ulock_wake(uint32_t operation, void *address, uint64_t value);

// Names that are taken are passed over, so many times.
#define NAMES_MAX 16

// Never unloaded: a thread that loaded it alone may end before its last buffer is finalized. (On Linux the linker is told.)
__attribute__((constructor)) static void stay(void) {
  Dl_info own;
  if (dladdr((const void *)stay, &own) != 0) dlopen(own.dli_fname, RTLD_LAZY | RTLD_NODELETE);
}

static int failed_with(int fd) {
  const int number = errno;
  close(fd);
  errno = number;
  return -1;
}

int system_memory(int64_t bytes, const char **call) {
  char name[32];
  int fd = -1;
  *call = "shm_open";
  for (int i = 0; fd < 0 && i < NAMES_MAX; i++) {
    snprintf(name, sizeof name, "/millrace-%08x%08x", arc4random(), arc4random());
    fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
    if (fd < 0 && errno != EEXIST) return -1;
  }
  if (fd < 0) return -1;
  // From here on it goes with its last descriptor and mapping. (Always close-on-exec.)
  shm_unlink(name);
  *call = "ftruncate";
  return ftruncate(fd, bytes) == 0 ? fd : failed_with(fd);
}

int system_is_final(int fd, int64_t *bytes, const char **call) {
  struct pshm_fdinfo memory;
  struct stat stat;
  *call = "fstat";
  if (fstat(fd, &stat) != 0) return -1;
  *bytes = stat.st_size;
  // Answers for what shm_open made, and for nothing else. What has no size yet could be given another one.
  const int length = proc_pidfdinfo(getpid(), fd, PROC_PIDFDPSHMINFO, &memory, sizeof memory);
  return length == (int)sizeof memory && stat.st_size > 0;
}

int64_t system_rounded(int64_t bytes) {
  const int64_t page = getpagesize();
  return (bytes + page - 1) / page * page;
}

int system_wait(int32_t *word, uint32_t expected, double ms) {
  // No time at all would mean for ever.
  const uint32_t us = ms * 1000 < 1 ? 1 : (uint32_t)(ms * 1000);
  if (__atomic_load_n((uint32_t *)word, __ATOMIC_ACQUIRE) != expected) return 1;
  const int answer = __ulock_wait(COMPARE_AND_WAIT_SHARED | NO_ERRNO, word, expected, us);
  if (answer >= 0 || answer == -EINTR || answer == -EFAULT) return 0;
  if (answer == -ETIMEDOUT) return 2;
  errno = -answer;
  return -1;
}

int system_wake(int32_t *word, int count) {
  if (count == 0) return 0;
  const int answer = __ulock_wake(COMPARE_AND_WAIT_SHARED | NO_ERRNO | (count > 1 ? WAKE_ALL : 0), word, 0);
  if (answer >= 0) return 1;
  if (answer == -ENOENT) return 0;
  errno = -answer;
  return -1;
}

int system_bell(void) {
  errno = ENOTSUP;
  return -1;
}
bool system_is_bell(int fd) {
  (void)fd;
  return false;
}
int system_drain(int fd) {
  (void)fd;
  return system_bell();
}
bool system_edge(int epoll, int fd) {
  (void)epoll;
  (void)fd;
  return false;
}

const bool system_has_names = false;
const int system_send_flags = MSG_DONTWAIT;
const int system_receive_flags = MSG_DONTWAIT;
// MSG_PEEK copies what lies beside the bytes as it lies in the kernel, where it is no descriptor of anybody's.
const int system_look_flag = 0;

void system_came(int fd) {
  const int on = 1;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  // Of what is no socket it can't be asked, and need not.
  setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
}

static int as_ours(int fd) {
  if (fd < 0) return -1;
  system_came(fd);
  return fcntl(fd, F_SETFL, O_NONBLOCK) == 0 ? fd : failed_with(fd);
}

int system_socket(void) { return as_ours(socket(AF_UNIX, SOCK_STREAM, 0)); }
int system_accept(int listener) { return as_ours(accept(listener, NULL, NULL)); }

int system_socket_pair(int pair[2]) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -1;
  if (as_ours(pair[0]) < 0) return failed_with(pair[1]);
  return as_ours(pair[1]) < 0 ? failed_with(pair[0]) : 0;
}

int system_listen(int fd, const struct sockaddr *address, socklen_t size, int backlog, const char **call) {
  *call = "bind";
  if (bind(fd, address, size) != 0) return -1;
  // Nobody can connect before it listens.
  *call = "chmod";
  if (chmod(((const struct sockaddr_un *)address)->sun_path, S_IRUSR | S_IWUSR) != 0) return -1;
  *call = "listen";
  return listen(fd, backlog);
}

int system_peer(int fd, int64_t *pid, int64_t *uid, int64_t *gid) {
  uid_t user;
  gid_t group;
  pid_t process;
  socklen_t length = sizeof process;
  if (getpeereid(fd, &user, &group) != 0) return -1;
  if (getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &process, &length) != 0) return -1;
  *pid = process;
  *uid = user;
  *gid = group;
  return 0;
}
