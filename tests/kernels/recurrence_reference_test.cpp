#include "kernels/recurrence.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/utils.h>

#include "tests/gradcheck.h"

namespace regard::kernels::recurrence_reference_test {
namespace {

struct Sizes {
  std::int64_t T = 5, B = 3, S = 4, A = 3, D = 6;
};
constexpr std::int64_t T = Sizes().T, B = Sizes().B, D = Sizes().D;

struct Case {
  std::string name;
  CellForm cell;
  std::optional<ScoreForm> form;
};

// The loop's inputs, drawn at random; sentences of n.S, 2 and 1 positions.
struct Inputs {
  explicit Inputs(const Case& c, torch::Dtype type = torch::kDouble, Sizes sizes = {}) : n(sizes) {
    torch::manual_seed(7);
    const auto draw = [&](at::IntArrayRef shape) {
      return torch::randn(shape, type).requires_grad_();
    };
    const auto K = gate_count(c.cell);
    cell.form = c.cell;
    x = draw({n.T, n.B, K * n.D});
    first = draw({n.B, c.cell == CellForm::lstm ? 2 * n.D : n.D});
    cell.U = draw({n.D, K * n.D});
    tensors = {{"x", x}, {"first", first}, {"U", cell.U}};
    if (c.cell == CellForm::gru_reset_after) tensors.emplace_back("b_U", cell.b_U = draw({n.D}));
    if (!c.form) return;
    attention.emplace();
    auto& score = attention->score;
    score.form = *c.form;
    score.lengths = torch::tensor({n.S, std::int64_t{2}, std::int64_t{1}});
    score.scale = 0.3;
    tensors.emplace_back("mixed", attention->mixed = draw({n.B, n.S, K * n.D}));
    if (*c.form == ScoreForm::position) {
      score.keys = torch::empty({n.B, n.S, 0}, type);
      tensors.emplace_back("W", score.W = draw({n.S, n.D}));
    } else if (*c.form == ScoreForm::additive) {
      tensors.emplace_back("keys", score.keys = draw({n.B, n.S, n.A}));
      tensors.emplace_back("W", score.W = draw({n.A, n.D}));
      tensors.emplace_back("v", score.v = draw({n.A}));
    } else {
      tensors.emplace_back("keys", score.keys = draw({n.B, n.S, n.D}));
    }
  }

  // A number that depends on every output in its own way.
  torch::Tensor objective(const Recurrence& computed) const {
    const auto& [outputs, weights, memory] = computed;
    auto sum =
        (outputs * torch::arange(n.T * n.B * n.D).view({n.T, n.B, n.D}).to(x.dtype()).cos()).sum();
    if (attention) {
      sum =
          sum + (weights * torch::arange(n.T * n.B * n.S).view({n.T, n.B, n.S}).to(x.dtype()).sin())
                    .sum();
    }
    if (memory.defined()) {
      sum =
          sum +
          (memory * torch::arange(n.T * n.B * n.D).view({n.T, n.B, n.D}).to(x.dtype()).sin()).sum();
    }
    return sum;
  }

  std::vector<torch::Tensor> all() const {
    std::vector<torch::Tensor> values;
    for (const auto& [name, tensor] : tensors) values.push_back(tensor);
    return values;
  }

