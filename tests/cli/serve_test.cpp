// regard serve, with real models. tests/serve/ has the tests of HTTP.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "base/json.h"
#include "serve/http_server.h"
#include "tests/cli/run.h"
#include "text/unicode.h"

namespace regard::serve_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

int free_port() {
  HttpOptions options;
  options.port = 0;
  return HttpServer(options).bind();
}

class ServeCli : public CliTest {
 protected:
  void start(const Words& arguments, const std::vector<int>& ignored_signals = {}) {
    port_ = free_port();
    server_ = std::make_unique<Running>(Words{"serve", "--port", std::to_string(port_)} + arguments,
                                        ignored_signals);
    for (int i = 0; i < 600; ++i) {
      if (client().Get("/health")) return;
      std::this_thread::sleep_for(100ms);
    }
    FAIL() << "the server did not start: " << server_->finish().err;
  }
  Finished stop(int signal = SIGTERM) {
    server_->send(signal);
    return server_->finish();
  }
  httplib::Client client() const {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(60s);
    return client;
  }
  Json ask(const Json& body) const {
    const auto result = client().Post("/translate", to_text(body), "application/json");
    return result ? Json::parse(result->body) : Json("no answer");
  }
  std::string message(const Json& body) const {
    const auto answer = ask(body);
    return answer.contains("error") ? answer["error"]["message"].get<std::string>()
                                    : to_text(answer);
  }

  int port_ = 0;
  std::unique_ptr<Running> server_;
};

TEST_F(ServeCli, TranslatesAsTheCommandTranslateDoes) {
  const auto source = lines_of(toy_corpus(60, 9).source);
  std::string text;
  for (const auto& line : source) text += line + "\n";
  start({"-m", "gru=" + tiny_model().string(), "-m", "tf=" + tiny_transformer().string()});
  for (const auto& [name, model] : {std::pair{"gru", tiny_model()}, {"tf", tiny_transformer()}}) {
    for (const int beam : {1, 4}) {
      const auto translated =
          run({"translate", "-m", model.string(), "--beam-size", std::to_string(beam), "--n-best",
               std::to_string(beam), "--json"},
              text);
      const auto expected = lines_of(translated.out);
      const auto answer = ask(
          {{"text", source}, {"model", name}, {"n_best", beam}, {"search", {{"beam_size", beam}}}});
      ASSERT_THAT(answer["translations"], SizeIs(source.size()));
      for (std::size_t i = 0; i < source.size(); ++i) {
        SCOPED_TRACE(name + (" line " + std::to_string(i)));
        const auto wanted = parse_json(expected[i])["hypotheses"];
        const auto& found = answer["translations"][i]["hypotheses"];
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          EXPECT_EQ(found[k]["text"], wanted[k]["text"]);
          for (const auto* key : {"log_probability", "score", "finished"}) {
            EXPECT_EQ(found[k][key], wanted[k][key]) << key;
          }
        }
      }
    }
  }
  const auto finished = stop();
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, AllOf(HasSubstr("POST /translate 200"), HasSubstr("Stopped."),
                                  Not(HasSubstr(source[0]))));
}

