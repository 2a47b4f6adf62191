#include "tools/view/html_report.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tools/view/report_document.h"
#include "tools/view/view_testing.h"

namespace imgpack::tools {

namespace {

std::size_t count_of_text(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("the page carries its document, as many thumbnails as are allowed, and no foreign markup") {
  const testing::TempDir temp;
  std::vector<testing::ViewRecord> records;
  for (std::uint32_t i = 0; i < 30; ++i) {
    records.push_back(
        {.key = fmt::format("<b>{}</b>", i), .payload = testing::make_jpeg(90, 60, i % 20), .label = i % 3});
  }
  records.push_back({.key = std::string(100'000, 'k'), .payload = testing::make_jpeg(60, 90, 99)});
  testing::write_view_records(temp / "a.rec", records);
  const Collection all = Collection::open({temp / "a.rec"}, {});
  const DatasetFacts facts = gather_facts(all, {});
  const PicturePlan plan = plan_pictures(all, facts, {.limit = 12});
  CHECK(plan.records.size() <= 12);
  const Pictures pictures = make_pictures(all, plan.records, {.size = 32});
  CHECK(pictures.size() == plan.records.size());
  const Json document = report_document(all, facts, plan.samples);
  const std::string page = html_report(document, pictures);
  CHECK(count_of_text(page, "<b>") == 0);
  CHECK(count_of_text(page, "&lt;b&gt;") > 0);
  CHECK(count_of_text(page, "<img ") >= pictures.size());
  CHECK(count_of_text(page, "://") == 0);
  CHECK(count_of_text(page, "</script>") == 2);
  CHECK(page.size() < 200'000);  // the long key is cut
  const std::string_view lead = "id=\"imgpack-report\">";
  const std::size_t begin = page.find(lead) + lead.size();
  CHECK(Json::parse(page.substr(begin, page.find("</script>", begin) - begin)) == document);
}

TEST_CASE("an empty dataset has a report, too") {
  const testing::TempDir temp;
  testing::write_view_records(temp / "a.rec", {});
  const Collection none = Collection::open({temp / "a.rec"}, {});
  const DatasetFacts facts = gather_facts(none, {});
  const PicturePlan plan = plan_pictures(none, facts, {});
  CHECK(plan.records.empty());
  CHECK(html_report(report_document(none, facts, plan.samples), {}).find("</html>") != std::string::npos);
}

}  // namespace imgpack::tools
