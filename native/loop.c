// Descriptors on Node's event loop, by libuv's uv_poll. The only file that calls libuv, and it does so on Node alone: in Bun such a call
// ends the process, in Deno its end is a crash. Therefore, and because some linkers bind all names when a module is loaded, libuv is
// asked for by name, when the first watch is made.
//
//   P1. A watch has a duplicate of its descriptor, which it closes itself once libuv has let go of it. libuv calls abort() if a descriptor that it
//       is to watch has been closed, and watches a stranger if its number was given away again.
//   P2. No watch outlives its environment: when that ends (also by terminate() and process.exit()) all are closed, and it waits for it.
//   P3. A bell of which each ring is told by itself (EDGE) need not be drained. libuv knows no such watch: what it has registered with its epoll is
//       changed there (system_edge), once it has, which the first call says; libuv changes it back only when it is told to watch for something else.
#include "system.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// As in uv.h, which is not among what we build with. These have not changed since libuv 1.19.
typedef struct uv_loop uv_loop_t;
typedef void uv_handle;
#define UV_POLL 8
#define UV_READABLE 1
#define UV_WRITABLE 2

// What `watch` is asked, and what its function is told.
#define READABLE UV_READABLE
#define WRITABLE UV_WRITABLE
// Asked: the descriptor is a bell, and is drained before the function is called.
#define BELL 4
// Asked beside BELL: where the system can tell of each ring, it is not drained. Who else looks whether it was rung may drain it.
#define EDGE 16
// Told: something is wrong with the descriptor, and nothing more comes.
#define OVER 8

static struct {
  size_t (*handle_size)(int type);
  const char *(*handle_type_name)(int type);
  void *(*get_data)(const uv_handle *handle);
  void (*set_data)(uv_handle *handle, void *data);
  int (*init)(uv_loop_t *loop, uv_handle *poll, int fd);
  int (*start)(uv_handle *poll, int events, void (*called)(uv_handle *poll, int status, int events));
  int (*stop)(uv_handle *poll);
  void (*close)(uv_handle *handle, void (*closed)(uv_handle *handle));
  void (*ref)(uv_handle *handle);
  void (*unref)(uv_handle *handle);
  int (*backend)(const uv_loop_t *loop);
  napi_status (*event_loop)(node_api_basic_env env, uv_loop_t **loop);
  napi_status (*add_hook)(node_api_basic_env env, napi_async_cleanup_hook hook, void *data, napi_async_cleanup_hook_handle *handle);
  napi_status (*remove_hook)(napi_async_cleanup_hook_handle handle);
} uv;

typedef struct {
  Instance *instance;
  napi_env env;
  napi_ref function;
  int fd;
  int32_t number;
  bool drains;
  bool wants_edge;
  bool closing;
  // Its uv_poll_t, in place.
  max_align_t handle[];
} Watch;

static bool find(void *slot, const char *name) {
  void *found = dlsym(RTLD_DEFAULT, name);
  memcpy(slot, &found, sizeof found);
  return found != NULL;
}

// Whether this is a Node with a libuv as we know it. Two threads that ask at once find the same.
static bool find_libuv(napi_env env) {
  napi_value global, process, versions;
  bool bun = true, deno = true;
  if (napi_get_global(env, &global) != napi_ok || napi_get_named_property(env, global, "process", &process) != napi_ok ||
      napi_get_named_property(env, process, "versions", &versions) != napi_ok ||
      napi_has_named_property(env, versions, "bun", &bun) != napi_ok ||
      napi_has_named_property(env, versions, "deno", &deno) != napi_ok || bun || deno)
    return false;
  return find(&uv.handle_size, "uv_handle_size") && find(&uv.handle_type_name, "uv_handle_type_name") &&
         find(&uv.get_data, "uv_handle_get_data") && find(&uv.set_data, "uv_handle_set_data") &&
         find(&uv.init, "uv_poll_init") && find(&uv.start, "uv_poll_start") && find(&uv.stop, "uv_poll_stop") &&
         find(&uv.close, "uv_close") && find(&uv.ref, "uv_ref") && find(&uv.unref, "uv_unref") &&
         find(&uv.event_loop, "napi_get_uv_event_loop") && find(&uv.add_hook, "napi_add_async_cleanup_hook") &&
         find(&uv.remove_hook, "napi_remove_async_cleanup_hook") && strcmp(uv.handle_type_name(UV_POLL), "poll") == 0;
}

