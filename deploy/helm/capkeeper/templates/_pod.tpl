{{- /* git-sync beside capkeeper, and a look for its first sync, so that a start does not begin with errors about policies that are on their way.
A sidecar in Kubernetes' own sense: it starts first and ends last. It has no startup probe on purpose: when the pod starts while git is away,
capkeeper starts all the same. Both have the repository under one path, because worktrees name their repository by it. The root is a folder
that git-sync makes, and so owns: git trusts no other. */ -}}
{{- define "capkeeper.gitSync" -}}
{{- with .Values.gitSync }}
- name: git-sync
  image: {{ include "capkeeper.image" (dict "image" .image "tag" (.image).tag) }}
  imagePullPolicy: {{ ($.Values.image).pullPolicy }}
  restartPolicy: Always
  args:
    - {{ printf "--repo=%s" .repository | quote }}
    - {{ printf "--ref=%s" .ref | quote }}
    - --root=/git/root
    - --link=current
    - {{ printf "--period=%s" .period | quote }}
    - --max-failures=-1
    {{- if .existingSecret }}
    - {{ printf "--username=%s" .username | quote }}
    - --password-file=/etc/git-secret/token
    - --password-file-reload
    {{- end }}
    {{- if .sshSecret }}
    - --ssh-key-file=/etc/git-ssh/ssh
    - --ssh-known-hosts-file=/etc/git-ssh/known_hosts
    {{- end }}
    {{- with .extraArgs }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .extraEnv }}
  env:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  resources:
    {{- toYaml .resources | nindent 4 }}
  securityContext:
    {{- toYaml (mergeOverwrite (deepCopy (default dict $.Values.securityContext)) (default dict .securityContext)) | nindent 4 }}
  volumeMounts:
    - {name: git, mountPath: /git}
    - {name: git-tmp, mountPath: /tmp}
    {{- if .existingSecret }}
    - {name: git-secret, mountPath: /etc/git-secret, readOnly: true}
    {{- end }}
    {{- if .sshSecret }}
    - {name: git-ssh, mountPath: /etc/git-ssh, readOnly: true}
    {{- end }}
    {{- with .extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
- name: first-sync
  {{- include "capkeeper.ownImage" . | nindent 2 }}
  command: [/nodejs/bin/node, --input-type=module, --eval]
  args:
    - |
      {{- .Files.Get "files/wait.mjs" | nindent 6 }}
  resources:
    requests: {cpu: 10m, memory: 64Mi}
    limits: {memory: 128Mi}
  securityContext:
    {{- toYaml .Values.securityContext | nindent 4 }}
  volumeMounts:
    - {name: git, mountPath: /git, readOnly: true}
{{- end }}

{{- define "capkeeper.volumes" -}}
- name: config
  configMap:
    name: {{ include "capkeeper.fullname" . }}-config
- name: keys
  secret:
    secretName: {{ (.Values.keys).existingSecret | quote }}
    defaultMode: 288 # 0440
{{- if (.Values.gitSync).enabled }}
- name: git
  emptyDir: {sizeLimit: 1Gi}
- name: git-tmp
  emptyDir: {sizeLimit: 64Mi}
{{- with (.Values.gitSync).existingSecret }}
- name: git-secret
  secret:
    secretName: {{ . | quote }}
    defaultMode: 288 # 0440
{{- end }}
{{- with (.Values.gitSync).sshSecret }}
- name: git-ssh
  secret:
    secretName: {{ . | quote }}
    defaultMode: 288 # 0440
{{- end }}
{{- else }}
- name: policies
  configMap:
    name: {{ include "capkeeper.policiesConfigMap" . | quote }}
{{- end }}
{{- if and (ne (.Values.ledger).kind "postgres") (.Values.persistence).existingClaim }}
- name: data
  persistentVolumeClaim:
    claimName: {{ (.Values.persistence).existingClaim | quote }}
{{- end }}
- name: tmp
  emptyDir: {sizeLimit: 64Mi}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The daemon's pod, the same in a StatefulSet and in a Deployment but for where the ledger is. */ -}}
{{- define "capkeeper.podTemplate" -}}
metadata:
  labels:
    {{- with mergeOverwrite dict (default dict .Values.commonLabels) (default dict .Values.podLabels) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- include "capkeeper.selectorLabels" . | nindent 4 }}
  annotations:
    kubectl.kubernetes.io/default-container: capkeeper
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "capkeeper.serviceAccount" . | quote }}
  {{- include "capkeeper.podBasics" . | trim | nindent 2 }}
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  {{- with .Values.hostAliases }}
  hostAliases:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.dnsConfig }}
  dnsConfig:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if (.Values.gitSync).enabled }}
  initContainers:
    {{- include "capkeeper.gitSync" . | trim | nindent 4 }}
  {{- end }}
  containers:
    - name: capkeeper
      {{- include "capkeeper.ownImage" . | nindent 6 }}
      args: [run, --log-level, {{ .Values.logLevel }}]
      env:
        {{- include "capkeeper.env" . | nindent 8 }}
        {{- with .Values.ledger }}
        {{- if eq .kind "postgres" }}
        - name: CAPKEEPER_LEDGER
          valueFrom:
            secretKeyRef: {name: {{ .postgres.existingSecret | quote }}, key: {{ .postgres.entry | quote }}}
        {{- end }}
        {{- end }}
      ports:
        - name: http
          containerPort: 9464
          protocol: TCP
      startupProbe:
        httpGet: {path: /livez, port: http}
        {{- with (.Values.probes).startup }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      livenessProbe:
        httpGet: {path: /livez, port: http}
        {{- with (.Values.probes).liveness }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        {{- with (.Values.probes).readiness }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        {{- toYaml .Values.securityContext | nindent 8 }}
      volumeMounts:
        # Whole folders, never subPath: only so do changes of the files arrive.
        - {name: config, mountPath: /etc/capkeeper, readOnly: true}
        - {name: keys, mountPath: /var/run/secrets/capkeeper, readOnly: true}
        {{- if (.Values.gitSync).enabled }}
        - {name: git, mountPath: /git, readOnly: true}
        {{- else }}
        - {name: policies, mountPath: /policies, readOnly: true}
        {{- end }}
        {{- if ne (.Values.ledger).kind "postgres" }}
        - {name: data, mountPath: /data}
        {{- end }}
        - {name: tmp, mountPath: /tmp}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- include "capkeeper.volumes" . | nindent 4 }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- else }}
  {{- if eq (.Values.ledger).kind "postgres" }}
  # Another node, and another zone, for each as far as there are any.
  topologySpreadConstraints:
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "capkeeper.selectorLabels" $ | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- end }}
{{- end }}
