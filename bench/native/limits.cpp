// Physical limits of this machine, for the benchmark's tables: what the same work costs without JavaScript.
//
// Reads orders from stdin, one a line, answers each with one line "seconds sum":
//     ring SIZE STRIDE COUNT      one thread writes COUNT records into a ring, another reads them in place
//     memcpy SIZE STRIDE COUNT    one thread copies COUNT messages into a buffer of the ring's size, and reads them there
//     spin COUNT                  two threads hand one word back and forth, spinning: COUNT round trips
//     futex COUNT                 the same, each sleeping in the kernel until the other wakes it (Linux)
//     shared COUNT                two processes hand one word of memory in common back and forth, spinning (Linux)
//     eventfd COUNT               the same, each asleep in read() on an eventfd of its own until the other writes to it (Linux)
//
// The ring has the design of src/ring: records of an 8-byte header and a payload, 8-aligned and contiguous, a pad at
// the wrap, power-of-two capacity, positions that only grow, each side caching the other's, publication by 16 KiB.
// The messages and the sums are those of bench/loads.ts, so the checksum is compared there.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

constexpr uint32_t kCapacity = 1u << 20;
constexpr uint32_t kMask = kCapacity - 1;
constexpr uint32_t kPublish = 16u << 10;
constexpr uint32_t kHeader = 8;
constexpr uint32_t kPad = 1;

struct alignas(128) Position {
  std::atomic<uint32_t> value{0};
};

alignas(128) uint8_t data[kCapacity];
Position tail;
Position head;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::vector<uint8_t>> messages(uint32_t size) {
  uint32_t pool = 1;
  while (pool * 2 <= 16 && pool * 2 <= (8u << 20) / size) pool *= 2;
  std::vector<std::vector<uint8_t>> made(pool, std::vector<uint8_t>(size));
  for (uint32_t i = 0; i < pool; i++)
    for (uint32_t j = 0; j < size; j++) made[i][j] = (j * 7 + i * 13 + 1) & 255;
  return made;
}

inline int32_t weigh(const uint8_t* bytes, uint32_t length, uint32_t stride) {
  int32_t sum = static_cast<int32_t>(length);
  for (uint32_t i = 0; i < length; i += stride) sum += bytes[i];
  return sum;
}

inline uint32_t padded(uint32_t size) { return (kHeader + size + 7) & ~7u; }

inline void putWord(uint32_t index, uint32_t value) { std::memcpy(data + index, &value, 4); }
inline uint32_t word(uint32_t index) {
  uint32_t value;
  std::memcpy(&value, data + index, 4);
  return value;
}

// Gives the core away when a wait is clearly longer than a hand-over, as the contenders in JavaScript do.
inline void turn(uint32_t& turns) {
  if (++turns > 20000) std::this_thread::yield();
}

void produce(const std::vector<std::vector<uint8_t>>& pool, uint32_t size, uint64_t count) {
  uint32_t position = tail.value.load();
  uint32_t published = position;
  uint32_t headSeen = head.value.load();
  const uint32_t need = padded(size);
  const uint64_t mask = pool.size() - 1;
  auto publish = [&] {
    tail.value.store(position, std::memory_order_release);
    published = position;
  };
  for (uint64_t i = 0; i < count; i++) {
    uint32_t room = kCapacity - (position & kMask);
    uint32_t total = need > room ? room + need : need;
    for (uint32_t turns = 0; kCapacity - (position - headSeen) < total; turn(turns)) {
      if (published != position) publish();
      headSeen = head.value.load(std::memory_order_acquire);
    }
    if (need > room) {
      putWord(position & kMask, room);
      putWord((position & kMask) + 4, kPad);
      position += room;
    }
    uint32_t index = position & kMask;
    std::memcpy(data + index + kHeader, pool[i & mask].data(), size);
    putWord(index, size);
    putWord(index + 4, 0);
    position += need;
    if (position - published >= kPublish) publish();
  }
  publish();
}

int32_t consume(uint32_t stride, uint64_t count) {
  uint32_t position = head.value.load();
  uint32_t released = position;
  uint32_t tailSeen = position;
  uint32_t sum = 0;
  uint32_t turns = 0;
  for (uint64_t seen = 0; seen < count;) {
    if (position == tailSeen) {
      turn(turns);
      if (released != position) {
        head.value.store(position, std::memory_order_release);
        released = position;
      }
      tailSeen = tail.value.load(std::memory_order_acquire);
      continue;
    }
    uint32_t index = position & kMask;
    uint32_t length = word(index);
    if (word(index + 4) == kPad) {
      position += length;
      continue;
    }
    sum += weigh(data + index + kHeader, length, stride);
    position += padded(length);
    seen++;
    turns = 0;
    if (position - released >= kCapacity / 4) {
      head.value.store(position, std::memory_order_release);
      released = position;
    }
  }
  head.value.store(position, std::memory_order_release);
  return static_cast<int32_t>(sum);
}

