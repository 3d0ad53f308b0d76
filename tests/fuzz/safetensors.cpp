// Weights of a stranger: checkpoint/safetensors.h.
#include "checkpoint/safetensors.h"

#include "tests/fuzz/target.h"

namespace regard {
namespace {

std::string encoded(const NamedTensors& tensors, const TensorMetadata& metadata) {
  std::string bytes;
  encode_safetensors(tensors, metadata, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

}  // namespace
}  // namespace regard

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = fuzz::scratch() / "model.safetensors";
  put_bytes(path, fuzz::text_of(data, size));
  TensorMetadata metadata;
  NamedTensors tensors;
  if (!fuzz::answers([&] { tensors = read_safetensors(path, &metadata); })) return 0;

  const auto once = encoded(tensors, metadata);
  put_bytes(path, once);
  TensorMetadata metadata_again;
  const auto tensors_again = read_safetensors(path, &metadata_again);
  fuzz::promise(encoded(tensors_again, metadata_again) == once, "what is written reads the same");
  return 0;
}
