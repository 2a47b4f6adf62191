#include "tools/view/report_pictures.h"

#include <algorithm>
#include <set>
#include <utility>

#include "codec/jpeg/libjpeg.h"
#include "tools/view/html_text.h"
#include "tools/view/thumbnails.h"

namespace imgpack::tools {

namespace {

constexpr int kQuality = 80;

/// The records of each part of the report, in the order in which it shows them.
std::vector<std::vector<std::uint64_t>> records_of_parts(const DatasetFacts& facts) {
  std::vector<std::vector<std::uint64_t>> parts;
  for (std::size_t i = 0; i < kSuspicions; ++i) {
    const std::vector<Finding> findings = facts.findings.kept(static_cast<Suspicion>(i));
    std::vector<std::uint64_t>& part = parts.emplace_back(findings.size());
    std::ranges::transform(findings, part.begin(), &Finding::record);
  }
  std::vector<std::uint64_t>& copies = parts.emplace_back();
  for (const DuplicateGroup& group : facts.duplicates.listed) {
    copies.insert(copies.end(), group.members.begin(), group.members.end());
  }
  std::vector<std::uint64_t>& examples = parts.emplace_back();
  for (const SmallClass& item : facts.small_classes) {
    if (item.example) examples.push_back(*item.example);
  }
  return parts;
}

}  // namespace

PicturePlan plan_pictures(const Collection& collection, const DatasetFacts& facts, ChoiceOptions options) {
  const std::vector<std::vector<std::uint64_t>> parts = records_of_parts(facts);
  std::vector<std::uint64_t> sizes;
  for (const std::vector<std::uint64_t>& part : parts) sizes.push_back(part.size());
  sizes.push_back(facts.records);
  const std::vector<std::uint64_t> shares = fair_shares(sizes, options.limit);

  std::set<std::uint64_t> chosen;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    chosen.insert(parts[i].begin(), parts[i].begin() + static_cast<std::ptrdiff_t>(shares[i]));
  }
  PicturePlan plan;
  options.by = ShowBy::name_of_class;
  options.limit = shares.back();
  if (options.limit != 0) plan.samples = choose_records(collection, options);
  for (const ShownGroup& group : plan.samples) chosen.insert(group.shown.begin(), group.shown.end());
  plan.records.assign(chosen.begin(), chosen.end());
  return plan;
}

Pictures make_pictures(const Collection& collection, const std::vector<std::uint64_t>& records,
                       const PictureOptions& options) {
  Pictures pictures;
  ByteBuffer file;
  make_thumbnails(
      collection, records, options.size, options.max_pixels, options.threads, [&](std::size_t at, Thumbnail thumbnail) {
        const ConstRgbView image = std::as_const(thumbnail.image).view();
        if (image.width == 0) return;
        encode_jpeg(image, kQuality, Subsampling::s420, 0, file);
        pictures[records[at]] = {"data:image/jpeg;base64," + base64(file.bytes()), image.width, image.height};
      });
  return pictures;
}

}  // namespace imgpack::tools
