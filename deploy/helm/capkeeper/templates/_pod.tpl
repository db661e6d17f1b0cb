{{- /* git-sync beside capkeeper, and a look for its first sync, so that a start does not begin with errors about policies that are on their way.
A sidecar in Kubernetes' own sense: it starts first and ends last. It has no startup probe on purpose: when the pod starts while git is away,
capkeeper starts all the same. Both have the repository under one path, because worktrees name their repository by it. The root is a folder
that git-sync makes, and so owns: git trusts no other. */ -}}
{{- define "capkeeper.gitSync" -}}
{{- with .Values.gitSync }}
- name: git-sync
  image: {{ include "capkeeper.image" (dict "image" .image "tag" .image.tag) }}
  imagePullPolicy: {{ $.Values.image.pullPolicy }}
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
    {{- toYaml (mergeOverwrite (deepCopy $.Values.securityContext) .securityContext) | nindent 4 }}
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
    secretName: {{ .Values.keys.existingSecret | quote }}
    defaultMode: 288 # 0440
{{- if .Values.gitSync.enabled }}
- name: git
  emptyDir: {sizeLimit: 1Gi}
- name: git-tmp
  emptyDir: {sizeLimit: 64Mi}
{{- with .Values.gitSync.existingSecret }}
- name: git-secret
  secret:
    secretName: {{ . | quote }}
    defaultMode: 288 # 0440
{{- end }}
{{- with .Values.gitSync.sshSecret }}
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
{{- with .Values.persistence.existingClaim }}
- name: data
  persistentVolumeClaim:
    claimName: {{ . | quote }}
{{- end }}
- name: tmp
  emptyDir: {sizeLimit: 64Mi}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
