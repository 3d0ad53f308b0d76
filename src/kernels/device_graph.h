// A graph of operations of a device, such as a CUDA graph: operations are captured once, and one
// launch repeats all of them, with the same memory, shapes and numbers.
#pragma once

#include <c10/core/Stream.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>

namespace regard {

class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  DeviceGraph() = default;
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  // Operations on the current stream between begin() and end() are captured, not computed, those of
  // the backward pass too. The stream must not be the default stream. Memory that they allocate and
  // release is shared with `other`, if that is not null: no result of one may be read after the
  // other was launched.
  virtual void begin(const DeviceGraph* other) = 0;
  virtual void end() = 0;
  // Repeats the operations, on the current stream. Does not wait for the device.
  virtual void launch() = 0;
};

// Captures graphs of a device, all on one stream, so that its libraries have one workspace for
// them.
class GraphCapture {
 public:
  explicit GraphCapture(torch::Device device) : device_(device) {}

  // True if LibTorch can capture operations of the device.
  bool is_possible() const;
  // Captures the operations of `compute`. They must have been computed before, so that libraries
  // are loaded. Throws what compute() throws, CannotBeCaptured if it copies from the CPU
  // (device.h), and the errors of LibTorch if the device has no memory or compute() waits for it.
  std::unique_ptr<DeviceGraph> capture(const DeviceGraph* shares_memory_with,
                                       const std::function<void()>& compute);

 private:
  torch::Device device_;
  std::optional<c10::Stream> stream_;  // beside the default stream
};

}  // namespace regard
