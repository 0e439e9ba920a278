#!/usr/bin/env bash
# What Spark on Kubernetes expects of an image: it starts pods with the argument `driver` or `executor`, and the rest in
# variables. Anything else is run as it is.
set -euo pipefail

case ${1:-} in
  driver)
    shift
    command=("$SPARK_HOME/bin/spark-submit" --deploy-mode client
      --conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS" "$@")
    ;;
  executor)
    options=()
    while IFS= read -r name; do options+=("${!name}"); done < <(compgen -v SPARK_JAVA_OPT_ | sort -t_ -k4 -n)
    classes="${SPARK_CONF_DIR:-$SPARK_HOME/conf}:$SPARK_HOME/jars/*${SPARK_EXTRA_CLASSPATH:+:$SPARK_EXTRA_CLASSPATH}"
    command=("$JAVA_HOME/bin/java" "${options[@]}" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" -cp "$classes"
      org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend
      --driver-url "$SPARK_DRIVER_URL" --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES"
      --app-id "$SPARK_APPLICATION_ID" --hostname "$SPARK_EXECUTOR_POD_IP"
      --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" --podName "$SPARK_EXECUTOR_POD_NAME")
    ;;
  *) command=("$@") ;;
esac
exec tini -s -- "${command[@]}"
