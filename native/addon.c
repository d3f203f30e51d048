// The module, its environments, and what every call needs: tables, arguments, errors.
#include "addon.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_BITS 16
#define PLACES_MAX (1u << PLACE_BITS)
#define GENERATIONS 0x3fffu

int32_t table_add(Table *table, void *item) {
  uint32_t place = 0;
  while (place < table->count && table->items[place] != NULL) place++;
  if (place == table->count) {
    if (table->count == PLACES_MAX) return -1;
    uint32_t count = table->count == 0 ? 8 : table->count * 2;
    void **items = realloc(table->items, count * sizeof *items);
    if (items == NULL) return -1;
    table->items = items;
    uint16_t *generations = realloc(table->generations, count * sizeof *generations);
    if (generations == NULL) return -1;
    table->generations = generations;
    for (uint32_t i = table->count; i < count; i++) {
      items[i] = NULL;
      generations[i] = 0;
    }
    table->count = count;
  }
  table->items[place] = item;
  return (int32_t)((uint32_t)table->generations[place] << PLACE_BITS | place);
}

void *table_get(const Table *table, int32_t number) {
  uint32_t place = (uint32_t)number & (PLACES_MAX - 1);
  if (number < 0 || place >= table->count) return NULL;
  return table->generations[place] == (uint32_t)number >> PLACE_BITS ? table->items[place] : NULL;
}

void table_remove(Table *table, int32_t number) {
  if (table_get(table, number) == NULL) return;
  uint32_t place = (uint32_t)number & (PLACES_MAX - 1);
  table->items[place] = NULL;
  table->generations[place] = (table->generations[place] + 1) & GENERATIONS;
}

void table_free(Table *table) {
  free(table->items);
  free(table->generations);
  *table = (Table){0};
}

// Atomic: a buffer that JavaScript has handed to another thread is finalized there.
void instance_hold(Instance *instance) { __atomic_add_fetch(&instance->holders, 1, __ATOMIC_RELAXED); }

void instance_drop(Instance *instance) {
  if (__atomic_sub_fetch(&instance->holders, 1, __ATOMIC_ACQ_REL) > 0) return;
  table_free(&instance->mappings);
  table_free(&instance->watches);
  free(instance);
}

// glibc has strerrorname_np, musl has nothing of the kind.
static const char *errno_name(int number) {
#define NAME(it) case it: return #it
  switch (number) {
    NAME(EACCES); NAME(EADDRINUSE); NAME(EADDRNOTAVAIL); NAME(EAGAIN); NAME(EALREADY); NAME(EBADF); NAME(EBUSY);
    NAME(ECONNABORTED); NAME(ECONNREFUSED); NAME(ECONNRESET); NAME(EEXIST); NAME(EFAULT); NAME(EFBIG); NAME(EINPROGRESS);
    NAME(EINTR); NAME(EINVAL); NAME(EIO); NAME(EISCONN); NAME(EISDIR); NAME(ELOOP); NAME(EMFILE); NAME(EMSGSIZE);
    NAME(ENAMETOOLONG); NAME(ENFILE); NAME(ENOBUFS); NAME(ENODEV); NAME(ENOENT); NAME(ENOMEM); NAME(ENOPROTOOPT);
    NAME(ENOSPC); NAME(ENOSYS); NAME(ENOTCONN); NAME(ENOTDIR); NAME(ENOTSOCK); NAME(EOPNOTSUPP); NAME(EOVERFLOW);
    NAME(EPERM); NAME(EPIPE); NAME(EPROTOTYPE); NAME(EROFS); NAME(ESRCH); NAME(ETIMEDOUT); NAME(ETOOMANYREFS); NAME(ETXTBSY);
  }
#undef NAME
  return NULL;
}

static napi_value throw_made(napi_env env, const char *code, const char *message, const char *call, int number) {
  napi_value error, text, value;
  if (napi_create_string_utf8(env, message, NAPI_AUTO_LENGTH, &text) != napi_ok) return NULL;
  if (napi_create_string_utf8(env, code, NAPI_AUTO_LENGTH, &value) != napi_ok) return NULL;
  if (napi_create_error(env, value, text, &error) != napi_ok) return NULL;
  if (call != NULL && napi_create_string_utf8(env, call, NAPI_AUTO_LENGTH, &value) == napi_ok) {
    napi_set_named_property(env, error, "syscall", value);
    if (napi_create_int32(env, -number, &value) == napi_ok) napi_set_named_property(env, error, "errno", value);
  }
  napi_throw(env, error);
  return NULL;
}

napi_value throw_errno(napi_env env, const char *call, int number) {
  char code[16], message[200];
  const char *name = errno_name(number);
  if (name == NULL) snprintf(code, sizeof code, "E%d", number);
  else snprintf(code, sizeof code, "%s", name);
  snprintf(message, sizeof message, "%s: %s, %s", code, strerror(number), call);
  return throw_made(env, code, message, call, number);
}