TEST_F(ServeCli, ReturnsWhatARequestAsksFor) {
  start({"-m", tiny_model().string()});
  const std::string line = "the small cat sees the dog .";
  const auto answer = ask({{"text", line},
                           {"n_best", 2},
                           {"search", {{"beam_size", 3}}},
                           {"attention", true},
                           {"alignments", true},
                           {"tree", true}});
  EXPECT_EQ(answer["model"], "run");
  const auto& translation = answer["translations"][0];
  ASSERT_THAT(translation["hypotheses"], SizeIs(2));
  EXPECT_THAT(translation["source_tokens"], SizeIs(8));
  const auto& best = translation["hypotheses"][0];
  EXPECT_EQ(best["text"], translation["text"]);
  EXPECT_EQ(best["tokens"].size(), best["token_log_probability"].size());
  EXPECT_EQ(best["tokens"].size(), best["attention"].size());
  double log_probability = 0;
  for (const auto& log_p : best["token_log_probability"]) log_probability += log_p.get<double>();
  EXPECT_NEAR(best["log_probability"].get<double>(), log_probability, 1e-9);
  for (const auto& row : best["attention"]) {
    double sum = 0;
    for (const auto& weight : row) sum += weight.get<double>();
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  EXPECT_GT(translation["tree"].size(), best["tokens"].size());
  translate({"--beam-size", "3", "--alignments", path("links")}, line + "\n");
  std::string links;
  for (const auto& link : best["alignment"]) {
    links += (links.empty() ? "" : " ") + std::to_string(link[0].get<int>()) + "-" +
             std::to_string(link[1].get<int>());
  }
  EXPECT_THAT(lines_of(read_text(path("links"))), ElementsAre(links));
  // Keys that nobody asked for are absent.
  EXPECT_FALSE(ask({{"text", line}})["translations"][0].contains("source_tokens"));
}

TEST_F(ServeCli, AppliesConstraintsAndSplitsLongLines) {
  start({"-m", tiny_model().string(), "--beam-size", "4"});
  const auto constrained = ask({{"text", {"the cat sees", "a dog hears", ""}},
                                {"prefix", "ici"},
                                {"require", {"petit"}},
                                {"ban", {"chien", "unknown"}}});
  for (const int i : {0, 1}) {
    EXPECT_THAT(constrained["translations"][i]["text"].get<std::string>(),
                AllOf(StartsWith("ici"), HasSubstr("petit"), Not(HasSubstr("chien"))));
  }
  EXPECT_EQ(constrained["translations"][2]["text"], "");
  EXPECT_THAT(constrained["translations"][2]["hypotheses"], IsEmpty());
  EXPECT_THAT(message({{"text", "a"}, {"require", {"nowhere"}}}),
              HasSubstr("require: `nowhere` is not in the model's vocabulary"));
  EXPECT_THAT(message({{"text", "a"}, {"prefix", "le chat"}, {"ban", {"chat"}}}),
              HasSubstr("ban: `chat` is banned, but prefix requires it"));

  const auto whole = ask({{"text", "the cat sees . the dog hears ."}, {"split_length", 4}});
  const auto parts = ask({{"text", {"the cat sees .", "the dog hears ."}}});
  EXPECT_EQ(whole["translations"][0]["text"].get<std::string>(),
            parts["translations"][0]["text"].get<std::string>() + " " +
                parts["translations"][1]["text"].get<std::string>());
}

TEST_F(ServeCli, SentencesAreTranslatedOneByOne) {
  start({"-m", tiny_model().string(), "--beam-size", "4"});
  const std::string line = "the cat sees . the dog hears . a small bird hears the old dog .";
  const auto printed = [&](const Words& options) {
    return lines_of(translate(options + Words{"--beam-size", "4"}, line + "\n").out)[0];
  };
  const auto asked = [&](Json request) {
    request["text"] = line;
    return ask(request)["translations"][0];
  };
  const auto split = asked({{"tokens", true}, {"attention", true}});
  EXPECT_EQ(split["text"], printed({}));
  EXPECT_EQ(split["parts"].size(), 3) << split["parts"];
  std::string sources;
  std::string texts;
  for (const auto& part : split["parts"]) {
    sources += (sources.empty() ? "" : " ") + part["source"].get<std::string>();
    texts += (texts.empty() ? "" : " ") + part["text"].get<std::string>();
  }
  EXPECT_EQ(sources, line);
  EXPECT_EQ(texts, split["text"]);
  EXPECT_EQ(split["source_tokens"].size(), split_at_ascii_space(line).size() + 1);
  EXPECT_EQ(split["hypotheses"][0]["attention"][0].size(), split["source_tokens"].size());
  // Whole lines.
  const auto whole = asked({{"whole_lines", true}});
  EXPECT_EQ(whole["text"], printed({"--whole-lines"}));
  EXPECT_FALSE(whole.contains("parts"));
  EXPECT_EQ(asked({{"n_best", 2}})["text"], whole["text"]);
  EXPECT_EQ(asked({{"tree", true}})["text"], whole["text"]);
  EXPECT_FALSE(asked({{"require", {"chat"}}}).contains("parts"));
  EXPECT_THAT(message({{"text", line}, {"whole_lines", true}, {"split_length", 4}}),
              HasSubstr("split_length cannot be combined with whole_lines"));
}

TEST_F(ServeCli, TermsOfAGlossaryAreTranslatedAsItSays) {
  start({"-m", "a=" + tiny_model().string(), "-m", "b=" + tiny_model().string(), "--glossary",
         file("all.tsv", "cat\toiseau\n"), "--glossary", "b=" + file("b.tsv", "dog\tvieux\n")});
  const auto text = [&](Json request) {
    request["text"] = "the cat sees a dog";
    return ask(request)["translations"][0]["text"].get<std::string>();
  };
  EXPECT_THAT(text({}), HasSubstr("oiseau"));
  EXPECT_THAT(text({{"model", "b"}}), AllOf(HasSubstr("oiseau"), HasSubstr("vieux")));
  EXPECT_EQ(text({{"glossary", false}}), text({{"glossary", false}, {"model", "b"}}));
  EXPECT_THAT(text({{"glossary", false}}), Not(HasSubstr("oiseau")));
  EXPECT_THAT(message({{"text", "a"}, {"search", {{"samples", 2}}}}),
              HasSubstr("set glossary to false"));
  EXPECT_EQ(ask({{"text", "the cat"}, {"ban", {"oiseau"}}})["translations"][0]["warning"],
            "no translation was found that has all required phrases and terms");
}

TEST_F(ServeCli, TranslatesTheTextsOfHtmlAndPutsMarkupBack) {
  start({"-m", "attends=" + tiny_model().string(), "-m", "none=" + tiny_fixed_context().string(),
         "--max-lines", "4"});
  const auto text = [&](const Json& body) {
    return ask(body)["translations"][0]["text"].get<std::string>();
  };
  const auto cat = text({{"text", "the cat sees ."}});
  const auto dog = text({{"text", "the dog hears ."}});
  EXPECT_EQ(
      text({{"text", "<p>the cat\nsees . the dog hears .\n<!-- c --><ul><li>the cat sees .</ul>"},
            {"format", "html"}}),
      "<p>" + cat + " " + dog + "\n<!-- c --><ul><li>" + cat + "</ul>");
  EXPECT_EQ(text({{"text", "<br>\n"}, {"format", "html"}}), "<br>\n");
  const auto marked = text({{"text", "a <b>small {x} dog</b>"}, {"markup", true}});
  EXPECT_LT(marked.find("<b>"), marked.find("</b>"));
  EXPECT_THAT(marked, HasSubstr("{x}"));
  EXPECT_THAT(text({{"text", "a dog 12"}, {"keep", {"numbers"}}}), HasSubstr("12"));
  EXPECT_EQ(message({{"text", "a"}, {"model", "none"}, {"format", "html"}}),
            "format html: the model none has no attention weights");
}

TEST_F(ServeCli, TheSentencesOfAllDocumentsOfARequestAreLimited) {
  start({"-m", tiny_model().string(), "--max-lines", "4"});
  EXPECT_EQ(message({{"text", "<p>a<p>a<p>a<p>a<p>a"}, {"format", "html"}}),
            "text: found 5 sentences in 1 document, expected at most 4; send several requests");
  const std::vector<std::string> documents = {"<p>a<p>a", "<p>a<p>a", "<p>a"};
  EXPECT_EQ(message({{"text", documents}, {"format", "html"}}),
            "text: found 5 sentences in 3 documents, expected at most 4; send several requests");
  EXPECT_THAT(ask({{"text", {"<p>a<p>a", "<p>a<p>a"}}, {"format", "html"}})["translations"],
              SizeIs(2));
}

TEST_F(ServeCli, ALineOfManySentencesIsRefusedIfTheyAreTooManyForTheQueue) {
  start({"-m", "a=" + tiny_model().string(), "--max-waiting", "305"});
  const std::vector<std::string> lines(300, "the small cat sees the dog .");
  std::thread waiting([&] {
    const auto answer = ask({{"text", lines},
                             {"search",
                              {{"beam_size", 20},
                               {"min_output_length", 100},
                               {"max_output_length", 101},
                               {"max_output_ratio", 0}}}});
    EXPECT_THAT(answer["translations"], SizeIs(lines.size())) << "nothing waited";
  });
  const std::string unfinished = "\nregard_unfinished_sentences{model=\"a\"} 300\n";
  for (int i = 0; i < 6000; ++i) {
    const auto metrics = client().Get("/metrics");
    if (metrics && metrics->body.find(unfinished) != std::string::npos) break;
    std::this_thread::sleep_for(1ms);
  }
  std::string line;
  for (int i = 0; i < 250; ++i) line += "the dog hears ? ";
  EXPECT_THAT(message({{"text", line}}), HasSubstr("and 250 would be more than the 305 that"));
  EXPECT_THAT(ask({{"text", {line}}, {"whole_lines", true}})["translations"], SizeIs(1));
  waiting.join();
}

TEST_F(ServeCli, APartThatIsTooLongIsNamedWithWhatHelps) {
  start({"-m", tiny_model().string(), "--max-characters", "30000"});
  const auto error = [&](const Json& body) {
    return ask(body)["translations"][0]["error"]["message"].get<std::string>();
  };
  std::string words;  // 10000 bytes
  for (int i = 0; i < 100; ++i) words += std::string(99, 'a') + " ";
  words.pop_back();
  const Json line = Json::array({"the cat sees . " + words});
  EXPECT_EQ(error({{"text", line}, {"whole_lines", true}}),
            "line 1: found 10014 bytes, expected at most 8192, as in training; shorten it");
  EXPECT_EQ(error({{"text", line}}),
            "line 1: found a part of 9999 bytes, expected at most 8192, as in training; split it "
            "with split_length");
  EXPECT_EQ(error({{"text", line}, {"split_length", 100}}),
            "line 1: found a part of 9999 bytes, expected at most 8192, as in training; give a "
            "smaller split_length");
  EXPECT_EQ(error({{"text", Json::array({std::string(9000, 'a')})}, {"split_length", 100}}),
            "line 1: found 9000 bytes, expected at most 8192, as in training; shorten it");
  EXPECT_FALSE(ask({{"text", line}, {"split_length", 50}})["translations"][0].contains("error"));
}

TEST_F(ServeCli, ARequestThatTheModelCannotServeIsAnErrorThatSaysWhy) {
  start({"-m", "attends=" + tiny_model().string(), "-m", "none=" + tiny_fixed_context().string(),
         "--max-characters", "20000"});
  EXPECT_EQ(message({{"text", "a"}, {"model", "none"}, {"attention", true}}),
            "attention: the model none has no attention weights");
  EXPECT_THAT(message({{"text", "a"}, {"search", {{"beam_size", 0}}}}),
              StartsWith("search beam_size: found `0`, expected"));
  EXPECT_THAT(message({{"text", "a"}, {"search", {{"beam_size", 6}, {"beam_groups", 4}}}}),
              HasSubstr("beam_groups"));
  EXPECT_THAT(message({{"text", "a"}, {"search", {{"beam_size", 500}}}}),
              StartsWith("search.beam_size: found 500, expected at most 20"));
  EXPECT_THAT(message({{"text", "a"}, {"n_best", 9}, {"search", {{"beam_size", 3}}}}),
              StartsWith("n_best: found 9, but the search keeps only 3"));
  // A line longer than any in training, between two others.
  const auto answer = ask({{"text", {"the cat", std::string(9000, 'a'), "the dog"}}});
  EXPECT_THAT(answer["translations"][1]["error"]["message"].get<std::string>(),
              StartsWith("line 2: found 9000 bytes, expected at most 8192"));
  EXPECT_TRUE(answer["translations"][0].contains("text"));
  EXPECT_TRUE(answer["translations"][2].contains("text"));
}

TEST_F(ServeCli, ARequestSelectsItsTags) {
  const auto source = lines_of(toy_corpus(40, 9).source);
  std::string text;
  for (const auto& line : source) text += line + "\n";
  const auto translated = [&](const Words& tags) {
    return lines_of(run(Words{"translate", "-m", tiny_tagged().string()} + tags, text).out);
  };
  const auto french = translated({"--trg-tag", "<2fr>"});
  const auto english = translated({"--trg-tag", "<2en>"});
  ASSERT_NE(french, english);
  start({"-m", tiny_tagged().string(), "--trg-tag", "<2fr>"});
  const auto answered = [&](Json request) {
    request["text"] = source;
    const auto answer = ask(request);
    Words texts;
    for (const auto& translation : answer["translations"]) {
      texts.push_back(translation["text"].get<std::string>());
    }
    return texts;
  };
  EXPECT_EQ(answered({}), french) << "the tag of the server";
  EXPECT_EQ(answered({{"trg_tag", "<2en>"}}), english);
  EXPECT_EQ(answered({{"trg_tag", ""}}), translated({})) << "no tag";
  EXPECT_EQ(answered({{"src_tag", "<2en>"}, {"trg_tag", "<2fr>"}}),
            translated({"--src-tag", "<2en>", "--trg-tag", "<2fr>"}));
  const auto shown = ask({{"text", source[0]}, {"src_tag", "<2en>"}, {"tokens", true}});
  EXPECT_EQ(shown["translations"][0]["source_tokens"][0], "<2en>");
  EXPECT_THAT(message({{"text", "a"}, {"trg_tag", "<2de>"}}),
              HasSubstr("trg_tag: found <2de>, expected one of the model's "
                        "data.tokenizer.user_symbols, [\"<2fr>\", \"<2en>\"]"));
  const auto model = Json::parse(client().Get("/models")->body)["models"][0];
  EXPECT_EQ(model["user_symbols"], Json({"<2fr>", "<2en>"}));
  EXPECT_EQ(model["src_tag"], "");
  EXPECT_EQ(model["trg_tag"], "<2fr>");
  EXPECT_EQ(model["source_language"], "en");
  EXPECT_THAT(model["description"].get<std::string>(),
              HasSubstr("to fr: a recurrent model with additive attention and "));
}

TEST_F(ServeCli, StreamsAllPartsOfATranslation) {
  start({"-m", tiny_model().string(), "--beam-size", "1"});
  const auto lines = std::vector<std::string>(20, "the old dog hears a small bird here .");
  const auto plain = ask({{"text", lines}});
  const auto stream = client().Post("/translate", to_text({{"text", lines}, {"stream", "tokens"}}),
                                    "application/json");
  std::size_t translations = 0;
  for (const auto& line : lines_of(stream->body)) {
    if (!line.starts_with("data: ")) continue;
    const auto data = Json::parse(line.substr(6));
    if (!data.contains("line")) continue;
    const auto expected =
        plain["translations"][data["line"].get<std::size_t>()]["text"].get<std::string>();
    EXPECT_THAT(expected, StartsWith(data["text"].get<std::string>()));
    translations += data.contains("hypotheses") ? 1 : 0;
  }
  EXPECT_EQ(translations, lines.size());
  EXPECT_THAT(stream->body, EndsWith("event: done\ndata: {\"model\":\"run\"}\n\n"));
}

TEST_F(ServeCli, AsksForTheTokenOfTheFile) {
  start({"-m", tiny_model().string(), "--token-file", file("token", "secret\n")});
  EXPECT_EQ(client().Get("/models")->status, 401);
  const auto models = client().Get("/models", {{"Authorization", "Bearer secret"}});
  ASSERT_EQ(models->status, 200);
  const auto model = Json::parse(models->body)["models"][0];
  EXPECT_EQ(model["attention"], "additive");
  EXPECT_EQ(model["search"]["beam_size"], 3);
  EXPECT_EQ(stop(SIGINT).code, 0);
}

TEST_F(ServeCli, SignalsThatAreIgnoredAtTheStartStayIgnored) {  // nohup, & in a script
  start({"-m", tiny_model().string()}, {SIGHUP, SIGINT});
  server_->send(SIGHUP);
  server_->send(SIGINT);
  server_->send(SIGUSR1);
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(client().Get("/health")->status, 200);
  EXPECT_EQ(stop(SIGTERM).code, 0);
}

TEST_F(ServeCli, AStopSignalDuringTheStartIsNotLost) {
  for (int i = 0; i < 8; ++i) {
    Running server({"serve", "--port", "0", "-m", tiny_model().string()});
    std::this_thread::sleep_for(i * 100ms);
    server.send(SIGTERM);
    const auto finished = server.finish();
    // Before the program has taken over the signals, the system ends it.
    EXPECT_THAT(finished.code, AnyOf(0, 128 + SIGTERM)) << i << finished.err;
  }
}

TEST_F(ServeCli, HangupLoadsTheModelsAgainAndTellsSystemdWhenTheyAreReady) {
  const auto model = copy_of_model(tiny_model(), folder_ / "model");
  // As systemd does for Type=notify, the test listens on a socket.
  const auto notify = path("notify");
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  notify.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::setenv("NOTIFY_SOCKET", notify.c_str(), 1);
  start({"-m", model.string()});
  ::unsetenv("NOTIFY_SOCKET");
  const auto state = [&] {
    char text[100];
    const auto size = ::recv(socket, text, sizeof text, 0);
    return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  };
  EXPECT_EQ(state(), "READY=1");

  const Json request = {{"text", "the cat sees"}};
  const auto before = ask(request)["translations"];
  server_->send(SIGHUP);
  std::this_thread::sleep_for(2s);
  std::filesystem::rename(model, folder_ / "elsewhere");
  server_->send(SIGHUP);  // now there is no model
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(ask(request)["translations"], before);
  const auto finished = stop();
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("model: loaded again"),
                    HasSubstr("model: could not be loaded again, so the old model stays")));
  EXPECT_EQ(state(), "STOPPING=1");
  ::close(socket);
}

