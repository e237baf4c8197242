"""Run every property test with many seeds: ``python tests/run_seeds.py 20``.

Each seed is a whole pytest run of the tests that draw random worlds (marker `property`), in other worlds than
`make test` draws. For each test that failed it prints the seed and the command that repeats it. Ends with the number of
seeds that passed and failed, and with status 1 if one failed.
"""

from __future__ import annotations

import argparse
import re
import secrets
import shlex
import subprocess
import sys
import time

# In brackets there may be blanks.
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?(?:\[.*?\])?)(?: - .*)?$", re.MULTILINE)


def repeats(output: str, seed: int) -> list[str]:
    """The commands that repeat what failed in a run that printed `output`."""
    return [f"{sys.executable} -m pytest {shlex.quote(test)} --seed={seed}" for test in _FAILED.findall(output)]


def main() -> int:
    """Run the seeds; 1 when a test failed."""
    parser = argparse.ArgumentParser(description="Run every property test with many seeds.")
    parser.add_argument("seeds", type=int, help="how many different seeds")
    parser.add_argument("--first", type=int, help="the first seed, a whole number above 0; drawn by default")
    parser.add_argument("--jobs", type=int, default=2, help="processes of each run")
    parser.add_argument("tests", nargs="*", default=["tests"], help="which tests, as pytest names them; all by default")
    options = parser.parse_intermixed_args()  # tests may stand before or after the options
    first = options.first or 1 + secrets.randbelow(1_000_000)
    failed = 0
    for seed in range(first, first + options.seeds):
        begin = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-q", "-m", "property and not data and not long", f"--seed={seed}"]
        command += ["-n", str(options.jobs), "--dist", "loadfile", *options.tests]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        verdict = "passed" if run.returncode == 0 else "FAILED"
        print(f"seed {seed}: {verdict} in {time.perf_counter() - begin:.0f} s", flush=True)
        if run.returncode:
            failed += 1
            print(run.stdout[-8000:], run.stderr[-2000:], flush=True)
            for command in repeats(run.stdout, seed):
                print(f"repeat: {command}", flush=True)
    print(f"{options.seeds - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
