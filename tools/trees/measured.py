"""Runs a command and prints its CPU seconds, seconds and peak MB. It is a process of its own
because a child's peak counts its parent's memory at the fork, which is small here."""

import os
import sys
import time

began = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
print(usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
