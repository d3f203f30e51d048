// Memory that two processes share, and how a thread sleeps on one of its words.
//
// A region has no name, and the kernel frees it with its last descriptor and mapping, however the processes ended.
// It is mapped as a plain ArrayBuffer, not as a SharedArrayBuffer: Atomics on it are the same instructions, it can be unmapped by
// detaching it, and engines copy it with memmove.
//
//   M1. Whoever maps a region cannot be made to take a SIGBUS by whoever else has its descriptor: it is mapped only if it can
//       never shrink. A page that is not there yet, or that the peer has punched out, comes as zeros when it is touched; where the system may
//       refuse it then, all of them are there from the start.
//   M2. An address is used only while `mapped` says so. JavaScript can't reach the memory once it is detached; munmap comes with the
//       finalizer of the buffer, which on Node is a turn later, and wherever the engine has moved the memory to meanwhile.
#include "system.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef struct {
  Instance *instance;
  // Its table's number and its buffer's finalizer; the last of them frees it.
  uint32_t holders;
  bool mapped;
  int32_t place;
  void *address;
  size_t bytes;
  napi_ref buffer;
} Mapping;

static void mapping_drop(Mapping *mapping) {
  if (__atomic_sub_fetch(&mapping->holders, 1, __ATOMIC_ACQ_REL) > 0) return;
  instance_drop(mapping->instance);
  free(mapping);
}

static bool is_mapped(const Mapping *mapping) {
  return mapping != NULL && __atomic_load_n(&mapping->mapped, __ATOMIC_ACQUIRE);
}

// createMemory(bytes): the descriptor of a new region of zeros.
static napi_value create_memory(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int64_t bytes;
  const char *call;
  if (arguments(env, info, 1, values) == NULL) return NULL;
  if (!int_argument(env, values[0], "bytes", 1, MEMORY_BYTES_MAX, &bytes)) return NULL;
  const int fd = system_memory(bytes, &call);
  return fd < 0 ? throw_errno(env, call, errno) : int_value(env, fd);
}

// Whether what came as a region may be mapped (M1); else it throws.
static bool is_safe(napi_env env, int fd, int64_t bytes) {
  int64_t found = 0;
  char message[120];
  const char *call;
  const int final = system_is_final(fd, &found, &call);
  if (final < 0) return throw_errno(env, call, errno), false;
  if (final == 0) {
    snprintf(message, sizeof message, "Cannot map descriptor %d: it is no memory that is sealed against a change of its size", fd);
    return throw_code(env, "ERR_NOT_SEALED", message), false;
  }
  if (found != bytes && found != system_rounded(bytes)) {
    snprintf(message, sizeof message, "Cannot map descriptor %d: it has %lld bytes, expected were %lld", fd, (long long)found,
             (long long)bytes);
    return throw_code(env, "ERR_MEMORY_SIZE", message), false;
  }
  return true;
}

// In whatever thread the engine has brought the memory to.
static void buffer_finalized(napi_env env, void *address, void *hint) {
  (void)env;
  Mapping *mapping = hint;
  __atomic_store_n(&mapping->mapped, false, __ATOMIC_RELEASE);
  munmap(address, mapping->bytes);
  mapping_drop(mapping);
}

static void forget(napi_env env, Mapping *mapping) {
  table_remove(&mapping->instance->mappings, mapping->place);
  if (env != NULL) napi_delete_reference(env, mapping->buffer);
  mapping_drop(mapping);
}

// Buffers that were collected without having been unmapped leave their number behind.
static void sweep(napi_env env, Table *table) {
  for (uint32_t i = 0; i < table->count; i++) {
    Mapping *mapping = table->items[i];
    if (mapping != NULL && !is_mapped(mapping)) forget(env, mapping);
  }
}

static napi_value refused_external(napi_env env, napi_status status) {
  if (status == napi_no_external_buffers_allowed)
    return throw_code(env, "ERR_NO_EXTERNAL_BUFFERS", "This runtime lets no ArrayBuffer lie in memory of others");
  return throw_status(env, "napi_create_external_arraybuffer");
}

