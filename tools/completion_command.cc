// imgpack completion SHELL: a completion script, made from the declared options themselves so that it cannot fall
// behind.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tools/errors.h"
#include "tools/session.h"

namespace imgpack::tools {

namespace {

struct OptionWords {
  std::string name;  ///< "--format"
  std::string description;
  std::vector<std::string> values;  ///< the fixed choices, if it has any
  bool takes_value = false;
};

struct CommandWords {
  std::string name;
  std::string description;
  std::vector<OptionWords> options;
};

/// CLI11 shows a set of choices in an option's type name, as "TEXT:{rec,lmdb}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> choices = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
  return choices;
}

CommandWords words_of(const CLI::App& command) {
  CommandWords words{.name = command.get_name(), .description = command.get_description(), .options = {}};
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.options.push_back({.name = "--" + name,
                               .description = option->get_description(),
                               .values = choices_of(*option),
                               .takes_value = option->get_items_expected_max() > 0});
    }
  }
  return words;
}

std::string names_of(const CommandWords& command) {
  std::vector<std::string> names;
  for (const OptionWords& option : command.options) names.push_back(option.name);
  return fmt::format("{}", fmt::join(names, " "));
}

/// In single quotes, for every one of the three shells.
std::string quoted(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '\''), text.end());
  return "'" + text + "'";
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names;
  std::string options;
  std::string values;
  for (const CommandWords& command : commands) {
    names.push_back(command.name);
    options += fmt::format("    {}) words='{}' ;;\n", command.name, names_of(command));
    for (const OptionWords& option : command.options) {
      if (option.values.empty()) continue;
      values += fmt::format("    {}:{}) words='{}' ;;\n", command.name, option.name, fmt::join(option.values, " "));
    }
  }
  return fmt::format(R"(# bash completion for imgpack: source <(imgpack completion bash)
_imgpack() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  case "$command:$previous" in
{}  esac
  if [ -z "$words" ] && [ "${{current#-}}" != "$current" ]; then
    case "$command" in
{}    esac
  elif [ -z "$words" ] && [ "$command" = completion ]; then
    words='bash zsh fish'
  fi
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -F _imgpack imgpack
)",
                     fmt::join(names, " "), values, options);
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  return "#compdef imgpack\n# zsh completion for imgpack: source <(imgpack completion zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_script(commands);
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string script = "# fish completion for imgpack: imgpack completion fish | source\n";
  for (const CommandWords& command : commands) {
    script += fmt::format("complete -c imgpack -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                          quoted(command.description));
    for (const OptionWords& option : command.options) {
      script += fmt::format("complete -c imgpack -n '__fish_seen_subcommand_from {}' -l {} -d {}", command.name,
                            option.name.substr(2), quoted(option.description));
      if (!option.values.empty()) {
        script += fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(option.values, " "))));
      } else if (option.takes_value) {
        script += " -r";
      }
      script += "\n";
    }
  }
  script += "complete -c imgpack -n '__fish_seen_subcommand_from completion' -x -a 'bash zsh fish'\n";
  return script;
}

int run(Session& session, const CLI::App& app, const std::string& shell) {
  std::vector<CommandWords> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(words_of(*command));
  }
  session.console.print(shell == "bash"  ? bash_script(commands)
                        : shell == "zsh" ? zsh_script(commands)
                                         : fish_script(commands));
  return kExitSuccess;
}

}  // namespace

void add_completion(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app, &session] {
    session.command = "completion";
    session.chosen = [shell, &app, &session] { return run(session, app, *shell); };
  });
}

}  // namespace imgpack::tools
