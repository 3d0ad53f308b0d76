// regard pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "base/json.h"
#include "tests/cli/run.h"

namespace regard::pipeline_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A teacher, its translations, a student and the student's scores, in another order.
constexpr const char* recipe = R"(variables:
  out:
  seed: 1
  save_every: 0
  toy: ${plan}/toy
steps:
  scores: evaluate -m ${student} -s ${toy}/dev.en -r ${toy}/dev.fr --metrics bleu,wer
  teacher: train -c ${toy}/config.yaml training.max_steps=40
  student: >
    train -c ${toy}/config.yaml training.random_seed=${seed} training.save_every=${save_every}
    training.max_steps=100
    data.train.1.src=${pairs}.src data.train.1.trg=${pairs}.trg
  pairs: [synthesize, -m, "${teacher}", -i, "${toy}/train.en", --side, target, --keep-copies]
  translation: translate -m ${student} -i ${toy}/dev.en
)";

// The lines of a plan before its steps.
const std::string plan_begin = "variables:\n  out:\nsteps:\n";

class Pipeline : public CliTest {
 protected:
  Pipeline() {
    toy_training(folder_ / "toy");
    write_text(folder_ / "plan.yaml", recipe);
  }
  Words command(const Words& more = {}, const std::string& out = "out") const {
    return Words{"pipeline", path("plan.yaml"), "out=" + path(out)} + more;
  }
  // Returns the message about a plan with a mistake.
  std::string problem(const std::string& plan, const Words& more = {}, int code = 2) const {
    write_text(path("plan.yaml"), plan);
    const auto finished = run(command(more + Words{"--dry-run"}));
    EXPECT_EQ(finished.code, code) << plan << finished.err;
    return finished.err;
  }
  std::string at(int line) const { return path("plan.yaml") + ":" + std::to_string(line) + ": "; }
  std::string weights(const std::string& out) const {
    return read_text(folder_ / out / "student" / "last" / "model.safetensors");
  }
  // Runs the pipeline until the student has a checkpoint, and sends the signal.
  Finished stop_student(int signal) const {
    Running running(command({"save_every=4"}));
    const auto checkpoint = folder_ / "out" / "student" / "last";
    for (int waited = 0; waited < 6000 && !fs::exists(checkpoint); ++waited) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    running.send(signal);
    return running.finish();
  }
};

TEST_F(Pipeline, RunsTheStepsInOrderAndShowsTheirScores) {
  const auto finished = run(command());
  ASSERT_EQ(finished.code, 0) << finished.err;
  for (const auto* text :
       {"[1/5] teacher: regard train -c ", "[2/5] pairs: regard synthesize ",
        "[3/5] student: regard train ", "[4/5] scores: regard evaluate ",
        "[5/5] translation: regard translate ", "[5/5] translation: done in 0:"}) {
    EXPECT_THAT(finished.err, HasSubstr(text));
  }
  const auto rows = lines_of(finished.out);
  ASSERT_EQ(rows.size(), 8u) << finished.out;
  EXPECT_THAT(rows[0], AllOf(StartsWith("step"), HasSubstr("bleu"), HasSubstr("wer")));
  EXPECT_THAT(rows[2], StartsWith("teacher      train"));
  EXPECT_EQ(lines_of(read_text(path("out/translation"))).size(),
            lines_of(read_text(path("toy/dev.en"))).size());

  const auto again = run(command({"--json"}));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, AllOf(HasSubstr("[5/5] translation: done before, in 0:"),
                               Not(HasSubstr(": regard "))));
  const auto steps = parse_json(again.out).at("steps");
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[3].at("name"), "scores");
  const auto scores = parse_json(read_text(path("out/scores")));
  EXPECT_EQ(steps[3].at("scores").at("wer"), scores.at("wer").at("score"));
  EXPECT_TRUE(steps[0].at("scores").contains("bleu"));
  EXPECT_EQ(steps[1].at("scores"), Json::object());

  auto record = nlohmann::json::parse(read_text(path("out/.pipeline.json")));
  record["translation"]["seconds"] = 1'000;
  write_text(path("out/.pipeline.json"), record.dump());
  fs::remove(path("out/translation"));  // only what is missing is made again
  const auto missing = run(command());
  record = nlohmann::json::parse(read_text(path("out/.pipeline.json")));
  EXPECT_LT(record["translation"]["seconds"], 1'000) << "of the result that is there";
  EXPECT_THAT(missing.err, AllOf(HasSubstr("[4/5] scores: done before"),
                                 HasSubstr("[5/5] translation: regard translate ")));
  EXPECT_TRUE(fs::exists(path("out/translation")));

  fs::remove(path("out/pairs.trg"));  // one of two files
  const auto part = run(command());
  EXPECT_EQ(part.code, 0) << part.err;
  EXPECT_THAT(part.err, AllOf(HasSubstr("pairs: a file of its result is missing"),
                              HasSubstr("[3/5] student: done before")));
}

