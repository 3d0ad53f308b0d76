#include "training/process_group.h"

#include <arpa/inet.h>
#include <c10/util/Flags.h>
#include <netdb.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "base/cpu.h"
#include "base/error.h"
#include "base/log.h"

#ifdef REGARD_GLOO
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif
#ifdef REGARD_NCCL
#include "training/process_group_nccl.h"
#endif

C10_DECLARE_int(caffe2_log_level);

namespace regard {
namespace {

using std::chrono::milliseconds;

// A process waits this long in a collective: another may validate or save a large model meanwhile.
// A process that has ended is noticed at once, and one that cannot be reached by its heartbeat.
[[maybe_unused]] constexpr std::chrono::hours patience{24};
[[maybe_unused]] constexpr std::chrono::seconds beat_every{5};
[[maybe_unused]] constexpr std::chrono::seconds silence_limit{45};
// Tensors of bytes larger than this are sent in parts.
[[maybe_unused]] constexpr std::size_t part_bytes = std::size_t{64} << 20;

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

// The processors that this process may use, as text.
std::string processor_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string mask;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return mask;
  for (int i = 0; i < CPU_SETSIZE; ++i) mask += CPU_ISSET(i, &set) ? '1' : '0';
  return mask.substr(0, mask.rfind('1') + 1);
}

}  // namespace

#ifdef REGARD_GLOO

namespace {

std::string store_text(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint8_t> store_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

// Returns the address of this machine on the way to `host`; "" if that cannot be found out.
std::string own_address(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;  // connecting a datagram socket sends nothing
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return "";
  std::string address;
  for (const auto* entry = found; entry != nullptr && address.empty(); entry = entry->ai_next) {
    const int descriptor = socket(entry->ai_family, SOCK_DGRAM, 0);
    if (descriptor < 0) continue;
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    auto* own_pointer = reinterpret_cast<sockaddr*>(&own);
    if (connect(descriptor, entry->ai_addr, entry->ai_addrlen) == 0 &&
        getsockname(descriptor, own_pointer, &length) == 0) {
      char text[NI_MAXHOST] = {};
      if (getnameinfo(own_pointer, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
        address = text;
      }
    }
    close(descriptor);
  }
  freeaddrinfo(found);
  return address;
}

std::shared_ptr<::gloo::transport::Device> gloo_device(const ProcessPlace& place) {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  const auto address = own_address(place.address, place.port);
  return address.empty() ? c10d::ProcessGroupGloo::createDefaultDevice()
                         : c10d::ProcessGroupGloo::createDeviceForHostname(address);
}

// Returns the first sentence of an error of c10d, without the place in its source and its C++
// stack.
std::string first_sentence(const std::exception& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  if (const auto end = text.find("] "); text.starts_with('[') && end != std::string::npos) {
    text = text.substr(end + 2);
  }
  return text.substr(0, text.find(". "));
}

// Connects to the store in which all processes meet. Tries again until the time is over: a single
// try of c10d may last longer than its timeout.
c10::intrusive_ptr<c10d::TCPStore> open_store(const ProcessPlace& place, bool creates,
                                              milliseconds timeout) {
  constexpr milliseconds one_try{3000};
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = creates;
  options.waitWorkers = false;
  options.timeout = creates ? timeout : std::min(timeout, one_try);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    try {
      auto store = c10::make_intrusive<c10d::TCPStore>(place.address, options);
      store->setTimeout(timeout);
      return store;
    } catch (const std::exception&) {
      if (creates || std::chrono::steady_clock::now() + options.timeout > deadline) throw;
    }
  }
}

// Its messages have the stack of C++; what they say comes as an error. TORCH_CPP_LOG_LEVEL brings
// them back.
void silence_c10d() {
  constexpr int fatal = 3;
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = fatal;
}

}  // namespace

struct ProcessGroup::Connection {
  ProcessPlace place;
  c10::intrusive_ptr<c10d::TCPStore> store;
  c10::intrusive_ptr<c10d::Store> names;  // `store` with a prefix for this attempt
  c10::intrusive_ptr<c10d::Backend> gloo;
  c10::intrusive_ptr<c10d::Backend> nccl;  // null: tensors on GPUs travel by way of the host
  std::vector<c10::intrusive_ptr<c10d::Work>> started;

  bool was_left = false;

  // The heartbeat.
  std::mutex mutex;
  std::condition_variable wake;
  bool leaving = false;
  bool stopped = false;                            // the heart
  std::chrono::steady_clock::time_point answered;  // the last time at which the store did
  std::thread heart;
  std::thread watch;

