// regard features of sounds and images, and training, translation and scores of a model that reads
// features.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/cli/train.h"
#include "tests/data/feature_files.h"
#include "tests/data/png_bytes.h"
#include "tests/data/wav_bytes.h"

namespace regard::features_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::int64_t width = 3;

// Returns an item for each line: five to seven noisy frames for each word.
FeatureItems features_of(const std::string& text) {
  FeatureItems content{width, {}, {{"settings", "toy"}, {"frame_seconds", "0.01"}}};
  std::istringstream lines(text);
  unsigned noise = 1;
  for (std::string line; std::getline(lines, line);) {
    auto& item = content.items.emplace_back();
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const auto hash = std::hash<std::string>()(word);
      for (std::size_t frame = 0; frame < 5 + hash % 3; ++frame) {
        for (std::int64_t i = 0; i < width; ++i) {
          noise = noise * 1664525 + 1013904223;
          item.push_back(static_cast<float>(hash >> 8 * i & 0xff) / 64 - 2 +
                         static_cast<float>(noise >> 16) / 655360);
        }
      }
    }
  }
  return content;
}

class Features : public Train {
 protected:
  Features() {
    for (const std::string part : {"train", "dev"}) {
      write_features(features(part), features_of(read_text(folder_ / (part + ".en"))));
    }
  }
  std::string features(const std::string& part) const { return path(part + ".safetensors"); }
  Finished train_features(const Words& more = {}) const {
    const Words all = {
        "data.source=features",
        "data.train=[{src: " + features("train") + ", trg: " + path("train.fr") + "}]",
        "data.dev.src=" + features("dev"),
        "data.tokenizer.kind=word",
        "model.encoder.numbers=3",
        "model.encoder.frame_stacking=2",
        "model.encoder.pyramidal=true",
        "model.encoder.layers=2",
        "model.attention.kind=location_aware",
        "model.attention.filters=4",
        "model.attention.filter_width=5"};
    return train(all + more);
  }
  Finished translate(const Words& more, const std::string& input = "") const {
    return run(Words{"translate", "-m", path("run")} + more, input);
  }
};

