// Data-parallel training by several processes, with c10d of LibTorch as its only transport.
//
// Every process plans the same batches and computes the gradient of its own shard of each. The sum
//
//   g = Σ_r g_r,    nll = Σ_r nll_r        r: rank of the process
//
// is the same in all of them, byte by byte, so that they make the same update and stay equal. The
// process with rank 0 has the run folder: it logs and saves.
//
// Processes are started by torchrun, srun or by hand, and find each other by the variables RANK,
// WORLD_SIZE, MASTER_ADDR and MASTER_PORT. Gloo connects them. Gradients on GPUs travel by NCCL
// if the build has it (process_group_nccl.h) and each process has a GPU of its own, else by way of
// the host.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace regard {

// The place of this process in a training, from its environment.
struct ProcessPlace {
  std::size_t rank = 0;
  std::size_t size = 1;  // processes of the training
  std::string address;   // host with the store in which all processes meet
  std::uint16_t port = 29500;
  bool has_agent_store = false;  // torchrun has the store; otherwise, rank 0 creates it
  std::string attempt = "0";     // differs after torchrun has restarted all processes
};

// The processes of a training. All functions that communicate must be called by all processes, in
// the same order, and wait for the slowest; they throw EnvironmentError if a process has ended.
// The messages of errors do not name the rank of this process: `regard train` adds it to each. A
// thread of its own watches the others: if one has been silent for 45 seconds, because its machine
// or the network failed, it ends this process with an error. Not thread-safe.
class ProcessGroup {
 public:
  // A process that is alone; communicates with nobody.
  ProcessGroup();
  // Meets the others. Throws EnvironmentError if they do not come within `seconds`, with the
  // address or the missing ranks, and if this build has no Gloo; ConfigError if two processes have
  // the same rank or different WORLD_SIZE.
  explicit ProcessGroup(const ProcessPlace& place, double seconds = 60);
  // Ends the connection. Call leave() first, unless there was an error.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return size_; }
  bool is_alone() const { return size_ == 1; }
  bool is_first() const { return rank_ == 0; }
  // The number of processes that share the processors of this one.
  std::size_t local_size() const { return local_size_; }
  // The rank among the processes that see the same devices.
  std::size_t device_rank() const { return device_rank_; }

  // Declares the device on which this process trains, before its first sum there. Logs it if
  // gradients on GPUs travel by way of the host.
  void use_device(torch::Device device);

  // Declares into how many shards this process divides its part of a batch. Processes may have
  // different numbers.
  void set_shards(std::size_t shards);
  // Shards of all processes with a lower rank, and of all processes. Before set_shards(), each
  // process has one.
  std::size_t first_shard() const { return first_shard_; }
  std::size_t all_shards() const { return all_shards_; }

  // Replaces a contiguous tensor by the sum over all processes, in place. start_sum() returns
  // before the sum is complete (of a tensor on a GPU without NCCL, after it), finish_sums() waits
  // for all that were started; with NCCL, the current stream of the GPU waits. The tensors must not
  // be used in between.
  void sum(const torch::Tensor& tensor);
  void start_sum(const torch::Tensor& tensor);
  void finish_sums();
  // Returns the sums over all processes, element by element. All must pass as many numbers.
  std::vector<double> sum(std::vector<double> values);
  // Returns the bytes or copies the tensor of rank 0.
  std::string broadcast(const std::string& bytes);
  void broadcast(const torch::Tensor& tensor);
  // Returns the bytes of each process, in the order of their ranks.
  std::vector<std::string> gather(const std::string& bytes);
  // Waits until all processes are here.
  void wait_for_all();
  // Ends the training in agreement: waits for all, after which a process may end.
  void leave();

 private:
  struct Connection;  // c10d's store and backends
  void find_neighbours();
  // Calls f() and turns an error of c10d into an EnvironmentError.
  void communicate(const std::function<void()>& f);

  std::size_t rank_ = 0;
  std::size_t size_ = 1;
  std::size_t local_size_ = 1;
  std::size_t device_rank_ = 0;
  std::size_t first_shard_ = 0;
  std::size_t all_shards_ = 1;
  std::unique_ptr<Connection> connection_;  // null if alone
};

}  // namespace regard
