#include "tools/errors.h"

#include "formats/text.h"

namespace imgpack::tools {

int exit_code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::refused:
    case ErrorCode::damaged:
      return kExitDamaged;
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::already_exists:
      return kExitUsage;
    case ErrorCode::busy:
    case ErrorCode::unsupported:
    case ErrorCode::io:
    case ErrorCode::out_of_memory:
      break;
  }
  return kExitMachine;
}

std::string_view hint_for(const Error& error, std::string_view command, std::string_view source) {
  const bool packs = command == "build" || command == "convert";
  if (error.message().find("--") != std::string::npos) return {};  // it already says what to do
  switch (error.code()) {
    case ErrorCode::refused:
      return command == "build" && !error.place().file.empty() && error.place().file != source
                 ? "the same command with --on-error skip --resume leaves such files out and lists them"
                 : "";
    case ErrorCode::damaged:
      return command == "verify" ? "" : "imgpack verify lists all that is wrong with a packed file";
    case ErrorCode::already_exists:
      return "choose another name, or replace it with --overwrite";
    case ErrorCode::busy:
      return "wait until the other process has finished, or choose another OUT";
    case ErrorCode::io:
      if (command == "extract")
        return "what was extracted so far stays; the same command with --overwrite goes over it again";
      return packs ? "mend that, then run the same command with --resume: it goes on from what the build has kept by "
                     "now, if anything"
                   : "";
    case ErrorCode::out_of_memory:
      return packs ? "fewer --threads need less memory; --resume keeps what is done so far" : "";
    case ErrorCode::unsupported:
    case ErrorCode::not_found:
    case ErrorCode::invalid_argument:
      break;
  }
  return {};
}

std::string json_text(std::string_view text) {
  return printable_utf8(text);
}

Json error_json(const Error& error) {
  const ErrorPlace& place = error.place();
  Json json = error_json(to_string(error.code()), error.message());
  if (!place.file.empty()) json["file"] = json_text(place.file);
  if (place.record) json["record"] = *place.record;
  if (place.offset) json["offset"] = *place.offset;
  return json;
}

Json error_json(std::string_view code, std::string_view message) {
  return {{"code", code}, {"message", json_text(message)}, {"file", nullptr}, {"record", nullptr}, {"offset", nullptr}};
}

}  // namespace imgpack::tools