napi_value throw_code(napi_env env, const char *code, const char *message) {
  return throw_made(env, code, message, NULL, 0);
}

napi_value throw_argument(napi_env env, const char *name, const char *wanted) {
  char message[200];
  snprintf(message, sizeof message, "%s must be %s", name, wanted);
  napi_throw_type_error(env, "ERR_ARGUMENT", message);
  return NULL;
}

napi_value throw_status(napi_env env, const char *call) {
  bool pending = false;
  const napi_extended_error_info *last = NULL;
  char message[200];
  napi_get_last_error_info(env, &last);
  snprintf(message, sizeof message, "%s: %s", call,
           last != NULL && last->error_message != NULL ? last->error_message : "refused by the runtime");
  napi_is_exception_pending(env, &pending);
  return pending ? NULL : throw_code(env, "ERR_NODE_API", message);
}

Instance *arguments(napi_env env, napi_callback_info info, size_t count, napi_value *values) {
  void *instance = NULL;
  if (napi_get_cb_info(env, info, &count, values, NULL, &instance) == napi_ok && instance != NULL) return instance;
  throw_status(env, "napi_get_cb_info");
  return NULL;
}

bool number_argument(napi_env env, napi_value value, const char *name, double least, double most, double *number) {
  // Not a number fails either comparison.
  if (napi_get_value_double(env, value, number) == napi_ok && *number >= least && *number <= most) return true;
  char wanted[80];
  snprintf(wanted, sizeof wanted, "a number from %.0f to %.0f", least, most);
  throw_argument(env, name, wanted);
  return false;
}

bool int_argument(napi_env env, napi_value value, const char *name, double least, double most, int64_t *number) {
  double given;
  if (!number_argument(env, value, name, least, most, &given)) return false;
  *number = (int64_t)given;
  if ((double)*number == given) return true;
  throw_argument(env, name, "a whole number");
  return false;
}

bool descriptor_argument(napi_env env, napi_value value, int *descriptor) {
  int64_t number;
  if (!int_argument(env, value, "descriptor", 0, INT_MAX, &number)) return false;
  *descriptor = (int)number;
  return true;
}

static bool array_argument(napi_env env, napi_value value, napi_typedarray_type wanted, void **data, size_t *length) {
  bool typed = false;
  napi_typedarray_type type;
  if (napi_is_typedarray(env, value, &typed) != napi_ok || !typed) return false;
  if (napi_get_typedarray_info(env, value, &type, length, data, NULL, NULL) != napi_ok || type != wanted) return false;
  // Of a buffer that is detached nothing is left.
  if (*data == NULL) *length = 0;
  return true;
}

bool bytes_argument(napi_env env, napi_value value, const char *name, uint8_t **bytes, size_t *length) {
  void *data = NULL;
  if (!array_argument(env, value, napi_uint8_array, &data, length)) {
    throw_argument(env, name, "a Uint8Array");
    return false;
  }
  *bytes = data;
  return true;
}

bool ints_argument(napi_env env, napi_value value, const char *name, int32_t **ints, size_t *length) {
  void *data = NULL;
  if (!array_argument(env, value, napi_int32_array, &data, length)) {
    throw_argument(env, name, "an Int32Array");
    return false;
  }
  *ints = data;
  return true;
}

napi_value int_value(napi_env env, int64_t number) {
  napi_value value = NULL;
  napi_create_int64(env, number, &value);
  return value;
}

napi_value bool_value(napi_env env, bool truth) {
  napi_value value = NULL;
  napi_get_boolean(env, truth, &value);
  return value;
}

napi_value undefined_value(napi_env env) {
  napi_value value = NULL;
  napi_get_undefined(env, &value);
  return value;
}

bool export_all(napi_env env, napi_value exports, Instance *instance, const Export *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    napi_value function;
    if (napi_create_function(env, list[i].name, NAPI_AUTO_LENGTH, list[i].call, instance, &function) != napi_ok ||
        napi_set_named_property(env, exports, list[i].name, function) != napi_ok) {
      throw_status(env, list[i].name);
      return false;
    }
  }
  return true;
}

static void environment_ended(napi_env env, void *data, void *hint) {
  (void)env, (void)hint;
  memory_end(data);
  descriptor_end(data);
  instance_drop(data);
}

NAPI_MODULE_INIT() {
  Instance *instance = calloc(1, sizeof *instance);
  if (instance == NULL) return throw_errno(env, "calloc", ENOMEM);
  instance->holders = 1;
  if (napi_set_instance_data(env, instance, environment_ended, NULL) != napi_ok) {
    free(instance);
    return throw_status(env, "napi_set_instance_data");
  }
  const bool done = memory_init(env, exports, instance) && bell_init(env, exports, instance) &&
                    loop_init(env, exports, instance) && socket_init(env, exports, instance) &&
                    descriptor_init(env, exports, instance);
  return done ? exports : NULL;
}