TEST_F(Pipeline, AfterAKillItGoesOnToTheSameBytes) {
  ASSERT_EQ(run(command({"save_every=4"}, "straight")).code, 0);
  stop_student(SIGKILL);
  EXPECT_FALSE(fs::exists(path("out/scores")));
  Finished finished;
  do {  // the training ends by itself when the pipeline is killed, but not at once
    finished = run(command({"save_every=4"}));
  } while (finished.code == 6);
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("[2/5] pairs: done before"), HasSubstr("Resuming from step ")));
  EXPECT_TRUE(weights("out") == weights("straight"));
  for (const std::string name : {"/pairs.src", "/pairs.trg", "/translation"}) {
    EXPECT_EQ(read_text(path("out" + name)), read_text(path("straight" + name)));
  }
}

TEST_F(Pipeline, ASignalIsPassedOn) {
  const auto stopped = stop_student(SIGTERM);
  EXPECT_EQ(stopped.code, 143) << stopped.err;
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("Stopping after the current step, which is saved"),
                                 HasSubstr("Stopped by Terminated. Run the same command again")));
  EXPECT_FALSE(fs::exists(path("out/scores")));
  const auto finished = run(command({"save_every=4"}));
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("Resuming from step "));
}

TEST_F(Pipeline, ItsParentMayIgnoreTheSignalOfAnEndedProcess) {
  write_text(path("plan.yaml"), "variables:\n  out:\nsteps:\n  a: translate -m " +
                                    tiny_model().string() + " -i ${plan}/toy/dev.en\n");
  Running running(command(), {SIGCHLD});
  const auto finished = running.finish();
  EXPECT_EQ(finished.code, 0) << finished.err;
}

// The list of `score --n-best` is its standard output.
TEST_F(Pipeline, AScoredListIsTheResultOfItsStep) {
  write_text(path("list"), "0 ||| le chat ||| a= 1 ||| 2\n");
  write_text(path("plan.yaml"), "variables:\n  out:\nsteps:\n  a: score -m " +
                                    tiny_model().string() +
                                    " -s ${plan}/toy/dev.en --n-best ${plan}/list\n");
  const auto finished = run(command());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(read_text(path("out/a")), StartsWith("0 ||| le chat ||| a= 1 "));
}

TEST_F(Pipeline, AChangedStepNeedsFresh) {
  ASSERT_EQ(run(command()).code, 0);
  const auto before = weights("out");
  const auto changed = run(command({"seed=2"}));
  EXPECT_EQ(changed.code, 5);
  EXPECT_THAT(changed.err,
              AllOf(HasSubstr("student: now with training.random_seed=2; before with "
                              "training.random_seed=1\n"),
                    HasSubstr("scores: needs a changed step\n"), Not(HasSubstr("teacher: ")),
                    HasSubstr("--fresh runs these steps again")));
  EXPECT_TRUE(weights("out") == before);
  const auto fresh = run(command({"seed=2", "--fresh"}));
  ASSERT_EQ(fresh.code, 0) << fresh.err;
  EXPECT_THAT(fresh.err, AllOf(HasSubstr("[2/5] pairs: done before"),
                               HasSubstr("their old results are kept")));
  EXPECT_FALSE(weights("out") == before);
  EXPECT_TRUE(read_text(path("out/student.old-1/last/model.safetensors")) == before);

  write_text(path("toy/dev.en"), read_text(path("toy/dev.fr")));
  const auto input = run(command({"seed=2"}));
  EXPECT_EQ(input.code, 5);
  EXPECT_THAT(input.err, HasSubstr("translation: "));
  EXPECT_THAT(input.err, HasSubstr("teacher: " + path("toy/dev.en") + " has changed"));
}

