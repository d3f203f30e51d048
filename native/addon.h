// What the files of the addon have in common: what there is once in each environment (a thread's own copy of the runtime), numbers
// that stand for things, arguments, and errors. The addon holds primitives only; what they are for is written in TypeScript.
//
// Rules of the house. Nothing here ends the process: what is wrong with a call, or with what another process sent, is an exception
// with a `code`. No call of libuv outside of loop.c. What JavaScript holds of us is a number, never a pointer: a number that is
// stale, or of another kind, is looked up, not followed.
#ifndef MILLRACE_ADDON_H
#define MILLRACE_ADDON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define NAPI_VERSION 8
#include <node_api.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

_Static_assert(sizeof(void *) == 8, "futex words and times are written for 64-bit systems");

// The most that one region may have: a ring's offsets are int32.
#define MEMORY_BYTES_MAX 2147483648.0
// Milliseconds that one call may block its thread; more is refused. A worker that is blocked in native code can be ended by nobody
// before it comes back.
#define BLOCK_MS_MAX 1000.0
// Descriptors in one message, on one table to poll. The kernel's own bound for a message is 253.
#define DESCRIPTORS_MAX 64

// Numbers that stand for things: 16 bits of place in the table, 14 of how often the place was used before.
typedef struct {
  void **items;
  uint16_t *generations;
  uint32_t count;
} Table;

// A new number for `item`, or -1 if there is no memory or all places are taken.
int32_t table_add(Table *table, void *item);
// What the number stands for, or NULL.
void *table_get(const Table *table, int32_t number);
void table_remove(Table *table, int32_t number);
void table_free(Table *table);

// What there is once in each environment. Watches and mappings point to it, and some outlive JavaScript's last turn: whoever points
// to it counts as a holder, and the last one frees it.
typedef struct {
  uint32_t holders;
  Table mappings;
  Table watches;
  // Of descriptor.c: those that end with the environment.
  int *kept;
  uint32_t kept_count;
  uint32_t kept_room;
  // Of loop.c: watches that libuv has not closed yet; the hook that waits for them when the environment ends.
  uint32_t watches_open;
  bool ending;
  bool hooked;
  napi_async_cleanup_hook_handle hook;
} Instance;

void instance_hold(Instance *instance);
void instance_drop(Instance *instance);

// Exceptions. All return NULL, so that a function can end with one of them.
// An Error with `code` (errno's name), `errno` (negative, as Node has it) and `syscall`.
napi_value throw_errno(napi_env env, const char *call, int number);
// An Error with `code`; one of ours.
napi_value throw_code(napi_env env, const char *code, const char *message);
// A TypeError with code ERR_ARGUMENT.
napi_value throw_argument(napi_env env, const char *name, const char *wanted);
// What Node-API answered, if JavaScript has not thrown already.
napi_value throw_status(napi_env env, const char *call);

// Arguments: false, and something is thrown, if they are not as wanted. What is missing is undefined.
Instance *arguments(napi_env env, napi_callback_info info, size_t count, napi_value *values);
bool number_argument(napi_env env, napi_value value, const char *name, double least, double most, double *number);
// A whole number.
bool int_argument(napi_env env, napi_value value, const char *name, double least, double most, int64_t *number);
bool descriptor_argument(napi_env env, napi_value value, int *descriptor);
// The bytes of a Uint8Array, the ints of an Int32Array, as they lie; good until JavaScript runs again.
bool bytes_argument(napi_env env, napi_value value, const char *name, uint8_t **bytes, size_t *length);
bool ints_argument(napi_env env, napi_value value, const char *name, int32_t **ints, size_t *length);

napi_value int_value(napi_env env, int64_t number);
napi_value bool_value(napi_env env, bool truth);
napi_value undefined_value(napi_env env);

// Each adds its functions to what the module exports; false if something is thrown.
typedef struct {
  const char *name;
  napi_callback call;
} Export;
bool export_all(napi_env env, napi_value exports, Instance *instance, const Export *list, size_t count);
#define EXPORT_ALL(env, exports, instance, list) export_all(env, exports, instance, list, sizeof(list) / sizeof((list)[0]))

bool memory_init(napi_env env, napi_value exports, Instance *instance);
bool bell_init(napi_env env, napi_value exports, Instance *instance);
bool loop_init(napi_env env, napi_value exports, Instance *instance);
bool socket_init(napi_env env, napi_value exports, Instance *instance);
bool descriptor_init(napi_env env, napi_value exports, Instance *instance);

// Of memory.c, when the environment has ended: the table's share in its mappings.
void memory_end(Instance *instance);

// Of descriptor.c, when the environment has ended: those that were kept for it.
void descriptor_end(Instance *instance);

#endif