// map(descriptor, bytes): { buffer, place }. The descriptor may be closed afterwards.
static napi_value map(napi_env env, napi_callback_info info) {
  napi_value values[2], buffer, result, place;
  int64_t bytes;
  int fd;
  Instance *instance = arguments(env, info, 2, values);
  if (instance == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  if (!int_argument(env, values[1], "bytes", 1, MEMORY_BYTES_MAX, &bytes) || !is_safe(env, fd, bytes)) return NULL;
  sweep(env, &instance->mappings);

  Mapping *mapping = calloc(1, sizeof *mapping);
  if (mapping == NULL) return throw_errno(env, "calloc", ENOMEM);
  *mapping = (Mapping){.instance = instance, .holders = 1, .bytes = (size_t)bytes};
  mapping->address = mmap(NULL, mapping->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping->address == MAP_FAILED) {
    const int number = errno;
    free(mapping);
    return throw_errno(env, "mmap", number);
  }
  instance_hold(instance);
  mapping->place = table_add(&instance->mappings, mapping);
  if (mapping->place < 0) {
    munmap(mapping->address, mapping->bytes);
    mapping_drop(mapping);
    return throw_errno(env, "map", ENOMEM);
  }
  const napi_status status =
      napi_create_external_arraybuffer(env, mapping->address, mapping->bytes, buffer_finalized, mapping, &buffer);
  if (status != napi_ok) {
    munmap(mapping->address, mapping->bytes);
    table_remove(&instance->mappings, mapping->place);
    mapping_drop(mapping);
    return refused_external(env, status);
  }
  // From here on the finalizer has its share, and unmaps whatever else fails.
  mapping->holders = 2;
  if (napi_create_reference(env, buffer, 0, &mapping->buffer) != napi_ok) {
    forget(NULL, mapping);
    return throw_status(env, "napi_create_reference");
  }
  mapping->mapped = true;
  if (napi_create_object(env, &result) != napi_ok || napi_create_int32(env, mapping->place, &place) != napi_ok ||
      napi_set_named_property(env, result, "buffer", buffer) != napi_ok ||
      napi_set_named_property(env, result, "place", place) != napi_ok)
    return throw_status(env, "map");
  return result;
}

// unmap(place): false if it is not mapped any more. The buffer is detached: its length is 0, Atomics on it throw.
static napi_value unmap(napi_env env, napi_callback_info info) {
  napi_value values[1], buffer = NULL;
  int64_t place;
  Instance *instance = arguments(env, info, 1, values);
  if (instance == NULL || !int_argument(env, values[0], "place", INT32_MIN, INT32_MAX, &place)) return NULL;
  Mapping *mapping = table_get(&instance->mappings, (int32_t)place);
  const bool was = is_mapped(mapping);
  if (!was) return bool_value(env, false);
  __atomic_store_n(&mapping->mapped, false, __ATOMIC_RELEASE);
  // A buffer that JavaScript has transferred is detached already, and its memory is mapped until whoever has it now lets go.
  bool detached = true;
  if (napi_get_reference_value(env, mapping->buffer, &buffer) == napi_ok && buffer != NULL)
    napi_is_detached_arraybuffer(env, buffer, &detached);
  const napi_status status = detached ? napi_ok : napi_detach_arraybuffer(env, buffer);
  forget(env, mapping);
  return status == napi_ok ? bool_value(env, true) : throw_status(env, "napi_detach_arraybuffer");
}

// When the environment has ended: finalizers have run or will, and the table's numbers are nobody's any more.
void memory_end(Instance *instance) {
  for (uint32_t i = 0; i < instance->mappings.count; i++) {
    Mapping *mapping = instance->mappings.items[i];
    if (mapping != NULL) forget(NULL, mapping);
  }
}

static void alias_finalized(napi_env env, void *address, void *hint) {
  (void)address;
  if (env != NULL) napi_delete_reference(env, hint);
}

// alias(bytes): a plain ArrayBuffer over the same memory as a Uint8Array over a SharedArrayBuffer, which it keeps.
static napi_value alias(napi_env env, napi_callback_info info) {
  napi_value values[1], memory = NULL, global, constructor, buffer;
  uint8_t *bytes = NULL;
  size_t length;
  bool shared = false;
  napi_ref kept;
  if (arguments(env, info, 1, values) == NULL) return NULL;
  if (!bytes_argument(env, values[0], "bytes", &bytes, &length)) return NULL;
  // Memory that is not shared can be detached, and freed under its alias.
  if (napi_get_typedarray_info(env, values[0], NULL, NULL, NULL, &memory, NULL) != napi_ok ||
      napi_get_global(env, &global) != napi_ok ||
      napi_get_named_property(env, global, "SharedArrayBuffer", &constructor) != napi_ok ||
      napi_instanceof(env, memory, constructor, &shared) != napi_ok)
    return throw_status(env, "alias");
  if (!shared || length == 0) return throw_argument(env, "bytes", "a Uint8Array over a SharedArrayBuffer that is not empty");
  if (napi_create_reference(env, memory, 1, &kept) != napi_ok) return throw_status(env, "napi_create_reference");
  const napi_status status = napi_create_external_arraybuffer(env, bytes, length, alias_finalized, kept, &buffer);
  if (status == napi_ok) return buffer;
  napi_delete_reference(env, kept);
  return refused_external(env, status);
}

// The word that a call is about, or NULL, and something is thrown. Two calls each round: nothing is allocated here.
static int32_t *word_argument(napi_env env, Instance *instance, const napi_value *values) {
  int64_t place, index;
  if (!int_argument(env, values[0], "place", INT32_MIN, INT32_MAX, &place)) return NULL;
  const Mapping *mapping = table_get(&instance->mappings, (int32_t)place);
  if (!is_mapped(mapping)) {
    throw_code(env, "ERR_UNMAPPED", "The memory is not mapped any more");
    return NULL;
  }
  const double last = (double)(mapping->bytes / sizeof(int32_t)) - 1;
  if (!int_argument(env, values[1], "index", 0, last, &index)) return NULL;
  return (int32_t *)mapping->address + index;
}

// wait(place, index, expected, timeoutMs): 0 woken, also for no reason; 1 the word is not `expected`; 2 the time is over. Blocks the
// thread, for BLOCK_MS_MAX at most.
static napi_value wait_word(napi_env env, napi_callback_info info) {
  napi_value values[4];
  int64_t expected;
  double ms;
  Instance *instance = arguments(env, info, 4, values);
  int32_t *word = instance == NULL ? NULL : word_argument(env, instance, values);
  if (word == NULL || !int_argument(env, values[2], "expected", INT32_MIN, UINT32_MAX, &expected)) return NULL;
  if (!number_argument(env, values[3], "timeoutMs", 0, BLOCK_MS_MAX, &ms)) return NULL;
  const int answer = system_wait(word, (uint32_t)expected, ms);
  return answer < 0 ? throw_errno(env, "futex", errno) : int_value(env, answer);
}

// wake(place, index, count): how many were woken.
static napi_value wake_word(napi_env env, napi_callback_info info) {
  napi_value values[3];
  int64_t count;
  Instance *instance = arguments(env, info, 3, values);
  int32_t *word = instance == NULL ? NULL : word_argument(env, instance, values);
  if (word == NULL || !int_argument(env, values[2], "count", 0, INT32_MAX, &count)) return NULL;
  const int woken = system_wake(word, (int)count);
  return woken < 0 ? throw_errno(env, "futex", errno) : int_value(env, woken);
}

bool memory_init(napi_env env, napi_value exports, Instance *instance) {
  const Export list[] = {
      {"createMemory", create_memory}, {"map", map},        {"unmap", unmap},
      {"alias", alias},                {"wait", wait_word}, {"wake", wake_word},
  };
  return EXPORT_ALL(env, exports, instance, list);
}
