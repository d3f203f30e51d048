// A bell wakes an event loop in another process: an eventfd, which both have a descriptor of. Who sleeps watches it (loop.c).
//
// The descriptor's flags belong to both, too. So nothing here trusts O_NONBLOCK for reading. Writing blocks only if the other side
// has taken the flag away and filled the counter, which no flag of a call can prevent: a bell is rung for peers of the same user,
// who could stop this process by a signal as well. Whoever wants to trust less rings by a byte on a socket (socket.c), which can't block.
#include "addon.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

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

int bell_drain(int fd) {
  uint64_t count;
  if (read_counter(fd, &count) >= 0) return 1;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

// createBell(): its descriptor.
static napi_value create_bell(napi_env env, napi_callback_info info) {
  if (arguments(env, info, 0, NULL) == NULL) return NULL;
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd < 0 ? throw_errno(env, "eventfd", errno) : int_value(env, fd);
}

// isBell(descriptor): to be asked once of each bell that came from elsewhere. Ringing what is a file would write into it.
static napi_value is_bell(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  char path[40], target[40];
  if (arguments(env, info, 1, values) == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(path, target, sizeof target - 1);
  target[length < 0 ? 0 : length] = '\0';
  return bool_value(env, strcmp(target, "anon_inode:[eventfd]") == 0);
}

// ring(descriptor): a bell that is full has been rung. Once a wake-up: nothing is allocated.
static napi_value ring(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  const uint64_t one = 1;
  if (arguments(env, info, 1, values) == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  ssize_t length;
  do length = write(fd, &one, sizeof one);
  while (length < 0 && errno == EINTR);
  return length < 0 && errno != EAGAIN ? throw_errno(env, "write", errno) : undefined_value(env);
}

// drain(descriptor): whether it was rung since the last time.
static napi_value drain(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  if (arguments(env, info, 1, values) == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  const int rung = bell_drain(fd);
  return rung < 0 ? throw_errno(env, "preadv2", errno) : bool_value(env, rung == 1);
}

bool bell_init(napi_env env, napi_value exports, Instance *instance) {
  const Export list[] = {{"createBell", create_bell}, {"isBell", is_bell}, {"ring", ring}, {"drain", drain}};
  return EXPORT_ALL(env, exports, instance, list);
}
