{{- /* What values.schema.json cannot say. It fails before anything is applied; what needs the cluster is looked up, and passed over where there is none. */ -}}
{{- define "capkeeper.checks" -}}
{{- $name := include "capkeeper.fullname" . }}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) }}
{{- fail (printf "objects would be called %q, and a Service cannot be: it begins with a letter and has letters, digits and dashes; set fullnameOverride" $name) }}
{{- end }}
{{- $seen := list "CAPKEEPER_CONFIG" "NODE_OPTIONS" }}
{{- range .Values.extraEnv }}
{{- if has .name $seen }}{{ fail (printf "extraEnv names %s a second time" .name) }}{{ end }}
{{- $seen = append $seen .name }}
{{- end }}
{{- if and (.Values.serviceMonitor).enabled (eq (toString (.Values.podMonitor).enabled) "true") }}
{{- fail "podMonitor.enabled and serviceMonitor.enabled are both true, and every series would be there twice; leave podMonitor.enabled at auto" }}
{{- end }}
{{- if (.Values.backup).enabled }}
{{- if not (or (.Values.backup).existingClaim ((.Values.backup).s3).bucket) }}
{{- fail "backup.enabled needs a place for the copies: backup.existingClaim, backup.s3.bucket, or both" }}
{{- end }}
{{- if eq (.Values.persistence).accessMode "ReadWriteOncePod" }}
{{- fail "backup.enabled needs persistence.accessMode ReadWriteOnce: with ReadWriteOncePod no second pod may read the ledger" }}
{{- end }}
{{- end }}
{{- if eq (.Values.ledger).kind "postgres" }}
{{- if not ((.Values.ledger).postgres).existingSecret }}
{{- fail "ledger.kind postgres needs ledger.postgres.existingSecret: a Secret with the address of the database" }}
{{- end }}
{{- if (.Values.backup).enabled }}
{{- fail "backup.enabled is for a ledger in a volume; with ledger.kind postgres the database's own backups are made" }}
{{- end }}
{{- end }}
{{- include "capkeeper.checksOfLive" (dict "root" . "name" $name) }}
{{- end }}

{{- /* Of the release as it runs: another name would start beside it with an empty ledger, and Kubernetes cannot change a StatefulSet's volume. */ -}}
{{- define "capkeeper.checksOfLive" -}}
{{- $root := .root }}
{{- $name := .name }}
{{- range (lookup "apps/v1" "StatefulSet" $root.Release.Namespace "").items }}
{{- $release := default "" (get (default dict .metadata.annotations) "meta.helm.sh/release-name") }}
{{- if and (eq $release $root.Release.Name) (hasPrefix "capkeeper-" (default "" (get (default dict .metadata.labels) "helm.sh/chart"))) }}
  {{- if ne .metadata.name $name }}
    {{- fail (printf "this release runs as StatefulSet %s, and would run as %s with an empty ledger beside it; take nameOverride and fullnameOverride back. Nothing was changed" .metadata.name $name) }}
  {{- end }}
  {{- $labels := .spec.selector.matchLabels }}
  {{- if ne (get $labels "app.kubernetes.io/name") (include "capkeeper.name" $root) }}
    {{- fail (printf "the StatefulSet selects its pod by the name %s, which cannot be changed to %s; take nameOverride back. Nothing was changed" (get $labels "app.kubernetes.io/name") (include "capkeeper.name" $root)) }}
  {{- end }}
  {{- if ne (default "OrderedReady" .spec.podManagementPolicy) "Parallel" }}
    {{- fail (printf "the StatefulSet %s was made by an older chart, and Kubernetes cannot change its podManagementPolicy in place. Run `kubectl -n %s delete statefulset %s --cascade=orphan`, which leaves the pod and its volume as they are, and this command again. Nothing was changed" .metadata.name $root.Release.Namespace .metadata.name) }}
  {{- end }}
  {{- if ne ($root.Values.ledger).kind "postgres" }}
  {{- include "capkeeper.checkOfClaim" (dict "root" $root "claims" (default list .spec.volumeClaimTemplates) "name" .metadata.name) }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "capkeeper.checkOfClaim" -}}
{{- $wanted := .root.Values.persistence }}
{{- $how := printf "Kubernetes cannot change that in place; the guide says how, under \"Grow the volume\": deploy/README.md. Nothing was changed" }}
{{- if and $wanted.existingClaim .claims }}
{{- fail (printf "persistence.existingClaim is %s, and StatefulSet %s has a claim of its own. %s" $wanted.existingClaim .name $how) }}
{{- end }}
{{- if and (not $wanted.existingClaim) (not .claims) }}
{{- fail (printf "persistence.existingClaim is taken back, and StatefulSet %s has no claim of its own. %s" .name $how) }}
{{- end }}
{{- if not $wanted.existingClaim }}
{{- $live := (first .claims).spec }}
{{- $size := $live.resources.requests.storage | toString }}
{{- if and (regexMatch "^[0-9]+(k|M|G|T|Ki|Mi|Gi|Ti)?$" $size) (ne (include "capkeeper.bytes" $size) (include "capkeeper.bytes" $wanted.size)) }}
{{- fail (printf "persistence.size is %s, and the volume was made with %s. %s" $wanted.size $size $how) }}
{{- end }}
{{- if ne (default "" $live.storageClassName) $wanted.storageClass }}
{{- fail (printf "persistence.storageClass is %q, and the volume was made with %q. %s" $wanted.storageClass (default "" $live.storageClassName) $how) }}
{{- end }}
{{- if ne (first $live.accessModes) $wanted.accessMode }}
{{- fail (printf "persistence.accessMode is %s, and the volume was made with %s. %s" $wanted.accessMode (first $live.accessModes) $how) }}
{{- end }}
{{- end }}
{{- end }}
