// training.json, from which a training resumes: training/resumable_state.h.
#include <torch/types.h>

#include "checkpoint/manifest.h"
#include "config/training_options.h"
#include "tests/fuzz/target.h"
#include "training/resumable_state.h"

namespace regard {
namespace {

// A training of one parameter, and its checkpoint.
struct Training {
  TrainingOptions options;
  ParameterBuffer weights = ParameterBuffer::adopt({{"w", torch::zeros({2})}});
  TrainingPosition position;
  bool pending_validation = false;
  Schedule schedule{options};
  EarlyStopping early_stopping{options};
  TrainingLog log{options, fuzz::scratch().path().string(), true, std::nullopt};
  std::unique_ptr<Optimizer> optimizer = make_optimizer(options, weights);
  std::filesystem::path folder = fuzz::scratch() / "step-1";

  Training() {
    FolderWriter writer(folder);
    add_state(writer, state());
    writer.commit();
  }
  ResumableState state() {
    return {position, pending_validation, schedule,   early_stopping, log, *optimizer,
            nullptr,  weights.views(),    torch::kCPU};
  }
};

}  // namespace
}  // namespace regard

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  static Training training;
  constexpr const char* name = "training.json";
  put_bytes(training.folder / name, fuzz::as_text(data, size));
  auto manifest = read_manifest(training.folder);
  manifest.files[name] = checksum_of(training.folder / name);
  put_bytes(training.folder / manifest_name, format_manifest(manifest));

  const FolderReader folder(training.folder);
  fuzz::succeeds([&] { fuzz::check(saved_step(folder) >= 0, "a step is not negative"); });
  if (!fuzz::succeeds([&] { read_state(folder, training.state()); })) return 0;
  const auto& at = training.position;
  fuzz::check(at.step >= 0 && at.epoch >= 0 && at.batch >= 0, "a position is not negative");
  FolderWriter again(fuzz::scratch() / "again");
  add_state(again, training.state());
  return 0;
}
