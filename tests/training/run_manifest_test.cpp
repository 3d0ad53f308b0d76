#include "training/run_manifest.h"

#include <gtest/gtest.h>

namespace regard::run_manifest_test {
namespace {

TEST(RunManifest, IsToldFromThatOfAModelByItsKeys) {
  const Json run = {{"regard", "0.1.0"}, {"command", "regard train"}};
  const Json model = {{"regard", "0.1.0"}, {"files", Json::object()}};
  EXPECT_TRUE(is_run_manifest(run));
  EXPECT_FALSE(is_model_manifest(run));
  EXPECT_TRUE(is_model_manifest(model));
  EXPECT_FALSE(is_run_manifest(model));
  for (const Json& other :
       {Json({{"command", "x"}, {"files", Json::object()}}), Json({{"regard", "0.1.0"}}),
        Json("regard command files"), Json::array({"regard", "command", "files"})}) {
    EXPECT_FALSE(is_run_manifest(other)) << other;
    EXPECT_FALSE(is_model_manifest(other)) << other;
  }
}

}  // namespace
}  // namespace regard::run_manifest_test
