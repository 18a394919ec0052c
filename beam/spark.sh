#!/usr/bin/env bash
# Runs check.sh against Spark: Beam's job server for it, with Spark in its process (local mode), of the versions that
# spark.xml pins, all of it on the loopback. The jars (300 MB) are kept in CHECK_SPARK_DIR, or in a folder in the one for
# temporary files. jobserver.sh says what it needs.
source "$(dirname "$0")/jobserver.sh"
dir=${CHECK_SPARK_DIR:-${TMPDIR:-/tmp}/listwise-spark-$(id -u)}
jars spark "$dir"
driver=org.apache.beam.runners.spark.SparkJobServerDriver
master=(--spark-master-url 'local[2]')
java=(-Dspark.ui.enabled=false -Dspark.driver.host=127.0.0.1 -Dspark.driver.bindAddress=127.0.0.1)
for package in lang lang.invoke lang.reflect io net nio util util.concurrent util.concurrent.atomic; do # as Spark asks of Java 17
  java+=("--add-opens=java.base/java.$package=ALL-UNNAMED")
done
java+=(--add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/sun.security.action=ALL-UNNAMED)
serve "$dir" 8098 'Job server now running' "${java[@]}"
grep -o 'org.apache.spark.SparkContext - Running Spark version .*' "$log" | sort | uniq -c
