#include "formats/dataset_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/columns.h"
#include "imgpack/error.h"
#include "mmap/paths.h"

namespace imgpack {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;
constexpr std::size_t kMaxJsonBytes = 256u << 20;

Json encode(const FieldSpec& field) {
  return {{"name", field.name}, {"type", to_string(field.type)}, {"shape", field.shape}};
}

FieldSpec decode_field(const Json& json) {
  FieldSpec field;
  field.name = json.at("name").get<std::string>();
  const auto type = field_type_from_name(json.at("type").get<std::string>());
  if (!type) throw std::runtime_error("a field has an unknown type");
  field.type = *type;
  field.shape = json.at("shape").get<std::vector<std::uint32_t>>();
  if (field.name.empty()) throw std::runtime_error("a field has no name");
  if (field.type == FieldType::bytes && !field.shape.empty()) throw std::runtime_error("a bytes field has a shape");
  std::uint64_t elements = 1;
  for (const std::uint32_t extent : field.shape) {
    elements *= extent;
    if (extent == 0 || elements > kMaxFieldBytes / 8) throw std::runtime_error("a field's shape is absurd");
  }
  return field;
}

DatasetInfo decode(const Json& json) {
  if (json.at("schema").get<int>() != kSchemaVersion) throw std::runtime_error("its schema version is not known");
  DatasetInfo info;
  info.records = json.at("records").get<std::uint64_t>();
  info.payload_bytes = json.at("payload_bytes").get<std::uint64_t>();
  info.pixels = json.at("pixels").get<std::uint64_t>();
  info.content_digest = std::stoull(json.at("content_digest").get<std::string>(), nullptr, 16);
  for (const Json& item : json.at("classes")) {
    info.classes.push_back({.name = item.at("name").get<std::string>(), .words = item.at("words").get<std::string>()});
  }
  for (const Json& item : json.at("splits")) {
    Split split{item.at("name").get<std::string>(), item.at("begin").get<std::uint64_t>(),
                item.at("end").get<std::uint64_t>()};
    if (split.begin > split.end || split.end > info.records)
      throw std::runtime_error("a split lies outside the records");
    info.splits.push_back(std::move(split));
  }
  for (const Json& item : json.at("fields")) info.fields.push_back(decode_field(item));
  if (info.fields.size() > kMaxFields) throw std::runtime_error("there are too many fields");
  info.transform = json.at("transform").get<std::map<std::string, std::string>>();
  info.source_kind = json.at("source").at("kind").get<std::string>();
  info.source_name = json.at("source").at("name").get<std::string>();
  info.tool_version = json.at("tool_version").get<std::string>();
  info.metadata = json.at("metadata").get<std::map<std::string, std::string>>();
  info.left_out_count = json.at("left_out").at("count").get<std::uint64_t>();
  info.ignored_count = json.at("left_out").at("ignored").get<std::uint64_t>();
  for (const Json& item : json.at("left_out").at("first")) {
    info.left_out.push_back({.key = item.at("key").get<std::string>(),
                             .reason = item.at("reason").get<std::string>(),
                             .ignored = item.at("ignored").get<bool>()});
  }
  return info;
}

}  // namespace

std::string dataset_info_to_json(const DatasetInfo& info) {
  Json json;
  json["schema"] = kSchemaVersion;
  json["tool_version"] = info.tool_version;
  json["records"] = info.records;
  json["payload_bytes"] = info.payload_bytes;
  json["pixels"] = info.pixels;
  json["content_digest"] = fmt::format("{:016x}", info.content_digest);
  json["source"] = {{"kind", info.source_kind}, {"name", info.source_name}};
  json["transform"] = info.transform;
  json["metadata"] = info.metadata;
  json["splits"] = Json::array();
  for (const Split& split : info.splits) {
    json["splits"].push_back({{"name", split.name}, {"begin", split.begin}, {"end", split.end}});
  }
  json["fields"] = Json::array();
  for (const FieldSpec& field : info.fields) json["fields"].push_back(encode(field));
  json["classes"] = Json::array();
  for (const ClassInfo& item : info.classes) json["classes"].push_back({{"name", item.name}, {"words", item.words}});
  json["left_out"] = {{"count", info.left_out_count}, {"ignored", info.ignored_count}, {"first", Json::array()}};
  for (const LeftOut& item : info.left_out) {
    json["left_out"]["first"].push_back({{"key", item.key}, {"reason", item.reason}, {"ignored", item.ignored}});
  }
  try {
    return json.dump();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a name in the dataset's description is not UTF-8 ({})", error.what()));
  }
}

DatasetInfo dataset_info_from_json(std::string_view json, const std::filesystem::path& file) {
  const ErrorPlace place = in_file(file);
  if (json.size() > kMaxJsonBytes)
    throw Error(ErrorCode::damaged, "the dataset's description is absurdly large", place);
  try {
    return decode(Json::parse(json));
  } catch (const std::exception& error) {
    throw Error(ErrorCode::damaged, fmt::format("the dataset's description cannot be read: {}", error.what()), place);
  }
}

}  // namespace imgpack