  // Without leave(), another process may have ended in the middle of a sum, for which NCCL waits.
  ~Connection() {
    if (nccl && !was_left) nccl->abort();
    stop_heart();
  }

  void start_heart() {
    answered = std::chrono::steady_clock::now();
    heart = std::thread([this] {
      try {
        beat();
      } catch (const std::exception& error) {
        end_process(fmt::format("lost the connection to {}:{}", place.address, place.port));
      }
      const std::lock_guard lock(mutex);
      stopped = true;
      wake.notify_all();
    });
    watch = std::thread([this] { watch_heart(); });
  }
  void stop_heart() {
    {
      const std::lock_guard lock(mutex);
      leaving = true;
    }
    wake.notify_all();
    if (heart.joinable()) heart.join();
    if (watch.joinable()) watch.join();
  }
  // Ends the process if the store does not answer the heart, whose calls have no time limit: they
  // wait for ever for a machine that vanished or a process that was stopped.
  void watch_heart() {
    std::unique_lock lock(mutex);
    while (!stopped) {
      wake.wait_for(lock, beat_every);
      if (stopped || std::chrono::steady_clock::now() - answered <= silence_limit) continue;
      leaving = false;  // if it was true, the heart could not leave
      lock.unlock();
      end_process(fmt::format("{}:{} has been silent for {} seconds", place.address, place.port,
                              silence_limit.count()));
    }
  }
  // Ends the process: its main thread may be waiting for a process that never answers.
  void end_process(const std::string& what) {
    {
      const std::lock_guard lock(mutex);
      if (leaving) return;
    }
    log::error(
        "process {} of {}: {}: another process of this training has ended or cannot be reached. "
        "Nothing that was saved is lost; start all processes again to resume",
        place.rank, place.size, what);
    std::_Exit(static_cast<int>(ExitCode::environment));
  }
  // Counts up a number of the store, until the group is left. Rank 0 watches the others; they
  // notice the end of rank 0 by the end of its store or, under torchrun, by its number.
  void beat() {
    const auto own = open_store(place, /*creates=*/false, silence_limit);
    c10d::PrefixStore beats("regard/" + place.attempt + "/beat", own);
    const auto key = [](std::size_t rank) { return std::to_string(rank); };
    std::vector<std::int64_t> last(place.size, -1);
    std::vector<std::chrono::steady_clock::time_point> heard(place.size,
                                                             std::chrono::steady_clock::now());
    for (;;) {
      beats.add(key(place.rank), 2);
      for (std::size_t rank = 0; rank < place.size; ++rank) {
        if (rank == place.rank || (place.rank != 0 && rank != 0)) continue;
        const auto number = beats.add(key(rank), 0);
        const auto now = std::chrono::steady_clock::now();
        const bool has_left = number % 2 != 0;
        if (number != last[rank] || has_left) {
          last[rank] = number;
          heard[rank] = now;
        } else if (now - heard[rank] > silence_limit) {
          end_process(fmt::format("process {} has been silent for {} seconds", rank,
                                  silence_limit.count()));
        }
      }
      std::unique_lock lock(mutex);
      answered = std::chrono::steady_clock::now();
      if (wake.wait_for(lock, beat_every, [this] { return leaving; })) break;
    }
    beats.add(key(place.rank), 1);  // odd: has left
  }
};

ProcessGroup::ProcessGroup() = default;

ProcessGroup::ProcessGroup(const ProcessPlace& place, double seconds)
    : rank_(place.rank), size_(place.size), all_shards_(place.size) {
  first_shard_ = rank_;
  if (is_alone()) return;
  silence_c10d();
  const milliseconds timeout(static_cast<std::int64_t>(1000 * seconds));
  connection_ = std::make_unique<Connection>();
  auto& c = *connection_;
  c.place = place;
  const bool creates = rank_ == 0 && !place.has_agent_store;
  try {
    c.store = open_store(place, creates, timeout);
  } catch (const std::exception& error) {
    if (creates) {
      throw EnvironmentError(
          "cannot listen at {}:{} (MASTER_ADDR, MASTER_PORT): {}; choose an address of this "
          "machine and a free port",
          place.address, place.port, first_sentence(error));
    }
    throw EnvironmentError(
        "cannot reach process 0 at {}:{} within {:.0f} seconds; start it, and check MASTER_ADDR, "
        "MASTER_PORT and the network",
        place.address, place.port, seconds);
  }
  c.names = c10::make_intrusive<c10d::PrefixStore>("regard/" + place.attempt, c.store);
  // A second process of the same rank, and processes with another WORLD_SIZE.
  const auto size_text = std::to_string(size_);
  const auto first_size = store_text(c.names->compareSet("size", {}, store_bytes(size_text)));
  if (first_size != size_text) {
    throw ConfigError("found WORLD_SIZE {}, but {} in another process of {}:{}", size_, first_size,
                      place.address, place.port);
  }
  if (c.names->add(fmt::format("rank/{}", rank_), 1) > 1) {
    throw ConfigError("two processes have RANK={}; give each of the {} its own", rank_, size_);
  }
  std::vector<std::string> all;
  for (std::size_t rank = 0; rank < size_; ++rank) all.push_back(fmt::format("here/{}", rank));
  c.names->set(all[rank_], store_bytes("1"));
  const auto begin = std::chrono::steady_clock::now();
  try {
    c.names->wait(all, timeout);
  } catch (const std::exception&) {
    std::string missing;
    for (std::size_t rank = 0; rank < size_; ++rank) {
      try {
        if (!c.names->check({all[rank]})) missing += fmt::format(" {}", rank);
      } catch (const std::exception&) {
        missing = " 0";  // its store has ended
        break;
      }
    }
    throw EnvironmentError(
        "waited {:.0f} seconds at {}:{} for the processes with rank{}; start all {} of them",
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
        place.address, place.port, missing, size_);
  }
  try {
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(gloo_device(place));
    const auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>("gloo", c.names), static_cast<int>(rank_),
        static_cast<int>(size_), options);
    gloo->setTimeout(std::chrono::duration_cast<milliseconds>(patience));
    c.gloo = gloo;
  } catch (const std::exception& error) {
    throw EnvironmentError("cannot connect to the other processes: {}", first_sentence(error));
  }
  c.start_heart();
  find_neighbours();
}

