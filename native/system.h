// What each system has its own way for: one of linux.c and darwin.c is compiled. Each function answers -1 with errno where it fails, and `call`
// then names what failed.
#ifndef MILLRACE_SYSTEM_H
#define MILLRACE_SYSTEM_H

#include "addon.h"
#include <sys/socket.h>
#include <sys/types.h>

// A new region of zeros that has no name, whose size is final, and whose pages come when they are touched, which can't fail.
int system_memory(int64_t bytes, const char **call);
// Whether the size of what came as a region is final, so that it can't be taken from under who maps it (M1 in memory.c): 1 or 0; and the size.
int system_is_final(int fd, int64_t *bytes, const char **call);
// What a region of so many bytes has, where that is rounded up to whole pages.
int64_t system_rounded(int64_t bytes);

// Blocks while the word is `expected`: 0 woken, also for no reason; 1 it is another; 2 the time is over. For each process that has the page.
int system_wait(int32_t *word, uint32_t expected, double ms);
// How many were woken, as far as the system says.
int system_wake(int32_t *word, int count);

// A descriptor that both sides ring and only its maker hears; ENOTSUP where there is none: such a system rings by a byte on a socket.
int system_bell(void);
bool system_is_bell(int fd);
// 1 if it was rung, 0 if not.
int system_drain(int fd);
// Whether a bell that this epoll watches tells of each ring by itself from now on, drained or not.
bool system_edge(int epoll, int fd);

// Unix sockets: streams, close-on-exec, never waiting, and no SIGPIPE from them.
int system_socket(void);
int system_socket_pair(int pair[2]);
int system_accept(int listener);
// Listens where only this user may connect, from the first moment on.
int system_listen(int fd, const struct sockaddr *address, socklen_t size, int backlog, const char **call);
// Whether addresses may begin with NUL: names without a file.
extern const bool system_has_names;
// The flags of sendmsg and recvmsg, and what a descriptor that came is to be told if they say too little.
extern const int system_send_flags;
extern const int system_receive_flags;
// The flag of recvmsg that gives what lies beside the bytes and leaves all of it there; 0 where what it gives is none.
extern const int system_look_flag;
void system_came(int fd);
int system_peer(int fd, int64_t *pid, int64_t *uid, int64_t *gid);

#endif
