"""The libraries never end the process, never print and never look at the environment by themselves.

    library_symbols_test.py [--assertions] LIBRARY.a...

Checks which functions each object file calls that it does not define. --assertions: the libraries were built without
NDEBUG, so assertions of headers they use may be compiled in.
"""
import re
import subprocess
import sys

ENDS = {"abort", "exit", "_exit", "_Exit", "quick_exit", "raise", "kill", "__assert_fail"}
PRINTS = {
    "printf", "vprintf", "__printf_chk", "__vprintf_chk", "fprintf", "vfprintf", "__fprintf_chk", "__vfprintf_chk",
    "puts", "putchar", "putc", "fputs", "fputc", "perror", "psignal", "syslog", "__syslog_chk", "warn", "err",
    "stdout", "stderr", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog",
}
ENVIRONMENT = {"getenv", "secure_getenv", "__secure_getenv", "environ", "__environ", "setenv", "putenv", "unsetenv"}
FORBIDDEN = ENDS | PRINTS | ENVIRONMENT
# std::filesystem::temp_directory_path reads TMPDIR.
FORBIDDEN_PATTERNS = [re.compile(r"temp_directory_path")]


def undefined_symbols(library):
    """(object file, symbol) for everything that an object of the archive refers to and does not define."""
    listing = subprocess.run(["nm", "--undefined-only", library], check=True, capture_output=True, text=True).stdout
    member = "?"
    for line in listing.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif match := re.match(r"\s+[Uw] (\S+)$", line):
            yield member, match.group(1)


def main(arguments):
    allowed = {"__assert_fail"} if "--assertions" in arguments else set()
    libraries = [argument for argument in arguments if not argument.startswith("--")]
    findings, seen = [], 0
    for library in libraries:
        for member, symbol in undefined_symbols(library):
            seen += 1
            name = symbol.split("@")[0]
            if name in allowed:
                continue
            if name in FORBIDDEN or any(pattern.search(name) for pattern in FORBIDDEN_PATTERNS):
                findings.append(f"{library}: {member} uses {name}")
    print("\n".join(findings))
    if not libraries or seen < 100:
        print(f"only {seen} symbols seen in {len(libraries)} libraries: nm told nothing")
        return 1
    print(f"{seen} references in {len(libraries)} libraries, {len(findings)} forbidden")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
