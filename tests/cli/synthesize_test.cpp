// regard synthesize.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "base/json.h"
#include "tests/cli/run.h"

namespace regard::synthesize_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Words keep_all = {"--keep-copies", "--keep-duplicates", "--keep-unfinished", "--max-ratio",
                        "0"};

class Synthesize : public CliTest {
 protected:
  Synthesize() { write_text(folder_ / "mono", text_); }

  Words command(const Words& more, const std::string& output = "new") const {
    return Words{"synthesize", "-m",         tiny_model().string(), "-i", path("mono"),
                 "-o",         path(output), "--threads",           "1"} +
           more;
  }
  Finished synthesize(const Words& more = {}, const std::string& output = "new") const {
    return run(command(more, output));
  }
  std::string text_of(const std::string& name) const { return read_text(folder_ / name); }
  // Both files of an output, one after the other.
  std::string pairs_of(const std::string& output) const {
    return text_of(output + ".src") + "\n" + text_of(output + ".trg");
  }
  Json record_of(const std::string& output) const { return parse_json(text_of(output + ".json")); }
  std::int64_t count(const std::string& name, const std::string& output = "new") const {
    return record_of(output).at("counts").at(name).get<std::int64_t>();
  }
  void expect_error(const Finished& finished, int code, const std::string& message) const {
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(message));
  }

  std::string text_ = toy_corpus(60, 8).source;
};

TEST_F(Synthesize, TheTranslationIsTheSourceOrTheTarget) {
  const auto translated = translate({"-i", path("mono")}).out;
  const auto back = synthesize(keep_all + Words{"--tag", "<bt>"}, "back");
  ASSERT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(text_of("back.trg"), text_);
  std::string tagged;
  for (const auto& line : lines_of(translated)) tagged += "<bt> " + line + "\n";
  EXPECT_EQ(text_of("back.src"), tagged);
  EXPECT_THAT(back.err,
              AllOf(HasSubstr("60 pairs from 60 lines"), HasSubstr("- {src: " + path("back.src"))));
  ASSERT_EQ(synthesize(keep_all + Words{"--side", "target"}, "forward").code, 0);
  EXPECT_EQ(text_of("forward.src"), text_);
  EXPECT_EQ(text_of("forward.trg"), translated);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().extension(), Not(testing::AnyOf(".part", ".lock")));
  }
}

TEST_F(Synthesize, ASearchGivesTheBestTranslationAndSamplingAllSamples) {
  const auto translations = [&](const Words& search) {
    EXPECT_EQ(synthesize(search + keep_all + Words{"--fresh"}).code, 0);
    return text_of("new.src");
  };
  for (const Words& search : {Words{"--beam-size", "4"},
                              {"--beam-size", "4", "--mbr", "chrf"},
                              {"--samples", "4", "--mbr", "bleu"}}) {
    EXPECT_EQ(translations(search), translate(search + Words{"-i", path("mono")}).out)
        << search.back();
  }
  EXPECT_THAT(translations({"--samples", "4"}), Not(testing::IsEmpty()));
  EXPECT_EQ(count("kept") + count("empty"), 240);
}

TEST_F(Synthesize, TrainsAModel) {
  const auto config = toy_training(folder_ / "training");
  ASSERT_EQ(synthesize({"--side", "target"}).code, 0);
  const auto trained =
      run({"train", "-c", config.string(), "training.max_steps=2",
           "data.train.0.src=" + path("new.src"), "data.train.0.trg=" + path("new.trg")});
  EXPECT_EQ(trained.code, 0) << trained.err;
}

TEST_F(Synthesize, EachFilterCountsWhatItDrops) {
  std::string long_line = "the";
  for (int i = 0; i < 120; ++i) long_line += " cat";
  write_text(folder_ / "mono", "the cat sees the dog\n\n \nthe cat sees the dog\n" + long_line +
                                   "\n" + std::string(9000, 'x') + "\ncat\n");
  const auto finished = synthesize();
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(count("empty"), 2);
  EXPECT_EQ(count("duplicates"), 1);
  EXPECT_EQ(count("too long"), 2);  // more tokens than in training, and more bytes than a sentence
  EXPECT_EQ(count("kept") + count("unfinished") + count("high ratio") + count("copies"), 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("too long"), HasSubstr("from 7 lines")));

  ASSERT_EQ(synthesize({"--min-length", "4"}, "short").code, 0);
  EXPECT_EQ(count("too short", "short"), 1);
  ASSERT_EQ(synthesize({"--max-length", "3"}, "long").code, 0);
  EXPECT_EQ(count("too long", "long"), 4);
  ASSERT_EQ(synthesize({"--min-score", "-0.000001"}, "sure").code, 0);
  EXPECT_GE(count("low score", "sure"), 2);
  EXPECT_EQ(count("kept", "sure"), 0);
  ASSERT_EQ(synthesize({"--min-output-length", "15", "--max-ratio", "2"}, "ratio").code, 0);
  EXPECT_GE(count("high ratio", "ratio"), 2);
  const auto cut = synthesize({"--max-output-length", "1"}, "cut");
  EXPECT_EQ(count("unfinished", "cut"), 3);
  EXPECT_THAT(cut.err, HasSubstr("no pair of 7 lines passed the filters"));
  EXPECT_EQ(text_of("cut.src"), "");

  const auto problem = [&](const Words& filters) {
    const auto refused = synthesize(filters, "refused");
    EXPECT_EQ(refused.code, 2);
    return refused.err;
  };
  EXPECT_THAT(problem({"--min-length", "10", "--max-length", "5"}),
              HasSubstr("--min-length: found 10, expected at most 5, the largest length"));
  EXPECT_THAT(problem({"--max-ratio", "0.5"}),
              HasSubstr("--max-ratio: found 0.5, expected at least 1, or 0 for no limit"));
  ASSERT_EQ(synthesize({"--max-output-length", "1", "--keep-unfinished"}, "kept").code, 0);
  EXPECT_GT(count("kept", "kept"), 0);
}

