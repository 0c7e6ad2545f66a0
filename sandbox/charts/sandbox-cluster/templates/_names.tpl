{{/*
Names, labels and small parts that several templates share.

A driver finds objects by these names and labels, so they are those of
capi-helm-charts' openstack-cluster.
*/}}

{{- define "sandbox.cluster" -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Name of a part of a cluster. Arguments: context, part. */}}
{{- define "sandbox.name" -}}
{{- printf "%s-%s" (index . 0).Release.Name (index . 1) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels by which objects and machines are selected. Arguments: context,
then optionally component and node group. */}}
{{- define "sandbox.selector" -}}
{{- $ctx := index . 0 -}}
{{- $prefix := $ctx.Values.projectPrefix -}}
{{ $prefix }}/cluster: {{ include "sandbox.cluster" $ctx }}
{{- if gt (len .) 1 }}
{{ $prefix }}/component: {{ index . 1 }}
{{- end }}
{{- if gt (len .) 2 }}
{{ $prefix }}/node-group: {{ index . 2 }}
{{- end }}
{{- end -}}

{{/* All labels of an object. Same arguments. */}}
{{- define "sandbox.labels" -}}
{{- $ctx := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $ctx.Chart.Name $ctx.Chart.Version | replace "+" "_" | trunc 63 }}
{{ $ctx.Values.projectPrefix }}/managed-by: {{ $ctx.Release.Service }}
{{ $ctx.Values.projectPrefix }}/infrastructure-provider: {{ $ctx.Values.infrastructure }}
{{ include "sandbox.selector" . }}
{{- end -}}

{{- define "sandbox.version" -}}
v{{ .Values.kubernetesVersion | trimPrefix "v" }}
{{- end -}}

{{/* Version of some machines. Arguments: context, machines. */}}
{{- define "sandbox.machine.version" -}}
v{{ (index . 1).kubernetesVersion | default (index . 0).Values.kubernetesVersion | trimPrefix "v" }}
{{- end -}}

{{- define "sandbox.credentials" -}}
{{- .Values.cloudCredentialsSecretName | default (include "sandbox.name" (list . "cloud-credentials")) -}}
{{- end -}}

{{/* Kind of an infrastructure object. Arguments: context, "Cluster" or
"MachineTemplate". */}}
{{- define "sandbox.kind" -}}
{{- $i := (index . 0).Values.infrastructure -}}
{{- if eq $i "openstack" -}}
OpenStack{{ index . 1 }}
{{- else if eq $i "docker" -}}
Dev{{ index . 1 }}
{{- else -}}
{{- fail (printf "infrastructure %q is not known, use openstack or docker" $i) -}}
{{- end -}}
{{- end -}}

{{/* A node group merged with nodeGroupDefaults, checked.
Arguments: context, node group. */}}
{{- define "sandbox.nodeGroup" -}}
{{- $g := mustMerge (deepCopy (index . 1)) (deepCopy (index . 0).Values.nodeGroupDefaults) -}}
{{- $name := toString $g.name -}}
{{- if not (regexMatch "^[a-z][a-z0-9-]+[a-z0-9]$" $name) -}}
{{- fail (printf "node group name %q is not allowed: it needs at least three characters, only a-z, 0-9 and dashes, and begins with a letter" $name) -}}
{{- end -}}
{{- if $g.autoscale -}}
{{- if or (kindIs "invalid" $g.machineCountMin) (kindIs "invalid" $g.machineCountMax) -}}
{{- fail (printf "node group %q: autoscale needs machineCountMin and machineCountMax" $name) -}}
{{- end -}}
{{- if lt (int $g.machineCountMax) (int $g.machineCountMin) -}}
{{- fail (printf "node group %q: machineCountMax %d is less than machineCountMin %d" $name (int $g.machineCountMax) (int $g.machineCountMin)) -}}
{{- end -}}
{{- else if kindIs "invalid" $g.machineCount -}}
{{- fail (printf "node group %q: machineCount is missing" $name) -}}
{{- end -}}
{{ toYaml $g }}
{{- end -}}

{{/* Whether machines are containers, in which kubeadm runs: "true" or
nothing. */}}
{{- define "sandbox.containers" -}}
{{- if or (eq .Values.infrastructure "docker") .Values.docker.servers -}}
true
{{- end -}}
{{- end -}}

{{/* Whether the chart installs the network of the pods, for machines that are
containers: "true" or nothing. */}}
{{- define "sandbox.docker.network" -}}
{{- $known := has (dig "cni" "type" "" .Values.addons) (list "calico" "cilium" "flannel") -}}
{{- if and (include "sandbox.containers" .) .Values.addons.enabled .Values.addons.cni.enabled $known -}}
true
{{- end -}}
{{- end -}}
