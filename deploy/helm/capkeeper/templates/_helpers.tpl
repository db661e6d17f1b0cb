{{- define "capkeeper.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "capkeeper.fullname" -}}
{{- $name := include "capkeeper.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* What all pods of the release have in common; a component (daemon, test, backup) goes with it. */ -}}
{{- define "capkeeper.instanceLabels" -}}
app.kubernetes.io/name: {{ include "capkeeper.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "capkeeper.selectorLabels" -}}
{{ include "capkeeper.instanceLabels" . }}
app.kubernetes.io/component: daemon
{{- end }}

{{- define "capkeeper.labels" -}}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
{{ include "capkeeper.instanceLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{- /* The labels of an object with some of its own, which count where the common ones have the same. */ -}}
{{- define "capkeeper.labelsAnd" -}}
{{- toYaml (mergeOverwrite (fromYaml (include "capkeeper.labels" .root)) (default dict .own)) }}
{{- end }}

{{- define "capkeeper.serviceAccount" -}}
{{- if (.Values.serviceAccount).create }}
{{- default (include "capkeeper.fullname" .) (.Values.serviceAccount).name }}
{{- else }}
{{- default "default" (.Values.serviceAccount).name }}
{{- end }}
{{- end }}

{{- define "capkeeper.policiesConfigMap" -}}
{{- default (printf "%s-policies" (include "capkeeper.fullname" .)) (.Values.policies).existingConfigMap }}
{{- end }}

{{- /* Where capkeeper finds the policies. */ -}}
{{- define "capkeeper.policiesPath" -}}
{{- if (.Values.gitSync).enabled }}
{{- printf "/git/root/current/%s" (.Values.gitSync).folder | trimSuffix "/" }}
{{- else -}}
/policies
{{- end }}
{{- end }}

{{- /* One image, from {repository, tag, digest} and the tag to use when there is none. */ -}}
{{- define "capkeeper.image" -}}
{{- $image := default dict .image }}
{{- $repository := required "the repository of an image is lacking: upgrade with --reset-then-reuse-values, or set it" $image.repository }}
{{- if $image.digest }}
{{- printf "%s@%s" $repository $image.digest | quote }}
{{- else }}
{{- printf "%s:%s" $repository (default .tag $image.tag) | quote }}
{{- end }}
{{- end }}

{{- define "capkeeper.ownImage" -}}
image: {{ include "capkeeper.image" (dict "image" .Values.image "tag" .Chart.AppVersion) }}
imagePullPolicy: {{ (.Values.image).pullPolicy }}
{{- end }}

{{- /* Of any pod that nothing is to be done from, wherever it may run. */ -}}
{{- define "capkeeper.podBasics" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "capkeeper.env" -}}
- name: CAPKEEPER_CONFIG
  value: /etc/capkeeper/config.yaml
- name: NODE_OPTIONS
  value: {{ .Values.nodeOptions | quote }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The config as it is mounted. Whole values: keys of a workspace's own take the place of all of the default. */ -}}
{{- define "capkeeper.config" -}}
apiVersion: capkeeper/v1
kind: Config
listen: 0.0.0.0:9464
people: {{ .Values.people }}
{{- if ne (.Values.ledger).kind "postgres" }}
ledger: /data/capkeeper.db
{{- end }}
{{- with .Values.metrics }}
metrics:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.config }}
{{ toYaml . }}
{{- end }}
workspaces:
{{- range .Values.workspaces }}
  {{- $key := dict "file" (printf "/var/run/secrets/capkeeper/%s" ($.Values.keys).entry) }}
  {{- $policies := list (include "capkeeper.policiesPath" $) }}
  {{- $filled := dict "mode" $.Values.mode "keys" (dict "default" $key) "policies" $policies }}
  {{- range $name, $value := . }}{{ $_ := set $filled $name $value }}{{ end }}
  - name: {{ toJson .name }}
    {{- toYaml (omit $filled "name") | nindent 4 }}
{{- end }}
{{- end }}

{{- define "capkeeper.policyFiles" -}}
{{- range $name, $text := (.Values.policies).files }}
{{ $name | quote }}: |2
  {{- regexReplaceAll "\\s+$" $text "" | nindent 2 }}
{{- else }}{}
{{- end }}
{{- end }}

{{- /* Bytes of a quantity such as 1Gi, as Kubernetes writes 1024Mi in another way than it was given. */ -}}
{{- define "capkeeper.bytes" -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- mul (regexFind "^[0-9]+" . | int64) (get $units (regexFind "[A-Za-z]*$" .)) }}
{{- end }}

{{- /* Seconds of a duration such as 30s, 2m. */ -}}
{{- define "capkeeper.seconds" -}}
{{- mul (regexFind "^[0-9]+" . | int64) (get (dict "s" 1 "m" 60 "h" 3600) (regexFind "[a-z]$" .)) }}
{{- end }}

{{- /* Prometheus refuses a scrape that may take longer than the interval. */ -}}
{{- define "capkeeper.scrapeTimeout" -}}
{{- printf "%ds" (min 10 (include "capkeeper.seconds" . | int64)) }}
{{- end }}

{{- /* "yes" where a release of this chart other than this one has objects of the kind in the namespace; Helm looks only when it has a cluster. */ -}}
{{- define "capkeeper.madeByAnother" -}}
{{- $found := "" }}
{{- range (lookup .apiVersion .kind .root.Release.Namespace "").items }}
  {{- $labels := default dict .metadata.labels }}
  {{- $isAnother := ne (default "" (get (default dict .metadata.annotations) "meta.helm.sh/release-name")) $.root.Release.Name }}
  {{- if and $isAnother (eq (default "" (get $labels "app.kubernetes.io/component")) $.component) (hasPrefix "capkeeper-" (default "" (get $labels "helm.sh/chart"))) }}
    {{- $found = "yes" }}
  {{- end }}
{{- end }}
{{- $found }}
{{- end }}

{{- define "capkeeper.hasPodMonitor" -}}
{{- $isKnown := .Capabilities.APIVersions.Has "monitoring.coreos.com/v1/PodMonitor" }}
{{- if eq (toString (.Values.podMonitor).enabled) "auto" }}
{{- if and $isKnown (not (.Values.serviceMonitor).enabled) }}yes{{ end }}
{{- else if (.Values.podMonitor).enabled }}yes{{ end }}
{{- end }}

{{- define "capkeeper.hasRules" -}}
{{- $isKnown := .Capabilities.APIVersions.Has "monitoring.coreos.com/v1/PrometheusRule" }}
{{- if eq (toString (.Values.prometheusRule).enabled) "auto" }}
{{- if and $isKnown (not (include "capkeeper.madeByAnother" (dict "root" . "apiVersion" "monitoring.coreos.com/v1" "kind" "PrometheusRule" "component" "alerts"))) }}yes{{ end }}
{{- else if (.Values.prometheusRule).enabled }}yes{{ end }}
{{- end }}

{{- define "capkeeper.hasDashboards" -}}
{{- if (.Values.dashboards).enabled }}
{{- if not (include "capkeeper.madeByAnother" (dict "root" . "apiVersion" "v1" "kind" "ConfigMap" "component" "dashboards")) }}yes{{ end }}
{{- end }}
{{- end }}
