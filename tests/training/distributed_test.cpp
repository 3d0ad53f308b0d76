#include "training/distributed.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "model/build_model.h"
#include "tests/checkpoint/scratch_folder.h"
#include "tests/model/small_model_options.h"
#include "tests/training/free_port.h"
#include "training/train_step.h"

namespace regard::distributed_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

ProcessPlace place_of(const std::map<std::string, std::string>& variables) {
  return process_place([&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

TEST(ProcessPlace, IsAloneWithoutVariablesAndWithASizeOfOne) {
  EXPECT_EQ(place_of({}).size, 1);
  EXPECT_EQ(place_of({{"WORLD_SIZE", "1"}, {"RANK", "0"}}).size, 1);
  // A job of SLURM with several tasks that do not train together.
  EXPECT_EQ(place_of({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}}).size, 1);
}

TEST(ProcessPlace, ReadsTheVariablesOfTorchrunAndOfSlurm) {
  const auto torchrun = place_of({{"WORLD_SIZE", "4"},
                                  {"RANK", "3"},
                                  {"MASTER_ADDR", "node1"},
                                  {"MASTER_PORT", "1234"},
                                  {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                  {"TORCHELASTIC_RESTART_COUNT", "2"}});
  EXPECT_EQ(torchrun.size, 4);
  EXPECT_EQ(torchrun.rank, 3);
  EXPECT_EQ(torchrun.address, "node1");
  EXPECT_EQ(torchrun.port, 1234);
  EXPECT_TRUE(torchrun.has_agent_store);
  EXPECT_EQ(torchrun.attempt, "2");
  const auto slurm =
      place_of({{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "7"}, {"MASTER_ADDR", "node1"}});
  EXPECT_EQ(slurm.size, 8);
  EXPECT_EQ(slurm.rank, 7);
  EXPECT_EQ(slurm.port, 29500);
  EXPECT_FALSE(slurm.has_agent_store);
}

TEST(ProcessPlace, RejectsVariablesThatAreMissingOrOutOfRange) {
  const auto message = [](const std::map<std::string, std::string>& variables) {
    return message_of<ConfigError>([&] { (void)place_of(variables); });
  };
  EXPECT_THAT(message({{"WORLD_SIZE", "2"}}), AllOf(HasSubstr("WORLD_SIZE=2"), HasSubstr("RANK")));
  EXPECT_THAT(message({{"WORLD_SIZE", "2"}, {"RANK", "0"}}), HasSubstr("MASTER_ADDR is not set"));
  EXPECT_THAT(message({{"WORLD_SIZE", "2"}, {"RANK", "2"}, {"MASTER_ADDR", "a"}}),
              AllOf(HasSubstr("RANK"), HasSubstr("'2'"), HasSubstr("from 0 to 1")));
  EXPECT_THAT(message({{"WORLD_SIZE", "two"}}), AllOf(HasSubstr("WORLD_SIZE"), HasSubstr("'two'")));
  EXPECT_THAT(message({{"WORLD_SIZE", "0"}}), HasSubstr("'0'"));
  EXPECT_THAT(
      message({{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}}),
      AllOf(HasSubstr("MASTER_PORT"), HasSubstr("65535")));
}

TEST(ProcessGroup, OfOneProcessCommunicatesWithNobody) {
  ProcessGroup alone;
  EXPECT_TRUE(alone.is_first());
  EXPECT_EQ(alone.size(), 1);
  EXPECT_THAT(alone.sum({1.5, 2}), ElementsAre(1.5, 2));
  EXPECT_EQ(alone.broadcast("text"), "text");
  EXPECT_THAT(alone.gather("text"), ElementsAre("text"));
  alone.wait_for_all();
  alone.leave();
}

// Processes that train together, each simulated by a thread.
class Together : public testing::Test {
 protected:
  void SetUp() override {
    if (version_report().find("without Gloo") != std::string::npos) {
      GTEST_SKIP() << "this build has no Gloo";
    }
  }

  ProcessPlace place(std::size_t rank, std::size_t size) const {
    ProcessPlace place;
    place.rank = rank;
    place.size = size;
    place.address = "127.0.0.1";
    place.port = port_;
    return place;
  }
  // Calls f(rank) in a thread for each rank and waits. Returns the messages of the errors.
  static std::vector<std::string> in_threads(std::size_t size,
                                             const std::function<void(std::size_t)>& f) {
    std::vector<std::string> errors(size);
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          f(rank);
        } catch (const std::exception& error) {
          errors[rank] = error.what();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    return errors;
  }
  // Calls f(group) as `size` processes.
  std::vector<std::string> as_processes(std::size_t size,
                                        const std::function<void(ProcessGroup&)>& f) const {
    return in_threads(size, [&](std::size_t rank) {
      ProcessGroup group(place(rank, size), /*seconds=*/30);
      f(group);
      group.leave();
    });
  }

  std::uint16_t port_ = free_port();
};

TEST_F(Together, ProcessesAddUpBroadcastAndGather) {
  const auto errors = as_processes(3, [](ProcessGroup& group) {
    const auto r = static_cast<double>(group.rank());
    EXPECT_EQ(group.size(), 3);
    EXPECT_EQ(group.local_size(), 3);
    EXPECT_EQ(group.device_rank(), group.rank());
    EXPECT_THAT(group.sum({r, 1}), ElementsAre(3, 3));

    const auto a = torch::full({1000}, r);
    const auto b = torch::full({7, 3}, 1 + r);
    group.start_sum(a);
    group.start_sum(b);
    group.finish_sums();
    EXPECT_TRUE(a.eq(3).all().item<bool>());
    EXPECT_TRUE(b.eq(6).all().item<bool>());

    const auto weights = torch::full({10}, r);
    group.broadcast(weights);
    EXPECT_TRUE(weights.eq(0).all().item<bool>());
    EXPECT_EQ(group.broadcast(group.is_first() ? "of rank 0" : "mine"), "of rank 0");
    EXPECT_EQ(group.broadcast(std::string()), "");
    EXPECT_THAT(group.gather(std::string(group.rank(), 'x') + "é"), ElementsAre("é", "xé", "xxé"));
  });
  EXPECT_THAT(errors, ElementsAre("", "", ""));
}

// A tensor of the device `meta` has no values that could travel by way of the host.
TEST_F(Together, AnErrorOfADeviceIsNotOneOfAnotherProcess) {
  const auto errors = as_processes(2, [](ProcessGroup& group) {
    const auto unreadable = torch::empty({3}, torch::kMeta);
    EXPECT_THAT([&] { group.sum(unreadable); },
                testing::ThrowsMessage<EnvironmentError>(testing::HasSubstr("way of the host")));
    EXPECT_THROW(group.broadcast(unreadable), c10::Error);
  });
  EXPECT_THAT(errors, ElementsAre("", ""));
}

TEST_F(Together, ProcessesMayHaveDifferentNumbersOfThreads) {
  const auto errors = as_processes(3, [](ProcessGroup& group) {
    EXPECT_EQ(group.first_shard(), group.rank());
    EXPECT_EQ(group.all_shards(), 3);
    group.set_shards(group.rank() + 2);
    EXPECT_EQ(group.first_shard(), std::vector<std::size_t>({0, 2, 5})[group.rank()]);
    EXPECT_EQ(group.all_shards(), 9);
  });
  EXPECT_THAT(errors, ElementsAre("", "", ""));
}

TEST_F(Together, BytesLargerThanAMessageArriveWhole) {
  const auto errors = as_processes(2, [](ProcessGroup& group) {
    std::string bytes((std::size_t{64} << 20) + 12345, 'a');
    for (std::size_t i = 0; i < bytes.size(); i += 997) bytes[i] = static_cast<char>(i % 251);
    EXPECT_TRUE(group.broadcast(group.is_first() ? bytes : "") == bytes);
  });
  EXPECT_THAT(errors, ElementsAre("", ""));
}

TEST_F(Together, DifferentFactsAreAnErrorInAllProcesses) {
  const auto errors = as_processes(2, [](ProcessGroup& group) {
    check_equal(group, {{"version", "1"}, {"configuration", "a: 1\nb: 2\n"}});
    const std::string b = group.is_first() ? "2" : "3";
    check_equal(group, {{"version", "1"}, {"configuration", "a: 1\nb: " + b + "\n"}});
  });
  for (const auto& error : errors) {
    EXPECT_THAT(error, AllOf(HasSubstr("process 1"), HasSubstr("another configuration"),
                             HasSubstr("found 'b: 3'"), HasSubstr("expected 'b: 2'")));
  }
}

TEST_F(Together, TheFolderOfTheFirstProcessReachesTheOthers) {
  const ScratchFolder scratch;
  const auto errors = as_processes(2, [&](ProcessGroup& group) {
    const auto below = scratch / std::to_string(group.rank());
    std::filesystem::create_directories(below / "step-7");
    std::optional<std::filesystem::path> folder;
    EXPECT_EQ(share_folder(group, folder, below), std::nullopt);
    if (group.is_first()) {
      folder = below / "step-7";
      put_bytes(*folder / "weights", std::string("\0\1\n", 3));
      put_bytes(*folder / "empty", "");
    }
    const auto shared = share_folder(group, folder, below);
    ASSERT_EQ(shared, below / "step-7");
    EXPECT_EQ(bytes_of(*shared / "weights"), std::string("\0\1\n", 3));
    EXPECT_TRUE(std::filesystem::exists(*shared / "empty"));
  });
  EXPECT_THAT(errors, ElementsAre("", ""));
}

TEST_F(Together, AMissingProcessIsNamed) {
  const auto errors = in_threads(
      2, [&](std::size_t rank) { const ProcessGroup group(place(rank, 3), /*seconds=*/1); });
  EXPECT_THAT(errors[0],
              AllOf(HasSubstr("127.0.0.1"), HasSubstr("rank 2"), HasSubstr("start all 3")));
}

TEST_F(Together, AnUnreachableAddressIsNamed) {
  const auto message =
      message_of<EnvironmentError>([&] { const ProcessGroup group(place(1, 2), /*seconds=*/1); });
  EXPECT_THAT(message, AllOf(HasSubstr("cannot reach process 0"),
                             HasSubstr("127.0.0.1:" + std::to_string(port_)),
                             HasSubstr("MASTER_ADDR"), HasSubstr("1 second")));
}

TEST_F(Together, TwoProcessesWithOneRankAreRejected) {
  const auto errors = in_threads(
      3, [&](std::size_t i) { ProcessGroup group(place(i == 0 ? 0 : 1, 3), /*seconds=*/2); });
  EXPECT_TRUE(errors[1].find("two processes have RANK=1") != std::string::npos ||
              errors[2].find("two processes have RANK=1") != std::string::npos)
      << errors[1] << "\n"
      << errors[2];
}

TEST_F(Together, DifferentWorldSizesAreRejected) {
  const auto errors = in_threads(
      2, [&](std::size_t rank) { const ProcessGroup group(place(rank, 2 + rank), /*seconds=*/2); });
  // The process that comes second finds the world size of the first.
  EXPECT_THAT(errors, Contains(AnyOf(HasSubstr("found WORLD_SIZE 3, but 2 in another process"),
                                     HasSubstr("found WORLD_SIZE 2, but 3 in another process"))));
}

TEST_F(Together, TheEndOfAProcessIsAnErrorInTheOthers) {
  const auto errors = in_threads(3, [&](std::size_t rank) {
    ProcessGroup group(place(rank, 3), /*seconds=*/10);
    group.wait_for_all();
    if (rank == 2) return;  // ends without leave()
    for (;;) group.sum(torch::ones({1000}));
  });
  EXPECT_THAT(errors[0], HasSubstr("has ended"));
  EXPECT_THAT(errors[1], HasSubstr("has ended"));
}

constexpr std::int64_t V = 12;

// A tiny model with dropout, trained for some steps.
struct TinyTraining {
  TinyTraining() {
    auto model_options = small_model_options(8);
    model_options.dropout = {0.2, 0.2, 0.2};
    {
      static std::mutex mutex;  // of the seed, which all threads share
      const std::lock_guard lock(mutex);
      torch::manual_seed(1);
      model = build_model(V, V, model_options);
    }
    model->to(torch::kDouble);
    model->train();
    options.clip_grad_norm = 1;
  }
  // Returns the losses.
  std::vector<double> run(std::size_t threads, ProcessGroup& group) {
    const std::vector<Example> examples = {{0, {4, 5, 6, 7, 8}, {5, 6}},
                                           {1, {9, 10}, {4, 4, 4, 7, 8, 9}},
                                           {2, {11, 4, 5}, {6}},
                                           {3, {7}, {8, 9, 10}},
                                           {4, {5, 5, 6}, {7, 7, 7, 7}}};
    ThreadPool pool(threads);
    group.set_shards(threads);
    TrainedModel trained(model, options);
    std::vector<double> losses;
    for (std::int64_t step = 1; step <= 5; ++step) {
      std::vector<Batch> batches{make_batch(examples), make_batch(std::span(examples).first(3))};
      const auto own_counts = [&] {
        return std::vector<double>{static_cast<double>(group.rank()), 1};
      };
      const auto result =
          train_step(trained, batches, {step, 0.01, 0, own_counts}, options, pool, group);
      losses.push_back(result.nll);
      counts = result.counts;
    }
    weights = trained.weights.flat().clone();
    return losses;
  }

  std::shared_ptr<Seq2Seq> model;
  TrainingOptions options;
  torch::Tensor weights;
  std::vector<double> counts;
};

// Three processes of one and two threads, or of more threads than there are sentences.
TEST_F(Together, ProcessesTrainLikeOneProcessWithAllTheirThreads) {
  for (const std::size_t more : {0, 5}) {
    TinyTraining alone;
    ProcessGroup of_one;
    const auto expected = alone.run(4 + 3 * more, of_one);
    EXPECT_THAT(alone.counts, ElementsAre(0, 1));
    std::vector<TinyTraining> processes(3);
    std::vector<std::vector<double>> losses(3);
    port_ = free_port();
    const auto errors = as_processes(3, [&](ProcessGroup& group) {
      auto& own = processes[group.rank()];
      losses[group.rank()] = own.run((group.rank() == 1 ? 2 : 1) + more, group);
      EXPECT_THAT(own.counts, ElementsAre(3, 3));
    });
    ASSERT_THAT(errors, ElementsAre("", "", ""));
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_TRUE(torch::equal(processes[rank].weights, processes[0].weights));
      EXPECT_EQ(losses[rank], losses[0]);
    }
    EXPECT_TRUE(torch::allclose(processes[0].weights, alone.weights, 1e-9, 1e-11));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(losses[0][i], expected[i], 1e-8 * expected[i]);
    }
  }
}

TEST_F(Together, AllProcessesKnowThatOneLacksMemory) {
  std::vector<TinyTraining> processes(2);
  const auto last = parameters_of(*processes[1].model).front().second;
  last.register_hook([](const torch::Tensor& gradient) -> torch::Tensor {
    throw std::bad_alloc();
    return gradient;
  });
  std::vector<int> lacking(2);
  const auto errors = as_processes(2, [&](ProcessGroup& group) {
    try {
      processes[group.rank()].run(2, group);
    } catch (const std::bad_alloc&) {
      lacking[group.rank()] = 1;
    }
  });
  EXPECT_THAT(errors, ElementsAre("", ""));
  EXPECT_THAT(lacking, ElementsAre(1, 1));
}

}  // namespace
}  // namespace regard::distributed_test