  Sizes n;
  torch::Tensor x, first;
  RecurrentWeights cell;
  std::optional<LoopAttention> attention;
  std::vector<std::pair<std::string, torch::Tensor>> tensors;
};

// Compares all results, of which only an LSTM has a memory, and the gradients of all inputs.
void expect_same(const Inputs& in, const Recurrence& found, const Recurrence& expected,
                 double tolerance) {
  EXPECT_TRUE(torch::allclose(found.outputs, expected.outputs, tolerance, tolerance));
  if (in.attention) {
    EXPECT_TRUE(torch::allclose(found.weights, expected.weights, tolerance, tolerance));
  }
  ASSERT_EQ(found.memory.defined(), in.cell.form == CellForm::lstm);
  if (expected.memory.defined()) {
    EXPECT_TRUE(torch::allclose(found.memory, expected.memory, tolerance, tolerance));
  }
  const auto gradients = torch::autograd::grad({in.objective(found)}, in.all());
  const auto of_expected = torch::autograd::grad({in.objective(expected)}, in.all());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const auto largest = of_expected[i].abs().max().item<double>();
    EXPECT_LE((gradients[i] - of_expected[i]).abs().max().item<double>(), tolerance * (1 + largest))
        << in.tensors[i].first;
  }
}

class RecurrenceReference : public testing::TestWithParam<Case> {};

// Small sizes, and widths each of which holds several vectors of 16 numbers and a rest.
TEST_P(RecurrenceReference, ValuesAndGradientsEqualTheReference) {
  const Sizes wide = {.T = 3, .B = 3, .S = 35, .A = 53, .D = 37};
  for (const auto& [sizes, type, tolerance] : {std::tuple(Sizes{}, torch::kDouble, 1e-12),
                                               {Sizes{}, torch::kFloat, 1e-5},
                                               {wide, torch::kDouble, 1e-10},
                                               {wide, torch::kFloat, 2e-4}}) {
    const Inputs in(GetParam(), type, sizes);
    expect_same(in, recurrence(in.x, in.first, in.cell, in.attention),
                recurrence_reference(in.x, in.first, in.cell, in.attention), tolerance);
  }
}

TEST_P(RecurrenceReference, TheCompositeHasItsValuesAndGradients) {
  const Inputs in(GetParam());
  expect_same(in, recurrence_composite(in.x, in.first, in.cell, in.attention),
              recurrence_reference(in.x, in.first, in.cell, in.attention), 1e-10);
  // Only the outputs are used, or only the weights.
  for (const bool use_weights : {false, true}) {
    if (use_weights && !in.attention) continue;
    const auto sum_of = [&](const auto& function) {
      const auto both = function(in.x, in.first, in.cell, in.attention, nullptr);
      return (use_weights ? both.weights : both.outputs).square().sum();
    };
    SCOPED_TRACE(use_weights);
    expect_all_close(torch::autograd::grad({sum_of(recurrence_composite)}, {in.x, in.first}),
                     torch::autograd::grad({sum_of(recurrence_reference)}, {in.x, in.first}),
                     1e-10);
  }
}

TEST(RecurrenceComposite, RunsTheCellsOfBothDirectionsTogether) {
  for (const auto form :
       {CellForm::gru_reset_before, CellForm::gru_reset_after, CellForm::lstm, CellForm::tanh}) {
    torch::manual_seed(3);
    constexpr std::int64_t G = 2;
    const auto draw = [](at::IntArrayRef sizes) {
      return torch::randn(sizes, torch::kDouble).requires_grad_();
    };
    const auto K = gate_count(form);
    const auto x = draw({G, T, B, K * D});
    const auto first = draw({G, B, form == CellForm::lstm ? 2 * D : D});
    std::vector<torch::Tensor> tensors = {x, first, draw({G, D, K * D})};
    RecurrentWeights cells = {form, tensors[2]};
    if (form == CellForm::gru_reset_after) tensors.push_back(cells.b_U = draw({G, 1, D}));
    const auto all = recurrence_each_composite(x, first, cells);
    const auto ones = recurrence_each(x, first, cells);
    const auto& together = all.outputs;
    const auto& each = ones.outputs;
    EXPECT_TRUE(torch::allclose(together, each, 1e-12, 1e-12));
    EXPECT_EQ(ones.memory.defined(), form == CellForm::lstm);
    if (form == CellForm::lstm) {
      EXPECT_TRUE(torch::allclose(all.memory, ones.memory, 1e-12, 1e-12));
    }
    const auto weight = torch::arange(together.numel()).view(together.sizes()).to(x.dtype()).cos();
    SCOPED_TRACE(static_cast<int>(form));
    expect_all_close(torch::autograd::grad({(together * weight).sum()}, tensors),
                     torch::autograd::grad({(each * weight).sum()}, tensors), 1e-10);
  }
}

TEST(RecurrenceOfLibrary, EqualsOursWithTheSameWeights) {
  for (const auto form : {CellForm::gru_reset_after, CellForm::lstm}) {
    torch::manual_seed(3);
    constexpr std::int64_t G = 2, I = 4;
    const auto draw = [](at::IntArrayRef sizes) {
      return torch::randn(sizes, torch::kDouble).requires_grad_();
    };
    const auto K = gate_count(form);
    const auto x = draw({G, T, B, I});
    const auto W = draw({G, I, K * D}), b = draw({G, 1, K * D}), U = draw({G, D, K * D});
    std::vector<torch::Tensor> tensors = {x, W, b, U};
    RecurrentWeights cells = {form, U};
    if (form == CellForm::gru_reset_after) tensors.push_back(cells.b_U = draw({G, 1, D}));
    const auto theirs = recurrence_of_library(x, W, b, cells);
    const auto projected = torch::baddbmm(b, x.view({G, T * B, I}), W).view({G, T, B, K * D});
    const auto zero = torch::zeros({G, B, form == CellForm::lstm ? 2 * D : D}, torch::kDouble);
    const auto ours = recurrence_each(projected, zero, cells).outputs;
    EXPECT_TRUE(torch::allclose(theirs, ours, 1e-12, 1e-12));
    const auto weight = torch::arange(ours.numel()).view(ours.sizes()).to(x.dtype()).cos();
    SCOPED_TRACE(static_cast<int>(form));
    expect_all_close(torch::autograd::grad({(theirs * weight).sum()}, tensors),
                     torch::autograd::grad({(ours * weight).sum()}, tensors), 1e-10);
  }
}

TEST_P(RecurrenceReference, GradientsEqualCentralDifferences) {
  const Inputs in(GetParam());
  expect_gradients_match(
      [&] { return in.objective(recurrence(in.x, in.first, in.cell, in.attention)); }, in.tensors);
}

// Two cells of one form with attention between them.
class ConditionalRecurrenceReference : public testing::TestWithParam<Case> {
 protected:
  static RecurrentWeights first_cell_for(Inputs& in) {
    RecurrentWeights cell = {in.cell.form, torch::randn_like(in.cell.U).requires_grad_()};
    in.tensors.emplace_back("U of the first cell", cell.U);
    if (in.cell.b_U.defined()) {
      cell.b_U = torch::randn_like(in.cell.b_U).requires_grad_();
      in.tensors.emplace_back("b_U of the first cell", cell.b_U);
    }
    return cell;
  }
  static void expect_equals_reference(decltype(&recurrence) function, torch::Dtype type,
                                      double tolerance) {
    Inputs in(GetParam(), type);
    const auto first_cell = first_cell_for(in);
    expect_same(in, function(in.x, in.first, in.cell, in.attention, &first_cell),
                recurrence_reference(in.x, in.first, in.cell, in.attention, &first_cell),
                tolerance);
  }
};

TEST_P(ConditionalRecurrenceReference, ValuesAndGradientsEqualTheReference) {
  expect_equals_reference(recurrence, torch::kDouble, 1e-12);
  expect_equals_reference(recurrence, torch::kFloat, 1e-5);
}

TEST_P(ConditionalRecurrenceReference, TheCompositeHasItsValuesAndGradients) {
  expect_equals_reference(recurrence_composite, torch::kDouble, 1e-10);
}

TEST_P(ConditionalRecurrenceReference, GradientsEqualCentralDifferences) {
  Inputs in(GetParam());
  const auto first_cell = first_cell_for(in);
  expect_gradients_match(
      [&] { return in.objective(recurrence(in.x, in.first, in.cell, in.attention, &first_cell)); },
      in.tensors);
}

TEST(RecurrenceAttention, NothingBeyondASentencesEndMatters) {
  Inputs in({"GruResetBeforeAdditive", CellForm::gru_reset_before, ScoreForm::additive});
  const torch::NoGradGuard guard;
  const auto before = recurrence(in.x, in.first, in.cell, in.attention);
  for (auto& tensor : {in.attention->score.keys, in.attention->mixed}) {
    tensor[1].slice(0, 2).fill_(std::nan(""));
    tensor[2].slice(0, 1).fill_(std::nan(""));
  }
  const auto after = recurrence(in.x, in.first, in.cell, in.attention);
  EXPECT_TRUE(torch::equal(before.outputs, after.outputs));
  EXPECT_TRUE(after.weights.select(1, 2).slice(1, 1).eq(0).all().item<bool>());
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const std::pair<const char*, CellForm> cells[] = {{"GruResetBefore", CellForm::gru_reset_before},
                                                    {"GruResetAfter", CellForm::gru_reset_after},
                                                    {"Lstm", CellForm::lstm},
                                                    {"Tanh", CellForm::tanh}};
  const std::pair<const char*, std::optional<ScoreForm>> scores[] = {
      {"", {}},
      {"Additive", ScoreForm::additive},
      {"Dot", ScoreForm::dot},
      {"Cosine", ScoreForm::cosine},
      {"Position", ScoreForm::position}};
  for (const auto& [cell_name, cell] : cells) {
    for (const auto& [score_name, score] : scores) {
      cases.push_back({std::string(cell_name) + score_name, cell, score});
    }
  }
  return cases;
}

std::vector<Case> cases_with_attention() {
  auto cases = all_cases();
  std::erase_if(cases, [](const Case& c) { return !c.form; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, ConditionalRecurrenceReference,
                         testing::ValuesIn(cases_with_attention()),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(All, RecurrenceReference, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace regard::kernels::recurrence_reference_test
