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

{{- define "capkeeper.selectorLabels" -}}
app.kubernetes.io/name: {{ include "capkeeper.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: daemon
{{- end }}

{{- define "capkeeper.labels" -}}
app.kubernetes.io/name: {{ include "capkeeper.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "capkeeper.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "capkeeper.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "capkeeper.policiesConfigMap" -}}
{{- default (printf "%s-policies" (include "capkeeper.fullname" .)) .Values.policies.existingConfigMap }}
{{- end }}

{{- /* Where capkeeper finds the policies. */ -}}
{{- define "capkeeper.policiesPath" -}}
{{- if .Values.gitSync.enabled }}
{{- printf "/git/current/%s" .Values.gitSync.folder | trimSuffix "/" }}
{{- else -}}
/policies
{{- end }}
{{- end }}

{{- /* One image, from {repository, tag, digest} and the tag to use when there is none. */ -}}
{{- define "capkeeper.image" -}}
{{- if .image.digest }}
{{- printf "%s@%s" .image.repository .image.digest }}
{{- else }}
{{- printf "%s:%s" .image.repository (default .tag .image.tag) }}
{{- end }}
{{- end }}

{{- /* What the Pod Security Standard "restricted" asks of a container. */ -}}
{{- define "capkeeper.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
