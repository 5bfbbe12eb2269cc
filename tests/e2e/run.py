"""Runs the end-to-end tests: run.py BINARY [FILTER]."""

import sys

import harness
import tool

import test_counts  # noqa: F401  (each module registers its tests, in this order)
import test_attach  # noqa: F401
import test_life  # noqa: F401
import test_syscalls  # noqa: F401
import test_output  # noqa: F401
import test_page  # noqa: F401
import test_usage  # noqa: F401
import test_kernels  # noqa: F401
import test_ends  # noqa: F401
import test_selftest  # noqa: F401
import test_proc  # noqa: F401
import test_limits  # noqa: F401
import test_storms  # noqa: F401
import test_faults  # noqa: F401
import test_why  # noqa: F401
import test_stacks_kernel  # noqa: F401
import test_noise  # noqa: F401
import test_budget  # noqa: F401
import test_runtimes  # noqa: F401
import test_serve  # noqa: F401
import test_why_runtimes  # noqa: F401
import test_schedule  # noqa: F401
import test_study  # noqa: F401
import test_statistics  # noqa: F401
import test_stacks  # noqa: F401
import test_stacks_runtimes  # noqa: F401
import test_privileges  # noqa: F401
import test_attack_maps  # noqa: F401
import test_attack_names  # noqa: F401
import test_attack_files  # noqa: F401
import test_attack_environment  # noqa: F401


def main():
    if len(sys.argv) not in (2, 3):
        print("usage: run.sh BINARY [FILTER]", file=sys.stderr)
        return 2
    binary = tool.Tool(sys.argv[1])
    problem = binary.problem()
    if problem:
        print(f"Bail out! {problem}", file=sys.stderr)
        return 2
    return harness.run_all(binary, sys.argv[2] if len(sys.argv) == 3 else None)


if __name__ == "__main__":
    sys.exit(main())
