#include "tools/key_path.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace imgpack::tools {

TEST_CASE("ordinary keys are taken apart at their slashes") {
  const KeyPath path = split_key("train/n01440764/a b.JPEG");
  CHECK(path.problem.empty());
  CHECK(path.folders == std::vector<std::string>{"train", "n01440764"});
  CHECK(path.name == "a b.JPEG");
  CHECK(split_key("x").name == "x");
  CHECK(split_key("x").folders.empty());
}

TEST_CASE("names that only look dangerous are kept") {
  for (const std::string_view key :
       {"..a", "a..", "...", ".hidden", "a/..b/c", "back\\slash", "~", "-rf", "new\nline"}) {
    CAPTURE(key);
    CHECK(split_key(key).problem.empty());
  }
}

TEST_CASE("keys that could leave the folder, or that no file can be named by, are refused with a reason") {
  using namespace std::string_literals;
  const std::string keys[] = {"",
                              "/",
                              "/etc/passwd",
                              "..",
                              "../../etc/x",
                              "a/../b",
                              "a/..",
                              ".",
                              "./a",
                              "a/./b",
                              "a/",
                              "a//b",
                              "//a",
                              "a\0b"s,
                              "a/\0"s,
                              "../\0/"s,
                              std::string(70000, 'k'),
                              "d/" + std::string(256, 'n')};
  for (const std::string& key : keys) {
    CAPTURE(key.substr(0, 80));
    const KeyPath path = split_key(key);
    CHECK_FALSE(path.problem.empty());
    CHECK(path.folders.empty());
    CHECK(path.name.empty());
  }
}

TEST_CASE("the longest names that a file system takes are kept") {
  const std::string component(255, 'n');
  CHECK(split_key(component).name == component);
  std::string longest = "x";
  while (longest.size() + 2 <= 4095) longest += "/x";
  CHECK(split_key(longest).problem.empty());
  CHECK_FALSE(split_key(longest + "/xx").problem.empty());
}

}  // namespace imgpack::tools