TEST_F(Pipeline, StepsAfterAnotherResultRunAgain) {
  ASSERT_EQ(run(command()).code, 0);
  // 1. Somebody has changed the result of a step.
  const auto pairs = read_text(path("out/pairs.trg"));
  write_text(path("out/pairs.trg"), "x\n" + pairs.substr(pairs.find('\n') + 1));
  const auto changed = run(command());
  EXPECT_EQ(changed.code, 5);
  EXPECT_THAT(changed.err, HasSubstr("student: " + path("out/pairs") + " has changed\n"));
  write_text(path("out/pairs.trg"), pairs);
  EXPECT_THAT(run(command()).err, HasSubstr("[5/5] translation: done before"));
  // 2. A result is made again, with the same bytes and with others.
  fs::remove_all(path("out/teacher"));
  const auto same = run(command());
  EXPECT_THAT(same.err, AllOf(HasSubstr("[1/5] teacher: regard train "),
                              HasSubstr("[2/5] pairs: done before")));
  fs::remove_all(path("out/student"));
  ASSERT_EQ(run(Words{"train", "-c", path("toy/config.yaml"), "training.max_steps=20",
                      "training.model_dir=" + path("student")})
                .code,
            0);
  fs::copy(folder_ / "student", folder_ / "out" / "student", fs::copy_options::recursive);
  const auto others = run(command());
  EXPECT_EQ(others.code, 5);
  EXPECT_THAT(others.err, HasSubstr("scores: " + path("out/student") + " has changed\n"));
  const auto before = read_text(path("out/translation"));
  const auto fresh = run(command({"--fresh"}));
  ASSERT_EQ(fresh.code, 0) << fresh.err;
  EXPECT_TRUE(fs::exists(path("out/translation.old-1")));
  EXPECT_TRUE(read_text(path("out/translation.old-1")) == before);
  // 3. Without it, the student is made again, and is another one than that.
  fs::remove_all(path("out/student"));
  const auto made = run(command());
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, AllOf(HasSubstr("translation: " + path("out/student") + " has changed"),
                              HasSubstr("so it runs again")));
  EXPECT_TRUE(fs::exists(path("out/translation.old-2")));
}

TEST_F(Pipeline, AResultOfAnotherOriginIsKept) {
  fs::create_directories(path("out/teacher"));
  const auto finished = run(command());
  EXPECT_EQ(finished.code, 5);
  EXPECT_THAT(finished.err, HasSubstr("teacher: " + path("out/teacher") + " was not made by"));
}

TEST_F(Pipeline, AFailedStepEndsIt) {
  write_text(path("toy/train.fr"), "un\n");
  const auto finished = run(command());
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("line i of one must belong to line i of the other"),
                                  HasSubstr("teacher: `regard train` ended with exit code 3, so "
                                            "that no step after it runs"),
                                  Not(HasSubstr("pairs: "))));
}

TEST_F(Pipeline, JobsRunSideBySideAndShareTheThreads) {
  write_text(path("plan.yaml"), R"(variables: {out: }
steps:
  a: train -c ${plan}/toy/config.yaml training.max_steps=10
  b: train -c ${plan}/toy/config.yaml training.max_steps=10 training.random_seed=2
  both: average ${a} ${b} --force
)");
  const auto finished = run(command({"--jobs", "2", "--threads", "2"}));
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto started = finished.err.find("[2/3] b: regard train");
  EXPECT_LT(started, finished.err.find("[1/3] a: done in"));
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("--threads 1\n"), Not(HasSubstr("Stopped at step 10"))));
  EXPECT_THAT(read_text(path("out/b.log")), HasSubstr("Stopped at step 10"));
  write_text(path("toy/train.fr"), "un\n");
  const auto failed = run(command({"--jobs", "2", "out=" + path("other")}));
  EXPECT_EQ(failed.code, 3);
  EXPECT_THAT(failed.err,
              testing::ContainsRegex("/other/[ab].log: error: .*train.en has 200 lines"));
}

