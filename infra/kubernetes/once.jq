# A job for now, of the template that a step's schedule holds; for `kubectl create`, which ends its name with random letters:
#   kubectl get raycronjob benchcore-embed -o json | jq -f infra/kubernetes/once.jq | kubectl create -f -
{
  ScheduledSparkApplication: {kind: "SparkApplication", spec: .spec.template},
  RayCronJob: {kind: "RayJob", spec: .spec.jobTemplate},
  CronJob: {kind: "Job", spec: .spec.jobTemplate.spec}
}[.kind]
+ {apiVersion, metadata: {generateName: "\(.metadata.name)-", namespace: .metadata.namespace, labels: .metadata.labels}}