void ProcessGroup::communicate(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& error) {
    throw EnvironmentError(
        "another process of this training has ended or cannot be reached; see its message. Nothing "
        "that was saved is lost; start all processes again to resume ({})",
        first_sentence(error));
  }
}

void ProcessGroup::start_sum(const torch::Tensor& tensor) {
  if (is_alone()) return;
  auto& c = *connection_;
  if (!tensor.is_cpu() && !c.nccl) {  // by way of the host
    try {
      const auto copy = tensor.cpu();
      sum(copy);
      const torch::NoGradGuard guard;
      tensor.copy_(copy);
    } catch (const c10::Error& error) {
      // Without this sum the processes would add up different parts, so the training cannot go on
      // with smaller batches, as it does when other memory is short.
      throw EnvironmentError("the gradient cannot travel by way of the host: {}",
                             first_sentence(error));
    }
    return;
  }
  communicate([&] {
    std::vector<torch::Tensor> tensors{tensor};
    c.started.push_back((tensor.is_cpu() ? c.gloo : c.nccl)->allreduce(tensors));
  });
}

void ProcessGroup::use_device(torch::Device device) {
  if (is_alone()) return;
  std::string identity;  // of a GPU with NCCL
#ifdef REGARD_NCCL
  torch::Tensor number;
  if (device.is_cuda()) {
    identity = gpu_identity(device);
    number = torch::zeros({1}, device);
  }
#endif
  auto all = gather(identity);
  std::ranges::sort(all);
  const bool all_have_nccl = !all.front().empty();
  const bool is_shared = std::ranges::adjacent_find(all) != all.end();
  if (!all_have_nccl || is_shared) {
    if (device.is_cpu() || !is_first()) return;
    log::info("gradients travel by way of the host: {}",
              all_have_nccl ? "two processes train on one GPU"
                            : "a process has no GPU, or no NCCL of the version in its LibTorch");
    return;
  }
#ifdef REGARD_NCCL
  communicate([&] {
    auto& c = *connection_;
    c.nccl = connect_by_nccl(c10::make_intrusive<c10d::PrefixStore>("nccl", c.names), rank_, size_,
                             std::chrono::duration_cast<milliseconds>(patience));
  });
  sum(number);  // connects the GPUs while all processes are here
#endif
}

void ProcessGroup::finish_sums() {
  if (is_alone()) return;
  communicate([&] {
    for (const auto& work : connection_->started) work->wait();
  });
  connection_->started.clear();
}

