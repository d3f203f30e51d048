// Unix sockets whose descriptors are ours, because descriptors come over them. node:net hands out no descriptor of its sockets, and
// reads without room for what comes beside the bytes: what was sent so is closed by the kernel, unseen. So whoever expects descriptors
// connects, listens and reads here; a connection that turns out to need none can be given to `new net.Socket({ fd })`.
//
// No call here waits, whatever the flags of a descriptor say, which the other side may share.
#include "system.h"
#include <stddef.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 511

// A first NUL means a name without a file, and so without permissions: whoever accepts there asks who has come.
static bool path_argument(napi_env env, napi_value value, struct sockaddr_un *address, socklen_t *size) {
  size_t length = 0;
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok) return throw_argument(env, "path", "a string"), false;
  if (length >= sizeof address->sun_path) return throw_errno(env, "path", ENAMETOOLONG), false;
  napi_get_value_string_utf8(env, value, address->sun_path, sizeof address->sun_path, &length);
  const bool file = length > 0 && strlen(address->sun_path) == length;
  *size = file ? sizeof *address : (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
  if (file || (system_has_names && length > 1 && address->sun_path[0] == '\0')) return true;
  return throw_argument(env, "path", system_has_names ? "the path of a file, or a name behind a NUL" : "the path of a file"), false;
}

static napi_value failed_socket(napi_env env, const char *call, int fd) {
  const int number = errno;
  if (fd >= 0) close(fd);
  return throw_errno(env, call, number);
}

// listen(path): the descriptor of a socket that only this user can connect to. It leaves what is at the path as it is.
static napi_value listen_at(napi_env env, napi_callback_info info) {
  napi_value values[1];
  struct sockaddr_un address;
  socklen_t size;
  const char *call;
  if (arguments(env, info, 1, values) == NULL || !path_argument(env, values[0], &address, &size)) return NULL;
  const int fd = system_socket();
  if (fd < 0) return failed_socket(env, "socket", fd);
  if (system_listen(fd, (struct sockaddr *)&address, size, BACKLOG, &call) != 0) return failed_socket(env, call, fd);
  return int_value(env, fd);
}

// accept(descriptor): a connection's descriptor, or -1 if nobody waits.
static napi_value accept_one(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int listener, fd;
  if (arguments(env, info, 1, values) == NULL || !descriptor_argument(env, values[0], &listener)) return NULL;
  do fd = system_accept(listener);
  while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  return fd < 0 && errno != EAGAIN ? throw_errno(env, "accept", errno) : int_value(env, fd);
}

// connect(path): a connection's descriptor. EAGAIN: so many wait there that one more has no room now.
static napi_value connect_to(napi_env env, napi_callback_info info) {
  napi_value values[1];
  struct sockaddr_un address;
  socklen_t size;
  if (arguments(env, info, 1, values) == NULL || !path_argument(env, values[0], &address, &size)) return NULL;
  const int fd = system_socket();
  if (fd < 0) return failed_socket(env, "socket", fd);
  int failed;
  do failed = connect(fd, (struct sockaddr *)&address, size);
  while (failed != 0 && errno == EINTR);
  return failed == 0 ? int_value(env, fd) : failed_socket(env, "connect", fd);
}

// socketPair(ends): two ends of a connection, one of them for a child, into an Int32Array.
static napi_value socket_pair(napi_env env, napi_callback_info info) {
  napi_value values[1];
  int32_t *ends;
  size_t length;
  int pair[2];
  if (arguments(env, info, 1, values) == NULL || !ints_argument(env, values[0], "ends", &ends, &length)) return NULL;
  if (length != 2) return throw_argument(env, "ends", "an Int32Array of two");
  if (system_socket_pair(pair) != 0) return throw_errno(env, "socketpair", errno);
  ends[0] = pair[0];
  ends[1] = pair[1];
  return undefined_value(env);
}

typedef union {
  struct cmsghdr first;
  char room[CMSG_SPACE(sizeof(int) * DESCRIPTORS_MAX)];
} Beside;

static bool beside_argument(napi_env env, napi_value value, int32_t **descriptors, size_t *count) {
  napi_valuetype type = napi_undefined;
  *descriptors = NULL;
  *count = 0;
  if (napi_typeof(env, value, &type) == napi_ok && type == napi_undefined) return true;
  if (!ints_argument(env, value, "descriptors", descriptors, count)) return false;
  if (*count <= DESCRIPTORS_MAX) return true;
  return throw_argument(env, "descriptors", "no more than 64"), false;
}

