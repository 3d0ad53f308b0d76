// A model whose training lines hold two sentences each, in every command that takes text: its lines
// are not split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/json.h"
#include "serve/http_server.h"
#include "tests/cli/run.h"
#include "text/unicode.h"

namespace regard::paragraphs_test {
namespace {

using testing::SizeIs;

// Returns the first `count` pairs of lines of a file of the bundled corpus, each as one line.
std::string paragraphs(const std::string& name, std::size_t count) {
  const auto lines = lines_of(read_text(std::filesystem::path(REGARD_SOURCE_DIR) / "data" / name));
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text.append(lines.at(2 * i)).append(" ").append(lines.at(2 * i + 1)).append("\n");
  }
  return text;
}

class Paragraphs : public CliTest {
 protected:
  Paragraphs() {
    const auto config = "data: {train: [{src: " + file("train.en", paragraphs("train.en", 1000)) +
                        ", trg: " + file("train.fr", paragraphs("train.fr", 1000)) +
                        "}],\n"
                        "       tokenizer: {kind: bpe, vocabulary_size: 200}}\n"
                        "model: {encoder: {embedding_dim: 16, hidden_size: 16},\n"
                        "        decoder: {embedding_dim: 16, hidden_size: 16},\n"
                        "        attention: {kind: dot}}\n"
                        "training: {model_dir: " +
                        model_ +
                        ", max_steps: 20, batch_size: 500, learning_rate: 0.01}\n"
                        "search: {beam_size: 1, max_output_length: 60}\n"
                        "threads: 2\n";
    const auto finished = run({"train", "-c", file("c.yaml", config)});
    EXPECT_EQ(finished.code, 0) << finished.err;
  }
  Words translated(const Words& options) const {
    const auto finished = run(Words{"translate", "-m", model_, "-i", source_} + options);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return lines_of(finished.out);
  }

  const std::string model_ = path("run");
  const std::string source_ = file("source", paragraphs("dev.en", 20));
  const std::string target_ = file("target", paragraphs("dev.fr", 20));
};

TEST_F(Paragraphs, AreTranslatedEvaluatedScoredAndServedAsWholeLines) {
  const auto whole = translated({"--whole-lines", "--word-scores"});
  ASSERT_THAT(whole, SizeIs(20));
  EXPECT_EQ(translated({"--word-scores"}), whole);
  const auto texts = translated({});

  const auto links = path("links");
  translated({"--alignments", links});
  const auto alignments = lines_of(read_text(links));
  ASSERT_THAT(alignments, SizeIs(20));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(split_at_ascii_space(alignments[i]).size(), split_at_ascii_space(texts[i]).size());
  }

  std::string translations;
  for (const auto& text : texts) translations += text + "\n";
  const auto evaluated = run({"evaluate", "-m", model_, "-s", source_, "-r", target_, "--json"});
  const auto of_file =
      run({"evaluate", "--hypotheses", file("hypotheses", translations), "-r", target_, "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(parse_json(evaluated.out)["bleu"]["score"], parse_json(of_file.out)["bleu"]["score"]);

  const auto scored = run({"score", "-m", model_, "-s", source_, "-t", target_});
  EXPECT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(lines_of(scored.out), SizeIs(20));

  HttpOptions options;
  options.port = 0;
  const int port = HttpServer(options).bind();
  Running server({"serve", "-m", model_, "--port", std::to_string(port)});
  httplib::Client client("127.0.0.1", port);
  for (int i = 0; i < 600 && !client.Get("/health"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const Json body = {{"text", lines_of(read_text(source_))}};
  const auto answer = client.Post("/translate", to_text(body), "application/json");
  ASSERT_TRUE(answer);
  const auto served = Json::parse(answer->body)["translations"];
  ASSERT_THAT(served, SizeIs(20));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(served[i]["text"], texts[i]);
    EXPECT_FALSE(served[i].contains("parts"));
  }
  server.send(SIGTERM);
  EXPECT_EQ(server.finish().code, 0);
}

}  // namespace
}  // namespace regard::paragraphs_test