TEST_F(Synthesize, ACopyOfTheLineIsDropped) {
  // The full stop is the only word of the toy language that is its own translation.
  write_text(folder_ / "mono", ".\n. .\n");
  ASSERT_EQ(synthesize({"--keep-copies"}, "all").code, 0);
  ASSERT_EQ(text_of("all.src"), ".\n. .\n");
  ASSERT_EQ(text_of("all.trg"), ".\n. .\n");
  ASSERT_EQ(synthesize().code, 0);
  EXPECT_EQ(count("copies"), 2);
  EXPECT_EQ(text_of("new.src"), "");
}

TEST_F(Synthesize, BatchesAndThreadsChangeNothing) {
  const Words search = {"--samples", "2", "--temperature", "1.2", "--top-k", "5"};
  ASSERT_EQ(synthesize(search + Words{"--batch-size", "1"}, "one").code, 0);
  auto other = command({}, "other");
  other.back() = "2";  // threads
  ASSERT_EQ(run(other + search + Words{"--batch-size", "17"}).code, 0);
  EXPECT_EQ(pairs_of("one"), pairs_of("other"));
}

TEST_F(Synthesize, SamplesDependOnTheSeedAndTheLine) {
  const auto sampling = keep_all + Words{"--samples", "3", "--temperature", "2"};
  ASSERT_EQ(synthesize(sampling, "one").code, 0);
  const auto sources = lines_of(text_of("one.src")), targets = lines_of(text_of("one.trg"));
  EXPECT_EQ(sources.size(), targets.size());
  EXPECT_EQ(sources.size() + static_cast<std::size_t>(count("empty", "one")), 180U);
  ASSERT_EQ(synthesize(sampling + Words{"--seed", "2"}, "two").code, 0);
  EXPECT_NE(text_of("one.src"), text_of("two.src"));
}

