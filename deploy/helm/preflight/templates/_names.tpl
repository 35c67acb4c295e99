{{- define "preflight.labels" -}}
app.kubernetes.io/name: preflight
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}