TEST_F(Pipeline, DryRunPrintsTheCommands) {
  const auto finished = run(command({"--dry-run", "toy=" + path("toy")}, "my out"));
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1], "regard synthesize -m '" + path("my out/teacher") + "' -i " +
                          path("toy/train.en") + " --side target --keep-copies --output '" +
                          path("my out/pairs") + "'");
  EXPECT_THAT(lines[3], EndsWith(" --json > '" + path("my out/scores") + "'"));
  EXPECT_FALSE(fs::exists(path("my out")));
}

TEST_F(Pipeline, ThePlanOfTheBestTranslatorIsValid) {
  Words words = {"pipeline", REGARD_SOURCE_DIR "/configs/pipelines/best.yaml", "--dry-run"};
  for (const std::string part : {"", "dev_", "test_"}) {
    words.push_back(part + "src=" + path("toy/dev.en"));
    words.push_back(part + "trg=" + path("toy/dev.fr"));
  }
  const auto finished = run(words);
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(lines_of(finished.out).size(), 12u);
}

TEST_F(Pipeline, AWrongNameIsFoundBeforeTheFirstStep) {
  const std::string pair = " -s ${plan}/toy/dev.en -r ${plan}/toy/dev.fr";
  EXPECT_THAT(problem(plan_begin + "  a: synthesize -m x -i ${plan}/toy/dev.en --side sorce\n"),
              HasSubstr(at(4) + "a: --side: found `sorce`, expected one of source, target; did you "
                                "mean `source`?"));
  EXPECT_THAT(problem(plan_begin + "  a: evaluate -m x --metrics blue" + pair + "\n"),
              HasSubstr(at(4) + "a: --metrics: found `blue`, expected one of bleu, "));
  EXPECT_THAT(
      problem(plan_begin + "  a: translate -m x -i ${plan}/toy/dev.en --attention-scale abc\n"),
      HasSubstr(at(4) + "a: --attention-scale: found `abc`, expected one of absolute, "));
}

TEST_F(Pipeline, AStepDoesNotSetItsOutput) {
  const auto expect = [&](const std::string& step, const std::string& found,
                          const std::string& form = "") {
    EXPECT_THAT(problem(plan_begin + "  a: " + step + "\n"),
                HasSubstr(at(4) + "a: found " + found + ", but the pipeline sets the output, " +
                          path("out/a") + form + "; remove it\n"));
  };
  expect("translate -m x -i toy/dev.en -o b", "--output b");
  expect("translate -m x -i toy/dev.en --output=b", "--output b");
  expect("score -m x -s toy/dev.en -t toy/dev.fr -oxx", "--output xx");
  expect("train -c x training.model_dir=b", "training.model_dir=b");
  expect("evaluate -m x -s a -r b --format latex", "--format latex", " (JSON)");

  write_text(path("plan.yaml"), plan_begin +
                                    "  a: evaluate -m x -s ${plan}/toy/dev.en -r "
                                    "${plan}/toy/dev.fr --json --output b\n");
  const auto finished = run(command({"--dry-run"}));
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, EndsWith(" --json --output b > " + path("out/a") + "\n"));
}

TEST_F(Pipeline, InputsAreFoundInEverySpelling) {
  for (const std::string step :
       {"translate -m x -igone.en", "translate -m x --input=gone.en", "prepare -cgone.en",
        "evaluate -m x -s ${plan}/toy/dev.en -r ${plan}/toy/dev.fr gone.en",
        "score -m x -s ${plan}/toy/dev.en --n-best gone.en",
        "rerank -i ${plan}/toy/dev.en --weights gone.en"}) {
    EXPECT_THAT(problem(plan_begin + "  a: " + step + "\n", {}, 3),
                HasSubstr(at(4) + "a: found no file gone.en, expected an input of `regard "));
  }
  write_text(path("plan.yaml"),
             plan_begin + "  a: translate -m " + tiny_model().string() + " -i${plan}/toy/dev.en\n");
  EXPECT_EQ(run(command()).code, 0);
  write_text(path("toy/dev.en"), "the cat .\n");
  const auto changed = run(command());
  EXPECT_EQ(changed.code, 5);
  EXPECT_THAT(changed.err, HasSubstr("a: " + path("toy/dev.en") + " has changed"));
}

