// A bell wakes an event loop in another process: an eventfd, which both have a descriptor of. Who sleeps watches it (loop.c). A system that has none
// says ENOTSUP, and that nothing is one.
//
// The descriptor's flags belong to both, too. So nothing here trusts O_NONBLOCK for reading. Writing blocks only if the other side
// has taken the flag away and filled the counter, which no flag of a call can prevent: a bell is rung for peers of the same user,
// who could stop this process by a signal as well. Whoever wants to trust less rings by a byte on a socket (socket.c), which can't block.
#include "system.h"
#include <unistd.h>

// createBell(): its descriptor.
static napi_value create_bell(napi_env env, napi_callback_info info) {
  if (arguments(env, info, 0, NULL) == NULL) return NULL;
  const int fd = system_bell();
  return fd < 0 ? throw_errno(env, "eventfd", errno) : int_value(env, fd);
}

// isBell(descriptor): to be asked once of each bell that came from elsewhere. Ringing what is a file would write into it.
static napi_value is_bell(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  if (arguments(env, info, 1, values) == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  return bool_value(env, system_is_bell(fd));
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
  const int rung = system_drain(fd);
  return rung < 0 ? throw_errno(env, "preadv2", errno) : bool_value(env, rung == 1);
}

bool bell_init(napi_env env, napi_value exports, Instance *instance) {
  const Export list[] = {{"createBell", create_bell}, {"isBell", is_bell}, {"ring", ring}, {"drain", drain}};
  return EXPORT_ALL(env, exports, instance, list);
}
