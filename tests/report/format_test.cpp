#include "report/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace regard::format_test {
namespace {

TEST(Format, ThousandsGroupFromTheRight) {
  EXPECT_EQ(format_thousands(0), "0");
  EXPECT_EQ(format_thousands(999), "999");
  EXPECT_EQ(format_thousands(1000), "1,000");
  EXPECT_EQ(format_thousands(1234567), "1,234,567");
  EXPECT_EQ(format_thousands(-999), "-999");
  EXPECT_EQ(format_thousands(-123456), "-123,456");
  EXPECT_EQ(format_thousands(std::numeric_limits<std::int64_t>::min()),
            "-9,223,372,036,854,775,808");
}

TEST(Format, ShortNumbersKeepThreeDigits) {
  EXPECT_EQ(format_short(0.0), "0.00");
  EXPECT_EQ(format_short(0.0712), "0.0712");
  EXPECT_EQ(format_short(0.8), "0.800");
  EXPECT_EQ(format_short(2.314), "2.31");
  EXPECT_EQ(format_short(9.999), "10.0");
  EXPECT_EQ(format_short(10.14), "10.1");
  EXPECT_EQ(format_short(99.97), "100");
  EXPECT_EQ(format_short(1765.4), "1,765");
  EXPECT_EQ(format_short(999999.9), "1.0e6");
  EXPECT_EQ(format_short(std::nan("")), "nan");
  EXPECT_EQ(format_short(-INFINITY), "-inf");
}

TEST(Format, LargeFixedNumbersHaveAnExponent) {
  EXPECT_EQ(format_fixed(3.14159, 2), "3.14");
  EXPECT_EQ(format_fixed(3.14159, 4), "3.1416");
  EXPECT_EQ(format_fixed(-0.5, 1), "-0.5");
  EXPECT_EQ(format_fixed(1'234'567.891, 2), "1234567.89");
  EXPECT_EQ(format_fixed(1.234e97, 2), "1.23e97");
  EXPECT_EQ(format_fixed(-1e7, 4), "-1.00e7");
  EXPECT_EQ(format_fixed(INFINITY, 2), "inf");
  EXPECT_EQ(format_fixed(std::nan(""), 2), "nan");
}

TEST(Format, RatesHaveShortExponents) {
  EXPECT_EQ(format_rate(1e-3), "1.0e-3");
  EXPECT_EQ(format_rate(2.54e-4), "2.5e-4");
  EXPECT_EQ(format_rate(1.0), "1.0e0");
  EXPECT_EQ(format_rate(1e-10), "1.0e-10");
  EXPECT_EQ(format_rate(0.0), "0");
}

TEST(Format, DurationsUseTheNextUnit) {
  EXPECT_EQ(format_duration(0.4), "0:00");
  EXPECT_EQ(format_duration(59.6), "1:00");
  EXPECT_EQ(format_duration(751), "12:31");
  EXPECT_EQ(format_duration(3723), "1:02:03");
  EXPECT_EQ(format_duration(47 * 3600), "47:00:00");
  EXPECT_EQ(format_duration(52 * 3600 + 59), "2 d 4 h");
  EXPECT_EQ(format_duration(-1), "?");
  EXPECT_EQ(format_duration(std::nan("")), "?");
  EXPECT_EQ(format_duration(INFINITY), "?");
}

TEST(Format, BytesChooseTheirUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1500), "1.5 kB");
  EXPECT_EQ(format_bytes(612'000'000), "612 MB");
  EXPECT_EQ(format_bytes(999'700'000), "1.0 GB");
}

TEST(Format, PercentIsRoundedDown) {
  EXPECT_EQ(format_percent(0.29), "29 %");
  EXPECT_EQ(format_percent(0.9999), "99 %");
  EXPECT_EQ(format_percent(1.0), "100 %");
  EXPECT_EQ(format_percent(1.7), "100 %");
}

TEST(Format, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(display_width("économique"), 10U);
  EXPECT_EQ(display_width("Они"), 3U);
  EXPECT_EQ(display_width("日本語"), 6U);
  EXPECT_EQ(display_width("e\u0301te\u0301"), 3U);
  EXPECT_EQ(display_width(""), 0U);
}

TEST(Format, TruncationCutsBetweenCharacters) {
  EXPECT_EQ(truncate_to_width("été", 3), "été");
  EXPECT_EQ(truncate_to_width("étés", 3), "ét…");
  EXPECT_EQ(truncate_to_width("日本語", 4), "日…");
  EXPECT_EQ(truncate_to_width("étés", 1), "…");
  EXPECT_EQ(truncate_to_width("étés", 0), "");
}

TEST(Format, BarHasTheSameLengthForEveryFraction) {
  for (int i = -1; i <= 101; ++i) {
    const Bar bar = format_bar(i / 100.0, 10);
    EXPECT_EQ(display_width(bar.done + bar.rest), 10U) << i;
  }
  EXPECT_EQ(format_bar(0.0, 4).done, "");
  EXPECT_EQ(format_bar(0.5, 4).done, "━━");
  EXPECT_EQ(format_bar(0.63, 4).done, "━━╸");
  EXPECT_EQ(format_bar(1.0, 4).rest, "");
}

}  // namespace
}  // namespace regard::format_test