// send(descriptor, bytes, descriptors?): how many bytes went, and the descriptors with the first of them; -1 if there is no room now,
// and then nothing went. They stay open here.
static napi_value send_beside(napi_env env, napi_callback_info info) {
  napi_value values[3];
  uint8_t *bytes;
  int32_t *descriptors;
  size_t length, count;
  int fd;
  if (arguments(env, info, 3, values) == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  if (!bytes_argument(env, values[1], "bytes", &bytes, &length)) return NULL;
  if (!beside_argument(env, values[2], &descriptors, &count)) return NULL;
  if (length == 0) return throw_argument(env, "bytes", "at least one");

  struct iovec vector = {.iov_base = bytes, .iov_len = length};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  Beside beside;
  if (count > 0) {
    memset(&beside, 0, sizeof beside);
    message.msg_control = &beside;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * count);
    memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
  }
  ssize_t sent;
  do sent = sendmsg(fd, &message, system_send_flags);
  while (sent < 0 && errno == EINTR);
  return sent < 0 && errno != EAGAIN ? throw_errno(env, "sendmsg", errno) : int_value(env, sent);
}

// Takes what was looked at, which nobody else reads; whether descriptors lay beside it, which the kernel closes: those that were looked at are
// others. Linux gives those of the message behind it where it has none of its own.
static bool take_off(int fd, uint8_t *bytes, ssize_t length) {
  struct iovec vector = {.iov_base = bytes, .iov_len = (size_t)length};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  ssize_t received;
  do received = recvmsg(fd, &message, system_receive_flags);
  while (received < 0 && errno == EINTR);
  return (message.msg_flags & MSG_CTRUNC) != 0;
}

// receive(descriptor, bytes, descriptors?): how many bytes came, 0 at the end, -1 if there are none now. What came beside them fills
// `descriptors` from the front, the rest of it is -1. If more came than it takes, all of them are closed and it throws: the bytes are lost as
// well, so the connection is not to be read any more. If this process can't have so many, it throws EMFILE, and all of it is still to come:
// what is expected to come with descriptors is looked at first, which gives them, and taken then.
static napi_value receive_beside(napi_env env, napi_callback_info info) {
  napi_value values[3];
  uint8_t *bytes;
  int32_t *descriptors;
  size_t length, count, came = 0;
  int fd, all[DESCRIPTORS_MAX + 1];
  if (arguments(env, info, 3, values) == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  if (!bytes_argument(env, values[1], "bytes", &bytes, &length)) return NULL;
  if (!beside_argument(env, values[2], &descriptors, &count)) return NULL;
  if (length == 0) return throw_argument(env, "bytes", "at least one");

  struct iovec vector = {.iov_base = bytes, .iov_len = length};
  Beside beside;
  // What has no room here is closed by the kernel, which then says MSG_CTRUNC. Room is made for whole words: one more may come.
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &beside, .msg_controllen = CMSG_SPACE(sizeof(int) * count)};
  const int looks = count > 0 ? system_look_flag : 0;
  ssize_t received;
  do received = recvmsg(fd, &message, system_receive_flags | looks);
  while (received < 0 && errno == EINTR);
  if (received < 0 && errno != EAGAIN) return throw_errno(env, "recvmsg", errno);

  if (received >= 0) {
    // musl's macro compares sizes of either sign.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
      if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
      const size_t here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < here && came <= DESCRIPTORS_MAX; i++)
        memcpy(&all[came++], CMSG_DATA(header) + i * sizeof(int), sizeof(int));
    }
#pragma GCC diagnostic pop
  }
  const bool cut = received >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
  if (cut || came > count) {
    for (size_t i = 0; i < came; i++) close(all[i]);
    if (came < count && looks != 0) return throw_errno(env, "recvmsg", EMFILE);
    if (looks == 0 || take_off(fd, bytes, received))
      return throw_code(env, "ERR_TOO_MANY_DESCRIPTORS", "More descriptors came with a message than were expected, or than there may be");
    came = 0;
  }
  else if (looks != 0 && received > 0 && !take_off(fd, bytes, received))
    while (came > 0) close(all[--came]);
  for (size_t i = 0; i < came; i++) system_came(all[i]);
  for (size_t i = 0; i < count; i++) descriptors[i] = i < came ? all[i] : -1;
  return int_value(env, received);
}

// peerCredentials(descriptor): { pid, uid, gid } of the process at the other end, as they were when it connected or began to listen.
static napi_value peer_credentials(napi_env env, napi_callback_info info) {
  napi_value values[1], result;
  int fd;
  int64_t pid, uid, gid;
  if (arguments(env, info, 1, values) == NULL || !descriptor_argument(env, values[0], &fd)) return NULL;
  if (system_peer(fd, &pid, &uid, &gid) != 0) return throw_errno(env, "getsockopt", errno);
  if (napi_create_object(env, &result) != napi_ok ||
      napi_set_named_property(env, result, "pid", int_value(env, pid)) != napi_ok ||
      napi_set_named_property(env, result, "uid", int_value(env, uid)) != napi_ok ||
      napi_set_named_property(env, result, "gid", int_value(env, gid)) != napi_ok)
    return throw_status(env, "peerCredentials");
  return result;
}

bool socket_init(napi_env env, napi_value exports, Instance *instance) {
  const Export list[] = {
      {"listen", listen_at},       {"accept", accept_one},      {"connect", connect_to},
      {"socketPair", socket_pair}, {"send", send_beside},       {"receive", receive_beside},
      {"peerCredentials", peer_credentials},
  };
  return EXPORT_ALL(env, exports, instance, list);
}
