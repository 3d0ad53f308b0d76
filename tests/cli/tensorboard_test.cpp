// Event files of regard train with training.tensorboard. scripts/check.sh tensorboard checks that
// TensorBoard reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/json.h"
#include "tests/cli/train.h"
#include "tests/report/event_reader.h"

namespace regard::tensorboard_test {
namespace {

using testing::IsEmpty;

// Returns the values of a tag by step, without duplicates after restarts.
std::multimap<std::int64_t, float> series(const std::filesystem::path& run,
                                          const std::string& tag) {
  std::multimap<std::int64_t, float> values;
  for (const auto& file : event_files(run)) {
    for (const auto& event : read_events(read_text(file))) {
      if (event.restart) values.erase(values.lower_bound(event.step), values.end());
      const auto found = event.scalars.find(tag);
      if (found != event.scalars.end()) values.emplace(event.step, found->second);
    }
  }
  return values;
}

std::multimap<std::int64_t, float> train_log(const std::filesystem::path& run,
                                             const std::string& key) {
  std::multimap<std::int64_t, float> values;
  for (const auto& line : lines_of(read_text(run / "train.jsonl"))) {
    const auto object = Json::parse(line);
    values.emplace(object["step"].get<std::int64_t>(), object[key].get<float>());
  }
  return values;
}

TEST_F(Train, EventFilesEqualTheJournalAfterAKill) {
  const Words options = {"training.tensorboard=true", "training.logging_every=5",
                         "training.save_every=12"};
  ASSERT_EQ(train(options + Words{"training.max_steps=40", "training.keep_newest=9"}).code, 0);
  const auto run = folder_ / "run";
  // Simulates a kill after step 40, with the last checkpoint at step 30.
  std::filesystem::remove_all(run / "checkpoints/step-00000036");
  std::filesystem::remove_all(run / "checkpoints/step-00000040");
  ASSERT_EQ(train(options).code, 0);
  EXPECT_EQ(event_files(run).size(), 2U);
  const auto loss = series(run, "train/loss");
  EXPECT_EQ(loss, train_log(run, "loss"));
  EXPECT_EQ(loss.count(35), 1U);
  EXPECT_EQ(series(run, "train/learning_rate"), train_log(run, "learning_rate"));
  EXPECT_FALSE(series(run, "validation/bleu").empty());
}

TEST_F(Train, EventFilesAreOptional) {
  ASSERT_EQ(train({"training.max_steps=1"}).code, 0);
  EXPECT_THAT(event_files(folder_ / "run"), IsEmpty());
}

TEST_F(Train, FreshDeletesEventFiles) {
  ASSERT_EQ(train({"training.tensorboard=true", "training.max_steps=1"}).code, 0);
  ASSERT_EQ(train({"--fresh", "training.max_steps=1"}).code, 0);
  EXPECT_THAT(event_files(folder_ / "run"), IsEmpty());
}

}  // namespace
}  // namespace regard::tensorboard_test
