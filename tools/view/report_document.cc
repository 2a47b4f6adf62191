#include "tools/view/report_document.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "tools/errors.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

/// Cut between characters.
std::string shortened(std::string_view text) {
  if (text.size() <= kMostKeyBytesShown) return json_text(text);
  std::size_t end = kMostKeyBytesShown;
  while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return json_text(text.substr(0, end)) + "\u2026";
}

Json text_map_json(const std::map<std::string, std::string>& values) {
  Json json = Json::object();
  for (const auto& [key, value] : values) json[json_text(key)] = json_text(value);
  return json;
}

Json files_json(const Collection& collection) {
  Json json = Json::array();
  for (const auto& store : collection.stores()) {
    const DatasetInfo& info = store->info();
    json.push_back({{"file", json_text(store->path().string())},
                    {"format", to_string(store->format())},
                    {"records", store->size()},
                    {"source_kind", json_text(info.source_kind)},
                    {"source_name", json_text(info.source_name)},
                    {"transform", text_map_json(info.transform)},
                    {"tool_version", json_text(info.tool_version)}});
  }
  return json;
}

Json splits_json(const Collection& collection, const DatasetFacts& facts) {
  Json json = Json::array();
  for (std::size_t i = 0; i < collection.splits().size(); ++i) {
    json.push_back({{"name", json_text(collection.splits()[i])}, {"records", facts.split_records[i]}});
  }
  return json;
}

Json classes_json(const Collection& collection, const DatasetFacts& facts) {
  Json json = Json::array();
  const std::size_t listed = std::min(collection.classes().size(), kMostListedClasses);
  for (std::size_t i = 0; i < listed; ++i) {
    Json by_split = Json::array();
    for (std::size_t split = 0; split < collection.splits().size(); ++split) by_split.push_back(facts.count(i, split));
    json.push_back({{"name", shortened(collection.classes()[i].name)},
                    {"words", shortened(collection.classes()[i].words)},
                    {"records", facts.class_count(i)},
                    {"by_split", std::move(by_split)}});
  }
  return json;
}

Json histogram_json(const Histogram& histogram) {
  Json json = Json::array();
  const auto limits = histogram.limits();
  for (std::size_t i = 0; i < limits.size(); ++i) {
    json.push_back({{"from", limits[i]},
                    {"below", i + 1 == limits.size() ? Json(nullptr) : Json(limits[i + 1])},
                    {"records", histogram.counts()[i]}});
  }
  return json;
}

Json counts_json(const std::map<std::string, std::uint64_t>& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : counts) json[json_text(name)] = count;
  return json;
}

Json codecs_json(const DatasetFacts& facts) {
  Json json = Json::object();
  for (const auto& [codec, count] : facts.codecs) json[std::string(to_string(codec))] = count;
  return json;
}

Json orientations_json(const DatasetFacts& facts) {
  Json json = Json::object();
  for (std::size_t i = 1; i < facts.orientations.size(); ++i) {
    if (facts.orientations[i] != 0) json[std::to_string(i)] = facts.orientations[i];
  }
  return json;
}

Json segment_index_json(const DatasetFacts& facts) {
  return {{"records", facts.indexed},
          {"share", ratio(static_cast<double>(facts.indexed), static_cast<double>(facts.records))},
          {"without", counts_json(facts.unindexed)}};
}

Json duplicates_json(const Collection& collection, const Duplicates& duplicates) {
  Json listed = Json::array();
  for (const DuplicateGroup& group : duplicates.listed) {
    Json members = Json::array();
    for (const std::uint64_t record : group.members) members.push_back(shown_record_json(collection, record));
    listed.push_back({{"payload_hash", fmt::format("{:016x}", group.hash)},
                      {"records", group.records},
                      {"leakage", group.leakage},
                      {"class_conflict", group.conflict},
                      {"members", std::move(members)}});
  }
  return {{"groups", duplicates.groups},
          {"records", duplicates.records},
          {"copies", duplicates.copies()},
          {"leakage", {{"groups", duplicates.leakage_groups}, {"records", duplicates.leakage_records}}},
          {"class_conflicts", duplicates.conflict_groups},
          {"listed", std::move(listed)}};
}