// Makes a watch tell of each ring by itself, from the next one on. What it cannot be made stays drained.
static void take_edge(Watch *watch) {
  uv_loop_t *loop;
  watch->wants_edge = false;
  if (find(&uv.backend, "uv_backend_fd") && uv.event_loop(watch->env, &loop) == napi_ok)
    watch->drains = !system_edge(uv.backend(loop), watch->fd);
}

// An environment that ends waits until its last watch is closed.
static void let_end(Instance *instance) {
  if (!instance->ending || instance->watches_open > 0 || instance->hook == NULL) return;
  napi_async_cleanup_hook_handle hook = instance->hook;
  instance->hook = NULL;
  uv.remove_hook(hook);
}

static void closed(uv_handle *handle) {
  Watch *watch = uv.get_data(handle);
  Instance *instance = watch->instance;
  close(watch->fd);
  if (watch->function != NULL) napi_delete_reference(watch->env, watch->function);
  free(watch);
  instance->watches_open--;
  let_end(instance);
  instance_drop(instance);
}

static void begin_close(Watch *watch) {
  if (watch->closing) return;
  watch->closing = true;
  table_remove(&watch->instance->watches, watch->number);
  uv.stop(watch->handle);
  uv.close(watch->handle, closed);
}

static void environment_ends(napi_async_cleanup_hook_handle hook, void *data) {
  Instance *instance = data;
  instance->hook = hook;
  instance->ending = true;
  for (uint32_t i = 0; i < instance->watches.count; i++) {
    if (instance->watches.items[i] != NULL) begin_close(instance->watches.items[i]);
  }
  let_end(instance);
}

static void called(uv_handle *handle, int status, int events) {
  Watch *watch = uv.get_data(handle);
  napi_env env = watch->env;
  napi_handle_scope scope;
  napi_value function, receiver, argument, error;
  bool pending = false;
  if (watch->closing) return;
  if (status == 0 && watch->drains) {
    const int rung = system_drain(watch->fd);
    // Somebody else has taken it.
    if (rung == 0) return;
    if (rung < 0) status = -1;
    else if (watch->wants_edge) take_edge(watch);
  }
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  // Asked again, a descriptor that is broken would answer so in every turn.
  if (status < 0) uv.stop(handle);
  if (napi_get_reference_value(env, watch->function, &function) == napi_ok &&
      napi_get_global(env, &receiver) == napi_ok &&
      napi_create_int32(env, status < 0 ? OVER : events & (READABLE | WRITABLE), &argument) == napi_ok) {
    // Runs what was promised meanwhile, too, as Node does behind every callback. What it throws is uncaught.
    napi_make_callback(env, NULL, receiver, function, 1, &argument, NULL);
    if (napi_is_exception_pending(env, &pending) == napi_ok && pending &&
        napi_get_and_clear_last_exception(env, &error) == napi_ok)
      napi_fatal_exception(env, error);
  }
  napi_close_handle_scope(env, scope);
}

static bool events_argument(napi_env env, napi_value value, int64_t *events) {
  if (!int_argument(env, value, "events", 0, READABLE | WRITABLE | BELL | EDGE, events)) return false;
  if (*events < BELL || (*events & ~EDGE) == (BELL | READABLE)) return true;
  throw_argument(env, "events", "READABLE for a bell");
  return false;
}

static int start(Watch *watch, int64_t events) {
  watch->drains = (events & BELL) != 0;
  watch->wants_edge = (events & EDGE) != 0;
  const int asked = (int)(events & (READABLE | WRITABLE));
  return asked == 0 ? uv.stop(watch->handle) : uv.start(watch->handle, asked, called);
}

