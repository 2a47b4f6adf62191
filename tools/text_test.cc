#include "tools/text.h"

#include <doctest/doctest.h>

namespace imgpack::tools {

TEST_CASE("text from files cannot steer a terminal or break a line") {
  CHECK(printable("train/a b.JPEG") == "train/a b.JPEG");
  CHECK(printable("\xc3\xbcn\xc3\xaf") == "\xc3\xbcn\xc3\xaf");
  CHECK(printable("a\nb\x1b[31m\x7f") == "a\\x0ab\\x1b[31m\\x7f");
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");
  CHECK(printable("\xc2\xa0") == "\xc2\xa0");
}

TEST_CASE("counts are grouped in thousands") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1,000");
  CHECK(count_text(1281167) == "1,281,167");
  CHECK(count_of(1, "record", "records") == "1 record");
  CHECK(count_of(0, "record", "records") == "0 records");
}

TEST_CASE("sizes never show a thousand of a unit") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(999) == "999 B");
  CHECK(size_text(1000) == "1.0 kB");
  CHECK(size_text(999'949) == "999.9 kB");
  CHECK(size_text(999'990) == "1.0 MB");
  CHECK(size_text(148.3e9) == "148.3 GB");
}

TEST_CASE("durations") {
  CHECK(duration_text(0.0841) == "84 ms");
  CHECK(duration_text(0.9996) == "1.0 s");
  CHECK(duration_text(9.96) == "10 s");
  CHECK(duration_text(59.4) == "59 s");
  CHECK(duration_text(59.6) == "1 min 00 s");
  CHECK(duration_text(184) == "3 min 04 s");
  CHECK(duration_text(7500) == "2 h 05 min");
}

TEST_CASE("a rate over no time is not shown") {
  CHECK(rate_text(10, 10, 0).empty());
  CHECK(rate_text(2000, 50'000'000, 2) == "1,000 images/s, 25.0 MB/s");
}

}  // namespace imgpack::tools
