// Formats numbers and text for people. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace regard {

// 1234567 → "1,234,567".
std::string format_thousands(std::int64_t value);
// About three significant digits: at most four decimals below 1 (0.0712, 0.231, but 0.0001), two or
// one below 100 (2.31, 10.1), none up to a million (1,765), and larger numbers as 1.2e6. Numbers
// below 0.00005 are "0.00". "nan", "inf", "-inf".
std::string format_short(double value);
// A fixed number of decimals; from ten million on three digits and an exponent, because the
// perplexity of an untrained model can be huge: format_fixed(3.14159, 2) is "3.14",
// format_fixed(1.234e97, 2) is "1.23e97"; "nan", "inf", "-inf".
std::string format_fixed(double value, int decimals);
// A learning rate: one decimal and a short exponent, e.g. 1.0e-3; zero is "0".
std::string format_rate(double value);
// Seconds as 0:07, 12:31, 1:02:03; from two days on "2 d 4 h"; "?" if negative or not finite.
std::string format_duration(double seconds);
// Powers of 1000: "512 B", "612 MB", "1.5 GB".
std::string format_bytes(std::uint64_t bytes);
// "12 %", rounded down, so that 100 % means finished.
std::string format_percent(double fraction);

// Returns the text `times` times.
std::string repeat(std::string_view text, std::size_t times);
// Returns the number of terminal columns of a text: the sum over split_glyphs() (text/unicode.h).
std::size_t display_width(std::string_view utf8);
// Cuts a text to at most `columns` columns, between characters. A cut text ends with "…".
std::string truncate_to_width(std::string_view utf8, std::size_t columns);

// A progress bar of `columns` columns: the finished part "━━━╸" and the rest "────".
struct Bar {
  std::string done;
  std::string rest;
};
Bar format_bar(double fraction, std::size_t columns);

}  // namespace regard
