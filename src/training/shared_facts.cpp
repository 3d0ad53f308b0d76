#include "training/shared_facts.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <string>

#include "base/cpu.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/version.h"
#include "config/writer.h"
#include "model/build_model.h"

namespace regard {

Json facts_of(const Setup& setup) {
  auto options = setup.options;
  options.device = "";
  options.threads = 0;
  options.training.model_dir = "";
  std::string data;
  const auto add = [&](const std::string& key, std::string& path) {
    if (path.empty()) return;
    const auto& digest = setup.digests.at(path);
    data += fmt::format("{}: {}, sha256 {}\n", key, counted(digest.lines, "line"), digest.sha256);
    path = "";
  };
  const auto add_sides = [&](const std::string& key, const auto& pair) {
    if (is_denoising(options.data, pair)) data += key + ": source and target are the same file\n";
  };
  add_sides("data.dev", options.data.dev);
  for (std::size_t i = 0; i < options.data.train.size(); ++i) {
    add_sides(fmt::format("data.train.{}", i), options.data.train[i]);
    add(fmt::format("data.train.{}.src", i), options.data.train[i].src);
    add(fmt::format("data.train.{}.trg", i), options.data.train[i].trg);
  }
  add("data.prepared", options.data.prepared);
  add("data.dev.src", options.data.dev.src);
  add("data.dev.trg", options.data.dev.trg);
  options.data.tokenizer.src_file = options.data.tokenizer.trg_file = "";
  std::string weights;
  for (const auto& [name, tensor] : parameters_of(*setup.model)) {
    const auto values = tensor.detach().cpu().contiguous();
    weights += sha256({static_cast<const char*>(values.data_ptr()),
                       static_cast<std::size_t>(values.numel()) * values.element_size()});
  }
  return {{"version", fmt::format("regard {}, LibTorch {}", version(), TORCH_VERSION)},
          {"configuration", write_options(options)},
          {"text", data},
          {"kind of processor", setup.device.is_cpu() ? std::string(cpu_level_name()) : "GPU"},
          {"vocabulary", fmt::format("{} and {} tokens, sha256 {}", setup.codec.source->size(),
                                     setup.codec.target->size(),
                                     sha256(setup.codec.source->serialized() +
                                            setup.codec.target->serialized()))},
          {"set of weights", "sha256 " + sha256(weights)}};
}

}  // namespace regard
