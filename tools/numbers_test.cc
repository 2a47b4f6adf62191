#include "tools/numbers.h"

#include <doctest/doctest.h>

namespace imgpack::tools {

TEST_CASE("numbers are decimal digits and nothing else") {
  CHECK(parse_number("0") == 0u);
  CHECK(parse_number("010") == 10u);
  CHECK(parse_number("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  for (const char* wrong : {"", "-1", "+1", " 1", "1 ", "0x10", "1e3", "1.0", "18446744073709551616"}) {
    CAPTURE(std::string(wrong));
    CHECK_FALSE(parse_number(wrong));
  }
}

TEST_CASE("sizes take decimal and binary units") {
  CHECK(parse_size("512") == 512u);
  CHECK(parse_size("512B") == 512u);
  CHECK(parse_size("10 kB") == 10'000u);
  CHECK(parse_size("64MB") == 64'000'000u);
  CHECK(parse_size("64m") == 64'000'000u);
  CHECK(parse_size("4KiB") == 4096u);
  CHECK(parse_size("1GiB") == 1ull << 30);
  CHECK(parse_size("16383PiB") == 16383ull << 50);
  for (const char* wrong : {"", "-1", "1.5GB", "GB", "1 parsec", "1kBB", "1  MB", "1MB ", "99999999999999999999",
                            "16384PiB", "MB1", "1ib"}) {
    CAPTURE(std::string(wrong));
    CHECK_FALSE(parse_size(wrong));
  }
}

}  // namespace imgpack::tools