// watch(descriptor, events, function): its number. It keeps the loop alive until it is closed or told not to.
static napi_value watch_descriptor(napi_env env, napi_callback_info info) {
  napi_value values[3];
  napi_valuetype type = napi_undefined;
  uv_loop_t *loop;
  int64_t events;
  int fd;
  Instance *instance = arguments(env, info, 3, values);
  if (instance == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  if (!events_argument(env, values[1], &events)) return NULL;
  if (napi_typeof(env, values[2], &type) != napi_ok || type != napi_function)
    return throw_argument(env, "called", "a function");
  if (!find_libuv(env)) return throw_code(env, "ERR_NO_EVENT_LOOP", "Only Node's event loop can watch a descriptor");
  if (instance->ending) return throw_code(env, "ERR_NO_EVENT_LOOP", "The event loop has ended");
  if (uv.event_loop(env, &loop) != napi_ok) return throw_status(env, "napi_get_uv_event_loop");
  if (!instance->hooked) {
    if (uv.add_hook(env, environment_ends, instance, NULL) != napi_ok) return throw_status(env, "napi_add_async_cleanup_hook");
    instance->hooked = true;
  }

  Watch *watch = calloc(1, sizeof *watch + uv.handle_size(UV_POLL));
  if (watch == NULL) return throw_errno(env, "calloc", ENOMEM);
  watch->instance = instance;
  watch->env = env;
  watch->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (watch->fd < 0) {
    const int number = errno;
    free(watch);
    return throw_errno(env, "fcntl", number);
  }
  // Refuses what epoll can't watch, such as a file.
  int failed = uv.init(loop, watch->handle, watch->fd);
  if (failed != 0) {
    close(watch->fd);
    free(watch);
    return throw_errno(env, "uv_poll_init", -failed);
  }
  uv.set_data(watch->handle, watch);
  instance_hold(instance);
  instance->watches_open++;
  watch->number = table_add(&instance->watches, watch);
  const bool kept = watch->number >= 0 && napi_create_reference(env, values[2], 1, &watch->function) == napi_ok;
  failed = kept ? start(watch, events) : -ENOMEM;
  if (failed == 0) return int_value(env, watch->number);
  begin_close(watch);
  return throw_errno(env, "uv_poll_start", -failed);
}

static Watch *watch_argument(napi_env env, napi_callback_info info, size_t count, napi_value *values) {
  int64_t number;
  Instance *instance = arguments(env, info, count, values);
  if (instance == NULL || !int_argument(env, values[0], "watch", INT32_MIN, INT32_MAX, &number)) return NULL;
  Watch *watch = table_get(&instance->watches, (int32_t)number);
  if (watch == NULL) throw_code(env, "ERR_WATCH_CLOSED", "The watch is closed");
  return watch;
}

// rewatch(watch, events): 0 makes it pause.
static napi_value rewatch(napi_env env, napi_callback_info info) {
  napi_value values[2];
  int64_t events;
  Watch *watch = watch_argument(env, info, 2, values);
  if (watch == NULL || !events_argument(env, values[1], &events)) return NULL;
  const int failed = start(watch, events);
  return failed == 0 ? undefined_value(env) : throw_errno(env, "uv_poll_start", -failed);
}

// holdLoop(watch, held): whether the loop stays for it.
static napi_value hold_loop(napi_env env, napi_callback_info info) {
  napi_value values[2];
  bool held;
  Watch *watch = watch_argument(env, info, 2, values);
  if (watch == NULL) return NULL;
  if (napi_get_value_bool(env, values[1], &held) != napi_ok) return throw_argument(env, "held", "true or false");
  (held ? uv.ref : uv.unref)(watch->handle);
  return undefined_value(env);
}

// unwatch(watch): its function is not called any more; false if it is closed already.
static napi_value unwatch(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int64_t number;
  Instance *instance = arguments(env, info, 1, values);
  if (instance == NULL || !int_argument(env, values[0], "watch", INT32_MIN, INT32_MAX, &number)) return NULL;
  Watch *watch = table_get(&instance->watches, (int32_t)number);
  if (watch != NULL) begin_close(watch);
  return bool_value(env, watch != NULL);
}

bool loop_init(napi_env env, napi_value exports, Instance *instance) {
  const Export list[] = {
      {"watch", watch_descriptor}, {"rewatch", rewatch}, {"holdLoop", hold_loop}, {"unwatch", unwatch}};
  return EXPORT_ALL(env, exports, instance, list);
}
