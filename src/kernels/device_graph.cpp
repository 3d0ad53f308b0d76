#include "kernels/device_graph.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#if __has_include(<ATen/core/GraphImplInterface.h>)
#include <ATen/core/GraphImplInterface.h>
#endif

#include <mutex>

#include "kernels/device.h"

namespace regard {

#ifdef REGARD_CUDA_GRAPHS
std::unique_ptr<DeviceGraph> make_cuda_graph();  // cuda_graph.cpp
#endif

namespace {

#if __has_include(<ATen/core/GraphImplInterface.h>)
// A graph of a device that registered its graphs with LibTorch, which has an interface for them
// since version 2.13. CUDA does not yet.
class RegisteredGraph : public DeviceGraph {
 public:
  explicit RegisteredGraph(torch::Device device) : graph_(at::create_graph_impl(device.type())) {}

  void begin(const DeviceGraph* other) override {
    const auto* same_kind = dynamic_cast<const RegisteredGraph*>(other);
    if (same_kind != nullptr) {
      graph_->capture_begin(same_kind->graph_->pool());
    } else {
      graph_->capture_begin();
    }
  }
  void end() override {
    graph_->capture_end();
    graph_->instantiate();
  }
  void launch() override { graph_->replay(); }

 private:
  std::unique_ptr<at::GraphImplInterface> graph_;
};
#endif

// Returns null if the device has none.
std::unique_ptr<DeviceGraph> make_graph(torch::Device device) {
#ifdef REGARD_CUDA_GRAPHS
  if (device.is_cuda()) return make_cuda_graph();
#endif
#if __has_include(<ATen/core/GraphImplInterface.h>)
  if (at::has_graph_impl(device.type())) return std::make_unique<RegisteredGraph>(device);
#endif
  return nullptr;
}

}  // namespace

bool GraphCapture::is_possible() const {
  return make_graph(device_) != nullptr;
}

std::unique_ptr<DeviceGraph> GraphCapture::capture(const DeviceGraph* shares_memory_with,
                                                   const std::function<void()>& compute) {
  static std::mutex one_at_a_time;  // waiting for the device would break the capture of another
  const std::scoped_lock lock(one_at_a_time);
  auto graph = make_graph(device_);
  const c10::impl::VirtualGuardImpl of_device(device_.type());
  of_device.synchronizeDevice(device_.index());  // what still runs may use memory that is reused
  if (!stream_) stream_ = of_device.getNewStream(device_);
  const c10::StreamGuard guard(*stream_);
  const CaptureScope capturing;
  graph->begin(shares_memory_with);
  try {
    compute();
  } catch (...) {
    try {
      graph->end();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the first error is the cause
    }
    throw;
  }
  graph->end();
  return graph;
}

}  // namespace regard
