// CUDA graphs of LibTorch. Compiled where the headers of CUDA are installed (cmake/Torch.cmake).
#include <ATen/cuda/CUDAGraph.h>

#include "kernels/device_graph.h"

namespace regard {
namespace {

class CudaGraph : public DeviceGraph {
 public:
  void begin(const DeviceGraph* other) override {
    const auto* same_kind = dynamic_cast<const CudaGraph*>(other);
    // Other threads may use the device meanwhile: those of other models of a server.
    graph_.capture_begin(same_kind != nullptr ? same_kind->pool_ : at::cuda::MempoolId_t{0, 0},
                         cudaStreamCaptureModeThreadLocal);
    pool_ = graph_.pool();
  }
  void end() override { graph_.capture_end(); }
  void launch() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
  at::cuda::MempoolId_t pool_ = {0, 0};
};

}  // namespace

std::unique_ptr<DeviceGraph> make_cuda_graph() {
  return std::make_unique<CudaGraph>();
}

}  // namespace regard
