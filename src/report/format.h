// Numbers as people read them. Pure functions: everything that draws or tabulates asks here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace regard {

// 1234567 → "1,234,567".
std::string format_thousands(std::int64_t value);
// Three significant digits, never an exponent below a million, e.g. 0.0712, 2.31, 10.1, 1,765;
// from a million on 1.23e6; "nan", "inf", "-inf".
std::string format_short(double value);
// A fixed number of decimals, and three digits with an exponent from ten million on, so that a
// perplexity before its time is no line of digits: format_fixed(3.14159, 2) is "3.14",
// format_fixed(1.234e97, 2) is "1.23e97"; "nan", "inf", "-inf".
std::string format_fixed(double value, int decimals);
// A learning rate: one decimal and a short exponent, e.g. 1.0e-3; zero is "0".
std::string format_rate(double value);
// Seconds as 0:07, 12:31, 1:02:03; from two days on "2 d 4 h". Negative and NaN read "?".
std::string format_duration(double seconds);
// Powers of 1000: "512 B", "612 MB", "1.5 GB".
std::string format_bytes(std::uint64_t bytes);
// "12 %", rounded down, so that 100 % means the end.
std::string format_percent(double fraction);

// Columns on a terminal (text/display.h).
std::size_t display_width(std::string_view utf8);
// At most `columns` columns, the last one "…" where something was cut; no character is parted.
std::string truncate_to_width(std::string_view utf8, std::size_t columns);

// A bar of `columns` columns, split where the work stands: done "━━━╸", still to do "────".
struct Bar {
  std::string done;
  std::string rest;
};
Bar format_bar(double fraction, std::size_t columns);

}  // namespace regard
