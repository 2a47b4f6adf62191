#include "tools/text_table.h"

#include <doctest/doctest.h>

namespace imgpack::tools {

TEST_CASE("columns are aligned, to the right where they say so") {
  TextTable table({"name", ">count", "unit"});
  table.add({"a", "1", "m"});
  table.add({"longer", "1,234", "km"});
  CHECK(table.text() ==
        "name    count  unit\n"
        "a           1  m\n"
        "longer  1,234  km\n");
}

TEST_CASE("columns without anything are left out, and lines end with their text") {
  TextTable table({"a", "b", "c"});
  table.add({"1", "", ""});
  table.add({"2", "", "x"});
  CHECK(table.text() == "a  c\n1\n2  x\n");
}

TEST_CASE("widths are those of letters, not of bytes") {
  TextTable table({"a", "b"});
  table.add({"\u00e9\u00e9", "x"});
  table.add({"ab", "y"});
  CHECK(table.text() == "a   b\n\u00e9\u00e9  x\nab  y\n");
}

}  // namespace imgpack::tools