Json small_classes_json(const Collection& collection, const DatasetFacts& facts) {
  Json listed = Json::array();
  for (const SmallClass& item : facts.small_classes) {
    listed.push_back({{"class", shortened(collection.classes()[item.index].name)},
                      {"records", item.records},
                      {"reason", json_text(item.reason)},
                      {"example", item.example ? shown_record_json(collection, *item.example) : Json(nullptr)}});
  }
  return {{"count", facts.small_class_count}, {"listed", std::move(listed)}};
}

Json suspicious_json(const Collection& collection, const DatasetFacts& facts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kSuspicions; ++i) {
    const auto kind = static_cast<Suspicion>(i);
    Json listed = Json::array();
    for (const Finding& finding : facts.findings.kept(kind)) {
      Json entry = shown_record_json(collection, finding.record);
      entry["reason"] = json_text(finding.reason);
      listed.push_back(std::move(entry));
    }
    json[std::string(to_string(kind))] = {{"count", facts.findings.count(kind)}, {"listed", std::move(listed)}};
  }
  json["small_class"] = small_classes_json(collection, facts);
  return json;
}

Json samples_json(const Collection& collection, const std::vector<ShownGroup>& samples) {
  Json json = Json::array();
  for (const ShownGroup& group : samples) {
    Json shown = Json::array();
    for (const std::uint64_t record : group.shown) shown.push_back(shown_record_json(collection, record));
    json.push_back({{"class", shortened(group.name)}, {"records", group.records}, {"shown", std::move(shown)}});
  }
  return json;
}

}  // namespace

Json shown_record_json(const Collection& collection, std::uint64_t record) {
  const Collection::Place place = collection.place(record);
  Json json = {{"record", record},        {"file", json_text(collection.stores()[place.store]->path().string())},
               {"key", nullptr},          {"split", nullptr},
               {"class", nullptr},        {"width", nullptr},
               {"height", nullptr},       {"codec", nullptr},
               {"payload_bytes", nullptr}};
  if (const auto split = collection.split_of(record)) json["split"] = json_text(collection.splits()[*split]);
  try {
    const RecordMeta meta = collection.meta(record);
    if (const auto item = collection.class_of(record, meta))
      json["class"] = shortened(collection.classes()[*item].name);
    json["width"] = meta.width;
    json["height"] = meta.height;
    json["codec"] = to_string(meta.codec);
    json["payload_bytes"] = meta.payload_size;
    json["key"] = shortened(collection.key(record));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
  }
  return json;
}

Json report_document(const Collection& collection, const DatasetFacts& facts, const std::vector<ShownGroup>& samples) {
  const std::size_t no_class = collection.classes().size();
  const std::size_t no_split = collection.splits().size();
  return {{"files", files_json(collection)},
          {"records", facts.records},
          {"payload_bytes", facts.payload_bytes},
          {"pixels", facts.pixels},
          {"splits", splits_json(collection, facts)},
          {"without_split", facts.split_records[no_split]},
          {"class_count", no_class},
          {"unlabelled", facts.class_count(no_class)},
          {"classes", classes_json(collection, facts)},
          {"histograms",
           {{"width", histogram_json(facts.width)},
            {"height", histogram_json(facts.height)},
            {"aspect", histogram_json(facts.aspect)},
            {"bytes", histogram_json(facts.bytes)}}},
          {"codecs", codecs_json(facts)},
          {"jpeg_kinds", counts_json(facts.jpeg_kinds)},
          {"orientations", orientations_json(facts)},
          {"segment_index", segment_index_json(facts)},
          {"decoded", facts.decoded},
          {"gray", facts.gray},
          {"duplicates", duplicates_json(collection, facts.duplicates)},
          {"suspicious", suspicious_json(collection, facts)},
          {"samples", samples_json(collection, samples)}};
}

}  // namespace imgpack::tools
