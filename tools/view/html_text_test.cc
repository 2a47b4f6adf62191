#include "tools/view/html_text.h"

#include <doctest/doctest.h>

#include "tests/support/files.h"

namespace imgpack::tools {

TEST_CASE("texts can't leave the element or attribute that they stand in") {
  CHECK(html("a < b & \"c\" > 'd'") == "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  CHECK(html("\xff\n") == "\\xff\\x0a");
  CHECK(html("\u00fc") == "\u00fc");
}

TEST_CASE("a document can't end the script that holds it, and stays the same document") {
  const Json document = {{"</script><!--", "&lt;<img src=x onerror=alert(1)>\u2028\u00fc"}};
  const std::string text = script_json(document);
  CHECK(text.find('<') == std::string::npos);
  CHECK(text.find('>') == std::string::npos);
  CHECK(text.find('&') == std::string::npos);
  CHECK(text.find('\xe2') == std::string::npos);
  CHECK(Json::parse(text) == document);
}

TEST_CASE("base64") {
  const auto encoded = [](std::string_view text) { return base64(testing::as_bytes(text)); };
  CHECK(encoded("") == "");
  CHECK(encoded("f") == "Zg==");
  CHECK(encoded("fo") == "Zm8=");
  CHECK(encoded("foo") == "Zm9v");
  CHECK(encoded("foobar") == "Zm9vYmFy");
  CHECK(encoded("\xff\xfe\xfd") == "//79");
}

}  // namespace imgpack::tools