void ring(uint32_t size, uint32_t stride, uint64_t count) {
  auto pool = messages(size);
  int32_t sum = 0;
  std::thread reader([&] { sum = consume(stride, count); });
  double start = now();
  produce(pool, size, count);
  reader.join();
  std::printf("%.9f %d\n", now() - start, sum);
}

void copies(uint32_t size, uint32_t stride, uint64_t count) {
  auto pool = messages(size);
  const uint64_t mask = pool.size() - 1;
  uint32_t sum = 0;
  uint32_t index = 0;
  double start = now();
  for (uint64_t i = 0; i < count; i++) {
    if (index + size > kCapacity) index = 0;
    std::memcpy(data + index, pool[i & mask].data(), size);
    sum += weigh(data + index, size, stride);
    index += size;
  }
  std::printf("%.9f %d\n", now() - start, static_cast<int32_t>(sum));
}

Position ball;

void waitFor(uint32_t wanted, bool sleep) {
  for (uint32_t turns = 0;; turn(turns)) {
    uint32_t seen = ball.value.load(std::memory_order_acquire);
    if (seen == wanted) return;
#ifdef __linux__
    if (sleep) syscall(SYS_futex, &ball.value, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
#else
    (void)sleep;
#endif
  }
}

void hit(uint32_t value, bool sleep) {
  ball.value.store(value, std::memory_order_seq_cst);
#ifdef __linux__
  if (sleep) syscall(SYS_futex, &ball.value, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
#endif
}

void pingPong(uint64_t count, bool sleep) {
  ball.value.store(0);
  std::thread other([&] {
    for (uint64_t i = 0; i < count; i++) {
      waitFor(1, sleep);
      hit(0, sleep);
    }
  });
  double start = now();
  for (uint64_t i = 0; i < count; i++) {
    hit(1, sleep);
    waitFor(0, sleep);
  }
  double seconds = now() - start;
  other.join();
  std::printf("%.9f %d\n", seconds, 0);
}

#ifdef __linux__
void await(Position& word, int bell, uint32_t wanted) {
  if (bell >= 0) {
    uint64_t rung;
    while (read(bell, &rung, sizeof rung) != sizeof rung) {
    }
  }
  for (uint32_t turns = 0; word.value.load(std::memory_order_acquire) != wanted; turn(turns)) {
  }
}

void pass(Position& word, int bell, uint32_t value) {
  word.value.store(value, std::memory_order_seq_cst);
  const uint64_t one = 1;
  while (bell >= 0 && write(bell, &one, sizeof one) != sizeof one) {
  }
}

void processes(uint64_t count, bool sleep) {
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Position& word = *new (memory) Position;
  const int here = sleep ? eventfd(0, 0) : -1;
  const int there = sleep ? eventfd(0, 0) : -1;
  const pid_t child = fork();
  if (child == 0) {
    for (uint64_t i = 0; i < count; i++) {
      await(word, there, 1);
      pass(word, here, 0);
    }
    _exit(0);
  }
  double start = now();
  for (uint64_t i = 0; i < count; i++) {
    pass(word, there, 1);
    await(word, here, 0);
  }
  double seconds = now() - start;
  waitpid(child, nullptr, 0);
  if (sleep) {
    close(here);
    close(there);
  }
  munmap(memory, 4096);
  std::printf("%.9f %d\n", seconds, 0);
}
#endif

}  // namespace

int main() {
  char what[16];
  while (std::scanf("%15s", what) == 1) {
    std::string order = what;
    unsigned size = 0, stride = 0;
    unsigned long long count = 0;
    bool understood = false;
    if (order == "ring" || order == "memcpy") {
      understood = std::scanf("%u %u %llu", &size, &stride, &count) == 3 && size > 0 && size <= kCapacity / 4;
      if (understood) order == "ring" ? ring(size, stride, count) : copies(size, stride, count);
    } else if (order == "spin" || order == "futex") {
      understood = std::scanf("%llu", &count) == 1;
      if (understood) pingPong(count, order == "futex");
    }
#ifdef __linux__
    else if (order == "shared" || order == "eventfd") {
      understood = std::scanf("%llu", &count) == 1;
      if (understood) processes(count, order == "eventfd");
    }
#endif
    if (!understood) std::printf("error\n");
    std::fflush(stdout);
  }
}
