// The process: standard descriptors, signals, exit. The rest is run_command_line().
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "tools/command_line.h"

namespace {

/// Makes sure that descriptors 0 to 2 are taken. Otherwise the next file that is opened gets one of them, and messages
/// would be written into it. The stand-in can't be written, so that a closed standard output is noticed.
void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0) ::_exit(3);
  }
}

/// Ends the process by `number`, as if it had never been caught: shells and job systems look at that.
void end_by_signal(int number) {
  std::signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(number);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit then is a write error with a message
  std::signal(SIGPIPE, SIG_IGN);  // so that a build survives its progress reader
  imgpack::tools::Console console(STDOUT_FILENO, STDERR_FILENO);
  const int exit_code = imgpack::tools::run_command_line(std::vector<std::string>(argv + 1, argv + argc), console);
  if (exit_code > 128) end_by_signal(exit_code - 128);
  return exit_code;
}
