// Linux: memfds with seals, futexes, eventfds, sockets whose names need no file.
#include "system.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define KIND (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

// Whether a page may be refused when it is touched first, which is a SIGBUS: where the system promises no more memory than it has
// (vm.overcommit_memory 2). Otherwise a page comes until there are none at all, which ends processes whatever they have asked for.
static bool pages_may_be_refused(void) {
  char mode = '2';
  const int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  if (read(fd, &mode, 1) != 1) mode = '2';
  close(fd);
  return mode == '2';
}

int system_memory(int64_t bytes, const char **call) {
  *call = "memfd_create";
  int fd = memfd_create("millrace", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  // Kernels before 6.3 don't know the last one.
  if (fd < 0 && errno == EINVAL) fd = memfd_create("millrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;

  *call = "ftruncate";
  int failed = ftruncate(fd, bytes);
  if (failed == 0 && pages_may_be_refused()) {
    *call = "fallocate";
    do failed = fallocate(fd, 0, 0, bytes);
    while (failed != 0 && errno == EINTR);
  }
  if (failed == 0) {
    *call = "fcntl";
    failed = fcntl(fd, F_ADD_SEALS, SEALS);
  }
  if (failed == 0) return fd;
  const int number = errno;
  close(fd);
  errno = number;
  return -1;
}

// Seals before size: once sealed, the size is final.
int system_is_final(int fd, int64_t *bytes, const char **call) {
  struct stat stat;
  struct statfs system;
  *call = "fcntl";
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 && errno != EINVAL) return -1;
  *call = "fstatfs";
  if (fstatfs(fd, &system) != 0) return -1;
  *call = "fstat";
  if (fstat(fd, &stat) != 0) return -1;
  *bytes = stat.st_size;
  // Huge pages can be sealed as well, but a page that is punched out may be missing for ever, which is a SIGBUS.
  return seals >= 0 && (seals & SEALS) == SEALS && system.f_type == TMPFS_MAGIC && S_ISREG(stat.st_mode);
}

int64_t system_rounded(int64_t bytes) { return bytes; }

// The futex is not PRIVATE: whoever has the page mapped, wherever, wakes here.
int system_wait(int32_t *word, uint32_t expected, double ms) {
  const struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)((ms - 1000 * (double)(time_t)(ms / 1000)) * 1e6)};
  if (syscall(SYS_futex, word, FUTEX_WAIT, expected, &time, NULL, 0) == 0) return 0;
  switch (errno) {
    case EINTR: return 0;
    case EAGAIN: return 1;
    case ETIMEDOUT: return 2;
    default: return -1;
  }
}

int system_wake(int32_t *word, int count) { return (int)syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0); }

int system_bell(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

bool system_is_bell(int fd) {
  char path[40], target[40];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(path, target, sizeof target - 1);
  target[length < 0 ? 0 : length] = '\0';
  return strcmp(target, "anon_inode:[eventfd]") == 0;
}

// Kernels before 5.8 can't be told in a call not to wait.
static ssize_t read_counter(int fd, uint64_t *count) {
  const struct iovec vector = {.iov_base = count, .iov_len = sizeof *count};
  const ssize_t length = syscall(SYS_preadv2, fd, &vector, 1, -1L, -1L, RWF_NOWAIT);
  if (length >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS)) return length;
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  if (poll(&ready, 1, 0) == 1) return read(fd, count, sizeof *count);
  errno = EAGAIN;
  return -1;
}

int system_drain(int fd) {
  uint64_t count;
  if (read_counter(fd, &count) >= 0) return 1;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

// Whoever made the epoll finds what it has registered by what it wrote beside it. Nobody promises what that is: the kernel tells it, and it is written again.
bool system_edge(int epoll, int fd) {
  char path[40], line[200];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", epoll);
  FILE *info = fopen(path, "re");
  bool changed = false;
  if (info == NULL) return false;
  while (!changed && fgets(line, sizeof line, info) != NULL) {
    int found;
    unsigned events;
    unsigned long long data;
    if (sscanf(line, "tfd: %d events: %x data: %llx", &found, &events, &data) != 3 || found != fd) continue;
    struct epoll_event event = {.events = events | EPOLLET, .data = {.u64 = data}};
    changed = epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0;
    break;
  }
  fclose(info);
  return changed;
}

const bool system_has_names = true;
const int system_send_flags = MSG_DONTWAIT | MSG_NOSIGNAL;
const int system_receive_flags = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;
const int system_look_flag = MSG_PEEK;

int system_socket(void) { return socket(AF_UNIX, KIND, 0); }
int system_socket_pair(int pair[2]) { return socketpair(AF_UNIX, KIND, 0, pair); }
int system_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }
void system_came(int fd) { (void)fd; }

int system_listen(int fd, const struct sockaddr *address, socklen_t size, int backlog, const char **call) {
  // Before it is bound: Linux makes the file with the mode of the socket, so there is no moment in which others may connect.
  *call = "fchmod";
  if (fchmod(fd, S_IRUSR | S_IWUSR) != 0) return -1;
  *call = "bind";
  if (bind(fd, address, size) != 0) return -1;
  *call = "listen";
  return listen(fd, backlog);
}

int system_peer(int fd, int64_t *pid, int64_t *uid, int64_t *gid) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
  *pid = peer.pid;
  *uid = peer.uid;
  *gid = peer.gid;
  return 0;
}
