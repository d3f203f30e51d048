// Descriptors of any kind: whether one is ready, another number for it, and its end.
#include "addon.h"
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

// poll(table, count, timeoutMs): how many are ready. An Int32Array of three words each: descriptor, what is asked, what is answered, as
// in poll(2). Blocks the thread, for BLOCK_MS_MAX at most. A thread that waits for descriptors sleeps here.
static napi_value poll_table(napi_env env, napi_callback_info info) {
  napi_value values[3];
  int32_t *table;
  size_t length;
  int64_t count;
  double ms;
  struct pollfd polled[DESCRIPTORS_MAX];
  if (arguments(env, info, 3, values) == NULL || !ints_argument(env, values[0], "table", &table, &length)) return NULL;
  const double most = length / 3 < DESCRIPTORS_MAX ? (double)(length / 3) : DESCRIPTORS_MAX;
  if (!int_argument(env, values[1], "count", 0, most, &count)) return NULL;
  if (!number_argument(env, values[2], "timeoutMs", 0, BLOCK_MS_MAX, &ms)) return NULL;
  for (int64_t i = 0; i < count; i++)
    polled[i] = (struct pollfd){.fd = table[3 * i], .events = (short)table[3 * i + 1]};
  const int ready = poll(polled, (nfds_t)count, (int)ms);
  if (ready < 0 && errno != EINTR) return throw_errno(env, "poll", errno);
  for (int64_t i = 0; i < count; i++) table[3 * i + 2] = ready < 0 ? 0 : polled[i].revents;
  return int_value(env, ready < 0 ? 0 : ready);
}

// duplicate(descriptor): another one for the same, close-on-exec.
static napi_value duplicate(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  if (arguments(env, info, 1, values) == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  const int other = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return other < 0 ? throw_errno(env, "fcntl", errno) : int_value(env, other);
}

// keep(descriptor): closes it with this environment, if `close` was not called before. A worker that is terminated runs no JavaScript any
// more, and whoever is at the other end waits for that.
static napi_value keep(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  Instance *instance = arguments(env, info, 1, values);
  if (instance == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  if (instance->kept_count == instance->kept_room) {
    const uint32_t room = instance->kept_room == 0 ? 8 : instance->kept_room * 2;
    int *kept = realloc(instance->kept, room * sizeof *kept);
    if (kept == NULL) return throw_errno(env, "realloc", ENOMEM);
    instance->kept = kept;
    instance->kept_room = room;
  }
  instance->kept[instance->kept_count++] = fd;
  return undefined_value(env);
}

static void let_go(Instance *instance, int fd) {
  for (uint32_t i = 0; i < instance->kept_count; i++) {
    if (instance->kept[i] != fd) continue;
    instance->kept[i] = instance->kept[--instance->kept_count];
    return;
  }
}

void descriptor_end(Instance *instance) {
  for (uint32_t i = 0; i < instance->kept_count; i++) close(instance->kept[i]);
  free(instance->kept);
  instance->kept = NULL;
  instance->kept_count = instance->kept_room = 0;
}

// close(descriptor). It is closed whatever close(2) answers, unless there was none.
static napi_value close_descriptor(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  Instance *instance = arguments(env, info, 1, values);
  if (instance == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  let_go(instance, fd);
  return close(fd) != 0 && errno == EBADF ? throw_errno(env, "close", errno) : undefined_value(env);
}

bool descriptor_init(napi_env env, napi_value exports, Instance *instance) {
  const Export list[] = {
      {"poll", poll_table}, {"duplicate", duplicate}, {"close", close_descriptor}, {"keep", keep},
  };
  return EXPORT_ALL(env, exports, instance, list);
}