TEST_F(ServeCli, TheLogHasOneLineForEachRequestWhateverItsText) {
  start({"-m", tiny_model().string(), "--log-text"});
  client().Post("/translate", "{\"text\": \"a\"\n,\n\"n_best\": 1}", "application/json");
  EXPECT_THAT(stop().err, HasSubstr(R"( "{\"text\": \"a\"\n,\n\"n_best\": 1}")"));
}

TEST_F(ServeCli, TheNamesOfTheServerAreThoseOfTheCommandLine) {
  start({"-m", tiny_model().string(), "--host-name", "translate.example.org"});
  EXPECT_EQ(client().Get("/models", {{"Host", "translate.example.org"}})->status, 200);
  EXPECT_EQ(client().Get("/models", {{"Host", "evil.example"}})->status, 421);
}

TEST_F(ServeCli, AnExistingPathIsAModelAlsoWithAnEqualsSign) {
  std::filesystem::create_directories(folder_ / "lr=0.1");
  copy_of_model(tiny_model(), folder_ / "lr=0.1" / "best");
  std::filesystem::current_path(folder_);
  start({"-m", "lr=0.1/best"});
  EXPECT_EQ(Json::parse(client().Get("/models")->body)["models"][0]["name"], "best");
}

TEST_F(ServeCli, MistakesOfTheCommandLineAreErrors) {
  const auto model = tiny_model().string();
  const auto twice = run({"serve", "--port", "0", "-m", model, "-m", model});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("found two models with the name run; name them: -m NAME=MODEL"));
  const auto missing = run({"serve", "--port", "0", "-m", "nowhere"});
  EXPECT_EQ(missing.code, 5);
  EXPECT_THAT(missing.err, HasSubstr("nowhere: no such folder"));
  EXPECT_EQ(run({"serve"}).code, 2);
  const auto no_token = run({"serve", "--port", "0", "-m", model, "--token-file", "/dev/null"});
  EXPECT_EQ(no_token.code, 6);
  EXPECT_THAT(no_token.err, HasSubstr("--token-file /dev/null: cannot be read, or is empty"));
  start({"-m", model});
  const auto busy = run({"serve", "-m", model, "--port", std::to_string(port_)});
  EXPECT_EQ(busy.code, 6);
  EXPECT_THAT(busy.err, HasSubstr(fmt::format("--port {}: cannot listen there", port_)));
}

}  // namespace
}  // namespace regard::serve_test
