#include "report/table.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace regard::report_table_test {
namespace {

TEST(Table, ColumnsAlignByCharacters) {
  Table table({{"name"}, {"count", Align::right}, {"note"}});
  table.add({"décodeur", "512"});
  table.add_rule();
  table.add({"all", "2,048,512", "sum"});
  EXPECT_EQ(table.text(),
            "name          count  note\n"
            "────────  ─────────  ────\n"
            "décodeur        512\n"
            "────────  ─────────  ────\n"
            "all       2,048,512  sum\n");
}

TEST(Table, MarkdownEscapesBarsAndOmitsRules) {
  Table table({{"name"}, {"count", Align::right}});
  table.add({"a|b\\c\nd", "1"});
  table.add_rule();
  EXPECT_EQ(table.markdown(), "| name | count |\n| --- | ---: |\n| a\\|b\\\\c d | 1 |\n");
}

TEST(Table, LatexEscapesSpecialCharacters) {
  Table table({{"a_b"}, {"5 – 9 %", Align::right}});
  table.add({"x & \\y{z}", "1 ± 2"});
  table.add_rule();
  table.add({"é", "#1"});
  EXPECT_EQ(table.latex(),
            "\\begin{tabular}{lr}\n"
            "\\toprule\n"
            "a\\_b & 5 -- 9 \\% \\\\\n"
            "\\midrule\n"
            "x \\& \\textbackslash{}y\\{z\\} & 1 $\\pm$ 2 \\\\\n"
            "\\midrule\n"
            "é & \\#1 \\\\\n"
            "\\bottomrule\n"
            "\\end{tabular}\n");
}

TEST(Table, RefusesTooManyCells) {
  Table table({{"one"}});
  EXPECT_THROW(table.add({"1", "2"}), std::invalid_argument);
}

}  // namespace
}  // namespace regard::report_table_test