void ProcessGroup::broadcast(const torch::Tensor& tensor) {
  if (is_alone()) return;
  std::vector<torch::Tensor> tensors{tensor.is_cpu() ? tensor : tensor.cpu()};
  communicate([&] { connection_->gloo->broadcast(tensors)->wait(); });
  const torch::NoGradGuard guard;
  if (!tensor.is_cpu()) tensor.copy_(tensors[0]);
}

void ProcessGroup::wait_for_all() {
  if (!is_alone()) communicate([&] { connection_->gloo->barrier()->wait(); });
}

void ProcessGroup::leave() {
  if (is_alone()) return;
  connection_->stop_heart();
  wait_for_all();
  if (connection_->nccl) connection_->nccl->shutdown();
  connection_->was_left = true;
}

#else  // without Gloo

struct ProcessGroup::Connection {};

ProcessGroup::ProcessGroup() = default;
ProcessGroup::ProcessGroup(const ProcessPlace& place, double /*seconds*/)
    : rank_(place.rank), size_(place.size) {
  if (is_alone()) return;
  throw EnvironmentError(
      "WORLD_SIZE is {}, but regard was built without Gloo, which connects processes; install "
      "Gloo's headers (Debian: libgloo-dev) and build regard again",
      size_);
}
void ProcessGroup::use_device(torch::Device /*device*/) {}
void ProcessGroup::start_sum(const torch::Tensor& /*tensor*/) {}
void ProcessGroup::finish_sums() {}
void ProcessGroup::broadcast(const torch::Tensor& /*tensor*/) {}
void ProcessGroup::wait_for_all() {}
void ProcessGroup::leave() {}

#endif

ProcessGroup::~ProcessGroup() = default;

void ProcessGroup::sum(const torch::Tensor& tensor) {
  start_sum(tensor);
  finish_sums();
}

std::vector<double> ProcessGroup::sum(std::vector<double> values) {
  if (is_alone()) return values;
  sum(torch::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, torch::kDouble));
  return values;
}

std::string ProcessGroup::broadcast(const std::string& bytes) {
  if (is_alone()) return bytes;
  auto size = torch::full({1}, static_cast<std::int64_t>(bytes.size()), torch::kLong);
  broadcast(size);
  std::string received = bytes;
  received.resize(static_cast<std::size_t>(size.item<std::int64_t>()));
  for (std::size_t begin = 0; begin < received.size(); begin += part_bytes) {
    const auto n = std::min(part_bytes, received.size() - begin);
    broadcast(
        torch::from_blob(received.data() + begin, {static_cast<std::int64_t>(n)}, torch::kByte));
  }
  return received;
}

// Each process has its own part of one buffer, which is zero elsewhere; the parts are added up.
std::vector<std::string> ProcessGroup::gather(const std::string& bytes) {
  if (is_alone()) return {bytes};
  std::vector<double> sizes(size_, 0);
  sizes[rank_] = static_cast<double>(bytes.size());
  sizes = sum(sizes);
  std::vector<std::size_t> starts{0};
  for (const auto size : sizes) starts.push_back(starts.back() + static_cast<std::size_t>(size));
  std::string buffer(starts.back(), '\0');
  buffer.replace(starts[rank_], bytes.size(), bytes);
  for (std::size_t begin = 0; begin < buffer.size(); begin += part_bytes) {
    const auto n = std::min(part_bytes, buffer.size() - begin);
    sum(torch::from_blob(buffer.data() + begin, {static_cast<std::int64_t>(n)}, torch::kByte));
  }
  std::vector<std::string> gathered;
  for (std::size_t rank = 0; rank < size_; ++rank) {
    gathered.push_back(buffer.substr(starts[rank], starts[rank + 1] - starts[rank]));
  }
  return gathered;
}

void ProcessGroup::set_shards(std::size_t shards) {
  std::vector<double> counts(size_, 0);
  counts[rank_] = static_cast<double>(shards);
  counts = sum(counts);
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(rank_);
  first_shard_ = static_cast<std::size_t>(std::accumulate(counts.begin(), middle, 0.0));
  all_shards_ = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0.0));
}

void ProcessGroup::find_neighbours() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const auto host = host_name();
  const auto processors = host + " " + processor_mask();
  const auto devices = host + " " + (visible != nullptr ? visible : "");
  local_size_ = static_cast<std::size_t>(std::ranges::count(gather(processors), processors));
  const auto all = gather(devices);
  device_rank_ = static_cast<std::size_t>(
      std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rank_), devices));
}

}  // namespace regard