// Kills a process after each time that it has saved, until one reaches the end.
class KilledSynthesize : public Synthesize, public testing::WithParamInterface<const char*> {
 protected:
  // Returns the number of processes that were killed.
  int synthesize_among_kills(const Words& more) const {
    int kills = 0;
    std::int64_t lines = 0;
    while (true) {
      Running running(command(more, "killed"));
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
      while (true) {
        const auto record = record_of("killed");
        const bool is_record = record.is_object();
        if (is_record && record.at("complete").get<bool>()) {
          EXPECT_EQ(running.finish().code, 0);
          return kills;
        }
        const auto now = is_record ? record.at("lines").get<std::int64_t>() : 0;
        EXPECT_GE(now, lines);
        if (now > lines || std::chrono::steady_clock::now() > deadline) {
          EXPECT_GT(now, lines);
          lines = now;
          break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      running.send(SIGKILL);
      const auto killed = running.finish();
      if (killed.code == 0) return kills;  // it had reached the end
      EXPECT_EQ(killed.code, 128 + SIGKILL);
      ++kills;
    }
  }
};

TEST_P(KilledSynthesize, GoesOnToTheSameBytes) {
  text_ = toy_corpus(2500, 9).source;
  write_text(folder_ / "mono", text_ + text_);
  Words search = {"--tag", "<bt>", "--beam-size", "20", "--batch-size", "2"};
  if (std::string(GetParam()) == "Samples") {
    search = {"--samples", "2", "--temperature", "1.5", "--batch-size", "1"};
  }
  const int kills = synthesize_among_kills(search);
  EXPECT_GE(kills, 1);
  const auto straight = synthesize(search);
  ASSERT_EQ(straight.code, 0) << straight.err;
  EXPECT_TRUE(pairs_of("new") == pairs_of("killed"));
  EXPECT_EQ(record_of("new"), record_of("killed"));
  EXPECT_GT(count("duplicates"), 0);
}

INSTANTIATE_TEST_SUITE_P(Searches, KilledSynthesize, testing::Values("Beam", "Samples"),
                         [](const auto& search) { return std::string(search.param); });

TEST_F(Synthesize, AFinishedOutputStays) {
  ASSERT_EQ(synthesize().code, 0);
  const auto before = pairs_of("new");
  const auto again = synthesize({"--batch-size", "3"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("was complete; nothing was written (--fresh starts over)"));
  expect_error(synthesize({"--beam-size", "1"}), 2, "beam_size: 3 → 1");
  expect_error(synthesize({"--tag", "<bt>", "--min-score", "-1"}), 2, "min_score: (none) → -1");
  const auto side = synthesize({"--side", "target"});
  expect_error(side, 2, "side: source → target");
  EXPECT_THAT(side.err, HasSubstr("was finished with other settings"));
  write_text(folder_ / "mono", text_ + "the cat\n");
  expect_error(synthesize(), 2, "input: 60 lines, SHA-256");
  EXPECT_EQ(pairs_of("new"), before);
  ASSERT_EQ(synthesize({"--fresh", "--tag", "<bt>"}).code, 0);
  EXPECT_THAT(lines_of(text_of("new.src")), Each(StartsWith("<bt> ")));
}

TEST_F(Synthesize, AnotherModelIsNamed) {
  ASSERT_EQ(synthesize().code, 0);
  auto other = command({});
  other[2] = tiny_transformer().string();
  expect_error(run(other), 2, "model: SHA-256 ");
  auto copied = command({});
  copied[2] = copy_of_model(tiny_model(), folder_ / "copy").string();
  EXPECT_EQ(run(copied).code, 0);  // the same model at another place
}

TEST_F(Synthesize, BadArgumentsAreErrors) {
  expect_error(synthesize({"--side", "both"}), 2, "--side: found `both`");
  expect_error(synthesize({"--tag", "a\tb"}), 2, "--tag: found");
  expect_error(synthesize({"--tag", " "}), 2, "--tag: found");
  expect_error(synthesize({"--min-score", "1"}), 2, "--min-score");
  expect_error(synthesize({"--max-ratio", "-1"}), 2, "--max-ratio");
  expect_error(synthesize({"--min-length", "x"}), 2, "--min-length");
  expect_error(synthesize({"--samples", "1", "--beam-size", "0"}), 2, "--beam-size");
  expect_error(run({"synthesize", "-m", tiny_model().string(), "-i", "x"}), 2, "--output");
  expect_error(run({"synthesize", "-o", "x", "-i", "x"}), 2, "--model");
  expect_error(run({"backtranslation"}), 2, "did you mean `synthesize`");
  for (const auto& output : {std::string("-"), std::string(), path("")}) {
    auto arguments = command({});
    arguments[6] = output;
    expect_error(run(arguments), 2, "-o: found");
  }
  auto arguments = command({});
  arguments[4] = "-";
  expect_error(run(arguments, "the cat\n"), 3, "found a stream, expected a file");
  arguments[4] = path("none");
  expect_error(run(arguments), 3, "none");
  write_text(folder_ / "mono", "the cat\nthe \xFF\n");
  expect_error(synthesize(), 3, "mono:2");
  EXPECT_FALSE(fs::exists(folder_ / "new.json"));
}

TEST_F(Synthesize, FilesOfOthersStay) {
  write_text(folder_ / "new.trg", "mine\n");
  expect_error(synthesize(), 2, "new.trg: exists already");
  EXPECT_EQ(text_of("new.trg"), "mine\n");
  write_text(folder_ / "other.json", "{}");
  expect_error(synthesize({"--fresh"}, "other"), 2, "other.json: not written by");
  fs::rename(folder_ / "mono", folder_ / "mono.src");
  auto arguments = command({"--fresh"}, "mono");
  arguments[4] = path("mono.src");
  expect_error(run(arguments), 2, "is an input and would be overwritten");
  copy_of_model(tiny_model(), folder_ / "model");
  fs::rename(folder_ / "mono.src", folder_ / "mono");
  expect_error(synthesize({}, "model/manifest"), 2, "belongs to the model folder");
  expect_error(synthesize({}, "none/new"), 6, "No such file or directory");
}

TEST_F(Synthesize, ALanguageModelTranslatesNothing) {
  auto arguments = command({});
  arguments[2] = tiny_language_model().string();
  expect_error(run(arguments), 2, "translates nothing");
}

TEST_F(Synthesize, HelpNamesTheThreeUses) {
  const auto help = run({"synthesize", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("back-translation"), HasSubstr("distillation"),
                              HasSubstr("--min-score"), HasSubstr("regard synthesize -m")));
}

}  // namespace
}  // namespace regard::synthesize_test