TEST_F(Features, AModelLearnsTranslatesAndIsScored) {
  const auto trained = train_features({"training.max_steps=200"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr(features("dev") + ":"));  // examples are named, not printed
  const auto translated = translate({"-i", features("dev")});
  ASSERT_EQ(translated.code, 0) << translated.err;
  EXPECT_EQ(lines_of(translated.out).size(), 20);

  // The bytes depend on neither batches nor threads nor on how the item is named.
  for (const Words& options :
       {Words{"--batch-size", "1", "--threads", "1"}, {"--batch-size", "7", "--threads", "2"}}) {
    EXPECT_EQ(translate(options + Words{"-i", features("dev")}).out, translated.out);
  }
  const auto third = translate({}, "\n" + features("dev") + ":3\n");
  EXPECT_EQ(third.out, "\n" + lines_of(translated.out)[2] + "\n") << third.err;

  const auto dev = path("dev.fr");
  const auto evaluated = run({"evaluate", "-m", path("run"), "-s", features("dev"), "-r", dev,
                              "--metrics", "wer,cer", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_LT(Json::parse(evaluated.out).at("wer").at("score"),
            60);  // an untrained model is near 100
  const auto scored = run({"score", "-m", path("run"), "-s", features("dev"), "-t", dev});
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_EQ(lines_of(scored.out).size(), 20);

  const auto picture = path("x.svg"), weights = path("weights"), links = path("links");
  const auto shown =
      translate({"--picture", picture, "--attention-weights", weights, "--alignments", links},
                features("dev") + ":1\n");
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(read_text(picture), AllOf(HasSubstr("<text"), HasSubstr("0 s</text>")));
  const auto first = Json::parse(lines_of(read_text(weights))[0]);
  EXPECT_EQ(first.at("source")[1], "0.04 s");  // 2 stacked frames, halved once
  EXPECT_EQ(first.at("source").size(), first.at("weights")[0].size());
  EXPECT_THAT(lines_of(read_text(links))[0], ContainsRegex("^[0-9]+-0"));

  const auto report = run({"report", path("run"), "--sentences", "1"});
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_EQ(translate({"--explain"}, features("dev") + ":1\n").code, 0);
}

TEST_F(Features, AResumedTrainingEndsInTheSameBytes) {
  ASSERT_EQ(train_features({"training.max_steps=12", "training.model_dir=" + path("once")}).code,
            0);
  ASSERT_EQ(train_features({"training.max_steps=9"}).code, 0);  // an epoch has 7 batches
  const auto resumed = train_features({"training.max_steps=12"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights(), weights("once"));
}

TEST_F(Features, BadFeaturesNameFileItemAndWhatWasExpected) {
  const auto refused = [&](const FeatureItems& content) {
    write_features(features("train"), content);
    const auto result = train_features({"--fresh"});
    EXPECT_EQ(result.code, 3) << result.err;
    return result.err;
  };
  auto content = features_of(read_text(folder_ / "train.en"));
  auto other = content;
  other.items[6][4] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(refused(other), HasSubstr("train.safetensors:7: frame 2, number 2 is nan"));
  other = content;
  other.items.pop_back();
  EXPECT_THAT(refused(other), AllOf(HasSubstr("199"), HasSubstr("200")));
  other = content;
  other.width = 1;
  EXPECT_THAT(refused(other), HasSubstr("frames of 1 number, expected 3 (model.encoder.numbers)"));
  other = content;
  other.metadata["settings"] = "other";
  EXPECT_THAT(refused(other), HasSubstr("features of other settings (toy)"));  // of the dev set
  write_text(features("train"), "text\n");
  EXPECT_THAT(train_features().err, HasSubstr("not a valid safetensors file"));
}

TEST_F(Features, OptionsThatContradictFeaturesAreErrors) {
  const auto refused = train_features({"model.attention.filter_width=4"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("expected an odd number"));
  const auto prepared = run({"prepare", "-c", config_.string(), "-o", path("p"),
                             "data.source=features", "model.encoder.numbers=3"});
  EXPECT_EQ(prepared.code, 2);
  EXPECT_THAT(prepared.err, HasSubstr("nothing to prepare"));
}

class FeaturesOfSound : public CliTest {
 protected:
  std::string wav(const std::string& name, std::size_t samples, std::int64_t rate = 8000) const {
    std::vector<std::int16_t> sound;
    for (std::size_t i = 0; i < samples; ++i) {
      sound.push_back(static_cast<std::int16_t>(i * 7919 % 20011 - 10005));
    }
    return file(name, wav_bytes(sound, rate));
  }
  Finished features(const std::string& list, const Words& more = {}) const {
    return run(Words{"features", "-o", output_} + more, list);
  }

  const std::string output_ = path("x.safetensors");
};

TEST_F(FeaturesOfSound, TheSameBytesWithAnyNumberOfThreads) {
  const auto list = wav("a.wav", 900) + "\n" + wav("b.wav", 3000) + "\n";
  std::string bytes;
  for (const auto* threads : {"1", "2"}) {
    const auto made = features(list, {"--rate", "8000", "--bins", "12", "--threads", threads});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.err, AllOf(HasSubstr("2 items"), HasSubstr("log-mel, 8000 Hz, 12 bins")));
    if (!bytes.empty()) {
      EXPECT_EQ(read_text(output_), bytes);
    }
    bytes = read_text(output_);
  }
}

TEST_F(FeaturesOfSound, LikeTakesOverSettingsAndStatistics) {
  const auto list = wav("a.wav", 900) + "\n" + wav("b.wav", 3000) + "\n";
  ASSERT_EQ(features(list, {"--rate", "8000", "--bins", "12", "--normalise", "global"}).code, 0);
  const auto bytes = read_text(output_);
  const auto other = path("y.safetensors");
  const auto made = run({"features", "-o", other, "--like", output_}, list);
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(read_text(other), bytes);
  // Statistics of one file only.
  ASSERT_EQ(features(wav("a.wav", 900) + "\n",
                     {"--rate", "8000", "--bins", "12", "--normalise", "global"})
                .code,
            0);
  EXPECT_THAT(bytes, testing::Not(HasSubstr(read_text(output_).substr(8, 400))));
}

TEST_F(FeaturesOfSound, AWavFileOfAnotherKindStopsItAndWritesNothing) {
  const auto good = wav("a.wav", 900);
  const auto refused = [&](const std::string& list) {
    const auto result = features(list, {"--rate", "8000", "--bins", "12"});
    EXPECT_EQ(result.code, 3) << result.err;
    EXPECT_FALSE(fs::exists(output_));
    return result.err;
  };
  EXPECT_THAT(refused(good + "\n" + wav("b.wav", 900, 16000)),
              AllOf(HasSubstr("standard input:2: "), HasSubstr("b.wav"),
                    HasSubstr("found 16000 Hz, expected 8000 (--rate)")));
  EXPECT_THAT(refused(good + "\nmissing.wav\n"), HasSubstr("standard input:2: missing.wav"));
  EXPECT_THAT(refused(wav("c.wav", 0)), HasSubstr("found no samples"));
  EXPECT_THAT(refused(""), HasSubstr("empty, expected the path of a WAV or PNG file in each line"));
  EXPECT_THAT(refused(file("text.wav", "text")), HasSubstr("found no WAV file"));
}

class FeaturesOfImages : public Train {
 protected:
  // Writes an image of 16 × 8 pixels in one of four colours, and returns its path.
  std::string png(const std::string& name, std::size_t colour) const {
    std::string rows;
    for (int i = 0; i < 128; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        rows += static_cast<char>(colour == c ? 250 - i % 9 : 20 + i % 7);
      }
    }
    return file(name, png_bytes(16, 8, 8, 2, rows));
  }
  Finished features(const std::string& name, const std::string& list,
                    const Words& more = {}) const {
    return run(Words{"features", "-o", path(name + ".safetensors")} + more, list);
  }
  // Writes ten images and the names of their colours.
  void make_images() const {
    const std::vector<std::string> names = {"a red one", "a green one", "a blue one", "nothing"};
    std::string list;
    std::string captions;
    for (std::size_t i = 0; i < 10; ++i) {
      list += png(std::to_string(i) + ".png", i % 4) + "\n";
      captions += names[i % 4] + "\n";
    }
    file("captions", captions);
    const auto made = features("images", list);
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.err, HasSubstr("10 items; image, 16 x 8 pixels, RGB from 0 to 1"));
  }
  Finished train_images(const Words& more = {}) const {
    const auto pair = "{src: " + images_ + ", trg: " + path("captions") + "}";
    const Words all = {"data.source=features",
                       "data.train=[" + pair + "]",
                       "data.dev=" + pair,
                       "data.tokenizer.kind=word",
                       "model.encoder.kind=convolutional",
                       "model.encoder.numbers=48",
                       "model.encoder.image_height=8",
                       "model.encoder.layers=2",
                       "model.encoder.hidden_size=16",
                       "model.encoder.embedding_dim=256",
                       "training.learning_rate=0.003",
                       "training.epochs=0"};
    return train(all + more);
  }
  Finished translate(const Words& more, const std::string& input = "") const {
    return run(Words{"translate", "-m", path("run")} + more, input);
  }

  const std::string images_ = path("images.safetensors");
};

TEST_F(FeaturesOfImages, AModelLearnsTenImagesAndShowsWhereItLooked) {
  make_images();
  const auto trained = train_images({"training.max_steps=200"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto info = run({"info", path("run")});
  EXPECT_THAT(info.out, HasSubstr("2 convolutional layers up to 16 channels, images of 16 × 8 "
                                  "pixels as 4 × 2 cells"));
  const auto evaluated = run({"evaluate", "-m", path("run"), "-s", images_, "-r", path("captions"),
                              "--metrics", "exact", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_GE(Json::parse(evaluated.out).at("exact").at("score"), 80);
  const auto translated = translate({"-i", images_});
  EXPECT_EQ(translate({"-i", images_, "--batch-size", "3", "--threads", "2"}).out, translated.out);

  const auto third = images_ + ":3\n";
  const auto picture = path("x.svg"), weights = path("weights");
  const auto shown = translate({"--picture", picture, "--attention-weights", weights}, third);
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(read_text(picture),
              AllOf(HasSubstr("<use href=\"#image-16-"), HasSubstr("class=\"veil\""),
                    HasSubstr(" ← row 2, column 4")));
  const auto first = Json::parse(lines_of(read_text(weights))[0]);
  EXPECT_EQ(first.at("source").size(), 8);
  EXPECT_EQ(first.at("source")[5], "row 2, column 2");
  EXPECT_EQ(first.at("weights")[0].size(), 8);
  const auto page = path("x.html");
  ASSERT_EQ(translate({"--report", page}, third).code, 0);
  EXPECT_THAT(read_text(page), HasSubstr("class=\"veil\""));
  EXPECT_EQ(translate({"--explain"}, third).code, 0);
  EXPECT_EQ(translate({"--show-attention", "--alignments", weights}, third).code, 0);
}

TEST_F(FeaturesOfImages, ModelsWithOtherGridsAreNoEnsemble) {
  make_images();
  ASSERT_EQ(train_images({"training.max_steps=1"}).code, 0);
  const auto other = path("other");
  ASSERT_EQ(train_images(
                {"training.max_steps=1", "model.encoder.layers=1", "training.model_dir=" + other})
                .code,
            0);
  const auto refused = translate({other, "-i", images_});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("the grid of encoder states (model.encoder.image_channels, layers) of "));
}

TEST_F(FeaturesOfImages, AResumedTrainingEndsInTheSameBytes) {
  make_images();
  ASSERT_EQ(train_images({"training.max_steps=12", "training.model_dir=" + path("once")}).code, 0);
  ASSERT_EQ(train_images({"training.max_steps=7"}).code, 0);
  const auto resumed = train_images({"training.max_steps=12"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights(), weights("once"));
  EXPECT_EQ(train_images({"training.max_steps=12", "--fresh", "--dry-run"}).code, 0);
}

TEST_F(FeaturesOfImages, AnImageThatDoesNotFitStopsItAndWritesNothing) {
  const auto good = png("good.png", 1);
  const auto refused = [&](const std::string& list) {
    const auto result = features("x", list);
    EXPECT_EQ(result.code, 3) << result.err;
    EXPECT_FALSE(fs::exists(path("x.safetensors")));
    return result.err;
  };
  EXPECT_THAT(refused(good + "\n" + file("small.png", png_of(8, 8))),
              AllOf(HasSubstr("standard input:2: "), HasSubstr("small.png"),
                    HasSubstr("found an image of 8 x 8 pixels, expected 16 x 8")));
  const auto bytes = read_text(good);
  EXPECT_THAT(refused(good + "\n" + file("cut.png", bytes.substr(0, bytes.size() - 20))),
              AllOf(HasSubstr("standard input:2: "), HasSubstr("cut.png"), HasSubstr("damaged")));
  EXPECT_THAT(refused(good + "\nmissing.png\n"), HasSubstr("standard input:2: missing.png"));
  EXPECT_THAT(refused(good + "\n" + file("a.wav", wav_bytes({1, 2, 3}, 8000))),
              HasSubstr("a.wav: found no PNG file"));
  EXPECT_THAT(refused(file("a.wav", wav_bytes({1, 2, 3}, 16000)) + "\n" + good),
              HasSubstr("good.png: found no WAV file"));
  const auto option = features("x", good, {"--bins", "40"});
  EXPECT_EQ(option.code, 2);
  EXPECT_THAT(option.err, HasSubstr("--bins: found 40, but the list has images"));
}

TEST_F(FeaturesOfImages, LikeExpectsTheSizeOfAnotherFile) {
  make_images();
  EXPECT_EQ(features("x", png("good.png", 1), {"--like", images_}).code, 0);
  const auto refused = features("x", file("small.png", png_of(8, 8)), {"--like", images_});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("images.safetensors: "), HasSubstr("image, 16 x 8 pixels"),
                    HasSubstr("but the first image of the list has image, 8 x 8 pixels")));
  const auto sound = features("x", file("a.wav", wav_bytes({1, 2, 3}, 16000)), {"--like", images_});
  EXPECT_EQ(sound.code, 3);
  EXPECT_THAT(sound.err, HasSubstr("found features of images"));
}

TEST_F(FeaturesOfImages, BadImagesNameFileItemAndWhatWasExpected) {
  file("captions", "one\ntwo\n");
  FeatureItems content{48, {}, {}};
  content.items.assign(2, std::vector<float>(48 * 8, 0.5F));
  const auto refused = [&](const FeatureItems& changed) {
    write_features(images_, changed);
    const auto result = train_images({"--fresh", "training.max_steps=1"});
    EXPECT_EQ(result.code, 3) << result.err;
    return result.err;
  };
  auto other = content;
  other.items[1].resize(48 * 7);
  EXPECT_THAT(refused(other), HasSubstr("images.safetensors:2: found an image of 7 rows of pixels, "
                                        "expected 8 (model.encoder.image_height)"));
  other = content;
  other.items[0].clear();
  EXPECT_THAT(refused(other),
              HasSubstr("images.safetensors:1: found an image of 0 rows of pixels"));
  other = content;
  other.items[1][48] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(refused(other), HasSubstr("images.safetensors:2: frame 2, number 1 is nan"));
  other = content;
  other.width = 24;
  EXPECT_THAT(refused(other),
              HasSubstr("frames of 24 numbers, expected 48 (model.encoder.numbers)"));

  write_features(images_, content);
  ASSERT_EQ(train_images({"--fresh", "training.max_steps=1"}).code, 0);
  other = content;
  other.items[1].resize(48 * 16);
  write_features(path("large.safetensors"), other);
  const auto result = translate({"-i", path("large.safetensors")});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("large.safetensors:2: found an image of 16 rows of pixels"));
}

}  // namespace
}  // namespace regard::features_test
