#!/usr/bin/env bash
# Runs check.sh against Flink: Beam's job server for it, with a Flink cluster in its process, of the
# version that flink.xml pins. There is no jar of the job server as a whole in Maven's repository for that
# version; it is started from the runner's and what that needs. The jars (150 MB) are kept in CHECK_FLINK_DIR, or in a
# folder in the one for temporary files. jobserver.sh says what it needs.
source "$(dirname "$0")/jobserver.sh"
dir=${CHECK_FLINK_DIR:-${TMPDIR:-/tmp}/listwise-flink-$(id -u)}
jars flink "$dir"
driver=org.apache.beam.runners.flink.FlinkJobServerDriver
master=(--flink-master '[local]')
serve "$dir" 8099 'Job server now running'
grep -o 'org.apache.flink.runtime.minicluster.MiniCluster - Flink Mini Cluster started successfully' "$log" | sort | uniq -c
grep -o 'Job [a-z0-9-]* .*switched from state RUNNING to [A-Z]*' "$log" | sed 's/.* to /Flink: a job switched from RUNNING to /' | sort | uniq -c
