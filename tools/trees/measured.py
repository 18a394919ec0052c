"""Runs a command and prints its CPU seconds, seconds and peak MB. A child's peak includes its
parent's memory at the fork, so this script is a small process of its own.
"""

import os
import sys
import time

began = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
print(usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
