// imgpack doctor FILE
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"
#include "imgpack/store.h"
#include "measure/examination.h"
#include "measure/machine.h"
#include "mmap/cpu_budget.h"
#include "tools/batch_transform_options.h"
#include "tools/doctor_report.h"
#include "tools/errors.h"
#include "tools/interrupt.h"
#include "tools/numbers.h"
#include "tools/packing_options.h"
#include "tools/progress.h"
#include "tools/session.h"

namespace imgpack::tools {

namespace {

struct Arguments {
  std::string file;
  std::string split;
  bool cold = false;
  double seconds = 0.5;
  std::uint32_t rounds = 3;
  std::uint32_t batch_size = 256;
  unsigned threads = 0;
  std::string device = "cpu";
  double step_ms = 0;
  std::string step_command;
  std::uint64_t copy_rate = 0;
  double target = 0;
  bool no_variants = false;
  BatchTransformOptions transform;
};

// Of a target or a consumer, in images a second.
constexpr double kLeastRate = 1e-3;
constexpr double kMostRate = 1e12;

/// Runs the command and takes the number in its last line: images a second.
double rate_of_command(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw Error(ErrorCode::io, fmt::format("--step-command can't be started: {}", command));
  std::string output;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) != 0;) output.append(buffer, got);
  const int status = ::pclose(pipe);
  stop_if_interrupted();  // the command, too, was told to stop
  if (status != 0) {
    throw Error(ErrorCode::invalid_argument, fmt::format("--step-command failed (exit status {}): {}",
                                                         WIFEXITED(status) ? WEXITSTATUS(status) : -1, command));
  }
  while (!output.empty() && (output.back() == '\n' || output.back() == '\r')) output.pop_back();
  const std::string line = output.substr(output.find_last_of('\n') + 1);
  double rate = 0;
  int used = 0;
  if (std::sscanf(line.c_str(), "%lf %n", &rate, &used) != 1 || !(rate >= kLeastRate && rate <= kMostRate) ||
      static_cast<std::size_t>(used) != line.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--step-command has to print images a second as its last line, not \"{}\"", line));
  }
  return rate;
}

measure::ExaminationOptions examination_options(const Arguments& arguments) {
  measure::ExaminationOptions options;
  options.dataset = arguments.file;
  options.split = arguments.split;
  options.cold = arguments.cold;
  options.rounds = arguments.rounds;
  options.run.seconds = arguments.seconds;
  options.run.batch_size = arguments.batch_size;
  options.run.threads = arguments.threads;
  options.run.device = arguments.device;
  options.run.stop = [] { return interrupted_by() != 0; };
  apply(arguments.transform, options.run);
  if (arguments.transform.transform != "none") {
    options.image_bytes =
        std::uint64_t{arguments.transform.crop} * arguments.transform.crop * 3 * size_of(options.run.dtype);
  }
  options.copy_bytes_per_second = static_cast<double>(arguments.copy_rate);
  options.variants = !arguments.no_variants;
  if (options.variants) options.folder = std::filesystem::temp_directory_path();
  if (arguments.step_ms > 0) {
    options.run.step_seconds = arguments.step_ms * 1e-3;
  } else if (!arguments.step_command.empty()) {
    open_store(arguments.file);  // it may not open, which is better known before the command runs for minutes
    options.run.step_seconds = arguments.batch_size / rate_of_command(arguments.step_command);
  }
  return options;
}

int run(Session& session, const Arguments& arguments) {
  if (arguments.step_ms > 0 && !arguments.step_command.empty()) {
    throw Error(ErrorCode::invalid_argument, "--step-ms and --step-command both say how fast the consumer is");
  }
  catch_interrupts();
  Progress progress(session);
  DoctorReport report{.examination = {},
                      .target = {},
                      .cpu = measure::cpu_model(),
                      .cpus = cpu_budget(),
                      .load = measure::load_average(),
                      .rounds = arguments.rounds,
                      .batch_size = arguments.batch_size,
                      .device = arguments.device,
                      .step_seconds = 0};
  measure::ExaminationOptions options = examination_options(arguments);
  report.step_seconds = options.run.step_seconds;
  options.progress = [&progress](std::string_view doing) { progress.update(doing, 0, 0, 0); };
  report.examination = measure::examine(options);
  stop_if_interrupted();
  if (arguments.target > 0) {
    report.target = measure::answer_target(report.examination.situation, report.examination.advice, arguments.target);
  }
  if (session.json) {
    session.console.print_json(doctor_json(report));
  } else if (!session.quiet) {
    session.console.print(doctor_text(report));
  }
  return kExitSuccess;
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("doctor", "Find out what bounds the rate of loading here, and what would help");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "A packed file, manifest, quoted pattern, or name of shards")
      ->required()
      ->type_name("");
  command->add_option("--split", arguments->split, "Only this split")->type_name("NAME");
  command->add_flag("--cold", arguments->cold, "Records come from disk in each epoch, whatever room memory has");
  add_real_option(*command, "--seconds", 0.001, 86'400, arguments->seconds, "Length of a run (default 0.5)");
  command->add_option("--rounds", arguments->rounds, "Runs of each stage")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--batch", arguments->batch_size, "Images of a batch")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  add_threads_option(*command, arguments->threads);
  command->add_option("--device", arguments->device, "Where batches are made: cpu, cuda, cuda:N")
      ->capture_default_str();
  add_real_option(*command, "--step-ms", 0, 3'600'000, arguments->step_ms,
                  "What the consumer takes for a batch, in milliseconds");
  command
      ->add_option("--step-command", arguments->step_command,
                   "A command whose last line of output is how many images a second the consumer takes")
      ->type_name("COMMAND");
  add_size_option(
      *command, "--copy-rate", {.least = 1}, [arguments](std::uint64_t rate) { arguments->copy_rate = rate; },
      "Bytes a second from host memory to the GPU, assumed instead of measured");
  add_real_option(*command, "--target", kLeastRate, kMostRate, arguments->target,
                  "Say whether and how so many images a second can be reached");
  command->add_flag("--no-variants", arguments->no_variants, "Do not pack a part in other ways");
  add_batch_transform_options(*command, arguments->transform);
  add_common_options(*command, session, true);
  command->callback([arguments, &session] {
    session.command = "doctor";
    session.chosen = [arguments, &session] { return run(session, *arguments); };
  });
}

}  // namespace imgpack::tools