TEST_F(Pipeline, OnlyScoreReadsTheFileOfNBest) {
  write_text(path("plan.yaml"), plan_begin +
                                    "  a: translate -m x -i ${plan}/toy/dev.en --n-best 2\n"
                                    "  b: score -m x -s ${plan}/toy/dev.en --n-best ${a}\n"
                                    "  c: rerank -i ${b} --weight score=1 --n-best 2\n");
  const auto finished = run(command({"--dry-run"}));
  EXPECT_EQ(finished.code, 0) << finished.err;
}

TEST_F(Pipeline, WrongPlansAreExplained) {
  const auto train = "train -c " + path("toy/config.yaml");
  EXPECT_THAT(problem("- a\n"), HasSubstr(at(1) + "found a list, expected a mapping"));
  EXPECT_THAT(problem("variables: {out: a}\nstpes: {}\n"),
              HasSubstr(at(2) + "unknown key `stpes`; expected `variables` and `steps`; did you "
                                "mean `steps`?"));
  EXPECT_THAT(problem("variables: {out: a}\n"), HasSubstr("expected a mapping `steps`"));
  EXPECT_THAT(problem(plan_begin + "  a: translate -m ${b} -i ${plan}/toy/dev.en\n"
                                   "  b: train -c x --init-from ${a}\n"),
              HasSubstr(at(4) + "found a cycle among a, b, expected steps that need only earlier"));
  EXPECT_THAT(problem(plan_begin + "  teacher: " + train + "\n  b: translate -m ${techer}\n"),
              HasSubstr(at(5) + "unknown variable or step `techer`; expected one of out, plan, "
                                "teacher, b; did you mean `teacher`?"));
  EXPECT_THAT(
      problem("variables: {out: , src: }\nsteps:\n  a: translate -i ${src}\n"),
      HasSubstr(at(3) + "found no value of the variable src; add src=VALUE to the command"));
  EXPECT_THAT(problem(plan_begin + "  a: " + train + "\n", {"seed=1"}),
              HasSubstr("unknown variable 'seed': expected out"));
  EXPECT_THAT(problem(plan_begin + "  a: trian -c x\n"),
              HasSubstr(at(4) + "a: unknown command `trian`; expected one of train, "));
  EXPECT_THAT(problem(plan_begin + "  a: " + train + " --init-form x\n"),
              HasSubstr(at(4) + "a: unknown argument `--init-form`; did you mean `--init-from`?"));
  EXPECT_THAT(problem(plan_begin + "  a: " + train + " training.max_step=3\n"),
              AllOf(HasSubstr(at(4) + "a: command line: training.max_step=3: unknown key"),
                    HasSubstr("did you mean `training.max_steps`?")));
  EXPECT_THAT(problem(plan_begin + "  a: " + train + " --help\n"), HasSubstr("a request for help"));
  EXPECT_THAT(problem(plan_begin + "  a: {train: x}\n"), HasSubstr(at(4) + "a: found a section"));
  EXPECT_THAT(problem(plan_begin + "  a: [train, ${x}]\n"), HasSubstr("inside [ ] needs quotes"));
  EXPECT_THAT(problem(plan_begin + "  out: " + train + "\n"), HasSubstr(at(4) + "found out twice"));
  EXPECT_THAT(problem(plan_begin + "  a/b: " + train + "\n"),
              HasSubstr(at(4) + "found a/b, expected"));
  EXPECT_THAT(problem(plan_begin + "  a: translate -m x -i ${plan\n"),
              HasSubstr("expected a } after"));
  EXPECT_THAT(
      problem(plan_begin + "  a: translate -m x -i gone.en\n", {}, 3),
      HasSubstr(at(4) + "a: found no file gone.en, expected an input of `regard translate`"));
  EXPECT_THAT(problem(plan_begin + "  a: " + train + " data.dev.src=gone.en\n", {}, 3),
              HasSubstr("found no file gone.en"));
  const auto missing = run({"pipeline", "gone.yaml"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("gone.yaml"));
}

}  // namespace
}  // namespace regard::pipeline_test
