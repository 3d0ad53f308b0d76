// Untrusted manifests, with the right hash if they have 64 zeros in its place: the same bytes are
// read as that of a checkpoint (checkpoint/manifest.h) and that of a run (training/run_manifest.h).
#include "checkpoint/manifest.h"

#include "checkpoint/folder.h"
#include "tests/fuzz/target.h"
#include "training/run_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = fuzz::scratch() / manifest_name;
  put_bytes(path, sealed_manifest(std::string(fuzz::as_text(data, size))));
  put_bytes(fuzz::scratch() / "config.yaml", "name: x\n");
  put_bytes(fuzz::scratch() / "source.vocabulary", "a\n");
  fuzz::succeeds([&] {
    const auto manifest = read_manifest(fuzz::scratch().path());
    for (const auto& [name, checksum] : manifest.files) {
      fuzz::check(name.find('/') == std::string::npos && name != "..",
                  "names are inside the folder");
    }
    const auto text = format_manifest(manifest);
    put_bytes(path, text);
    fuzz::check(format_manifest(read_manifest(fuzz::scratch().path())) == text,
                "written output reads back the same");
    const FolderReader folder(fuzz::scratch().path());
    for (const auto* name : {"config.yaml", "source.vocabulary", "model.safetensors"}) {
      fuzz::succeeds([&] { static_cast<void>(folder.text(name)); });
    }
  });

  put_bytes(path, fuzz::as_text(data, size));
  fuzz::succeeds([&] {
    const auto before = read_run_manifest(path);
    const Json file = {{"path", "a"}, {"sha256", "b"}, {"lines", 1}};
    const Json now = {{"regard", "1"},      {"libtorch", "2"}, {"threads", 3},
                      {"shards", size % 2}, {"data", {file}},  {"tokenizer_files", {file}}};
    static_cast<void>(manifest_differences(before, now));
    Json manifest = now;
    add_earlier_sessions(manifest, before);
    static_cast<void>(manifest.dump(2));
  });
  return 0;
}
