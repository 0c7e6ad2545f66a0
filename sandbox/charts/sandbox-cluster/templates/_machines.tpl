{{/*
Specifications of machine and bootstrap templates.

Cluster API treats both as immutable: a change creates a new object with a hash
of the specification in its name, and machines are replaced because the
reference changes. The old object stays until Cluster API has finished with it
(keep).
*/}}

{{/* Specification of a machine template. Arguments: context, machines (control
plane or node group), their name for messages. */}}
{{- define "sandbox.machine.spec" -}}
{{- $ctx := index . 0 -}}
{{- if eq $ctx.Values.infrastructure "docker" -}}
{{- include "sandbox.machine.docker" . -}}
{{- else -}}
{{- include "sandbox.machine.openstack" . -}}
{{- end -}}
{{- end -}}

{{- define "sandbox.machine.docker" -}}
{{- $ctx := index . 0 -}}
{{- /* Always named: otherwise the provider uses the digest of a published image for known versions. */ -}}
{{- $image := printf "%s:%s" $ctx.Values.docker.imageRepository (include "sandbox.machine.version" (list $ctx (index . 1))) -}}
template:
  spec:
    backend:
      docker:
        customImage: {{ $ctx.Values.docker.customImage | default $image | quote }}
{{- end -}}

{{- define "sandbox.machine.openstack" -}}
{{- $ctx := index . 0 -}}
{{- $m := index . 1 -}}
{{- $imageId := $m.machineImageId | default $ctx.Values.machineImageId -}}
{{- $image := $m.machineImage | default $ctx.Values.machineImage -}}
{{- if not (or $imageId $image) -}}
{{- fail "machineImageId or machineImage is required" -}}
{{- end -}}
template:
  spec:
    identityRef:
      name: {{ include "sandbox.credentials" $ctx }}
      cloudName: openstack
    flavor: {{ required (printf "machineFlavor of %s is missing" (index . 2)) $m.machineFlavor | quote }}
    image:
      {{- if $imageId }}
      id: {{ $imageId | quote }}
      {{- else }}
      filter: {name: {{ $image | quote }}}
      {{- end }}
    {{- with $ctx.Values.machineSSHKeyName }}
    sshKeyName: {{ . | quote }}
    {{- end }}
    {{- with $m.machineRootVolume }}
    {{- if .diskSize }}
    rootVolume:
      sizeGiB: {{ int .diskSize }}
      {{- include "sandbox.volume" . | nindent 6 }}
    {{- end }}
    {{- end }}
    {{- with $m.additionalBlockDevices }}
    additionalBlockDevices:
      {{- range $name, $device := . }}
      - name: {{ $name | quote }}
        sizeGiB: {{ required (printf "size of block device %s is missing" $name) $device.size | int }}
        storage:
          type: {{ $device.type | default "Volume" }}
          {{- if ne ($device.type | default "Volume") "Local" }}
          volume: {{ include "sandbox.volume" $device | nindent 12 }}
          {{- end }}
      {{- end }}
    {{- end }}
    {{- with $m.serverGroupId }}
    serverGroup: {id: {{ . | quote }}}
    {{- end }}
    {{- with (dig "ports" list ($m.machineNetworking | default dict)) }}
    ports:
      {{- range . }}
      {{- if .network }}
      - {{ set (deepCopy .) "network" (include "sandbox.filter" .network | fromYaml) | toYaml | nindent 8 | trim }}
      {{- else }}
      - {{ toYaml . | nindent 8 | trim }}
      {{- end }}
      {{- end }}
    {{- end }}
{{- end -}}

{{- define "sandbox.volume" -}}
{{- with .volumeType }}
type: {{ . | quote }}
{{- end }}
availabilityZone:
  {{- if .availabilityZone }}
  from: Name
  name: {{ .availabilityZone | quote }}
  {{- else }}
  from: Machine
  {{- end }}
{{- end -}}

{{/* A driver names a network or subnet by its id or by a filter. */}}
{{- define "sandbox.filter" -}}
{{- if or (hasKey . "id") (hasKey . "filter") -}}
{{ toYaml . }}
{{- else -}}
filter: {{ toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Hash of a machine template: of its specification and of the version, as
two versions may have the same image. Same arguments. */}}
{{- define "sandbox.machine.hash" -}}
{{- $ctx := index . 0 -}}
{{- $m := index . 1 -}}
{{- printf "%s\n%s\n%s" (include "sandbox.machine.spec" .) (toString $m.machineFlavor) (include "sandbox.machine.version" (list $ctx $m)) | sha256sum -}}
{{- end -}}

{{- define "sandbox.machine.name" -}}
{{- printf "%s-%s" (include "sandbox.name" (list (index . 0) (index . 2))) (include "sandbox.machine.hash" . | trunc 8) -}}
{{- end -}}

{{/* kubeadm's node registration. Arguments: context, machines, node group or
"". */}}
{{- define "sandbox.nodeRegistration" -}}
{{- $ctx := index . 0 -}}
{{- $labels := dict -}}
{{- with index . 2 }}
{{- $_ := set $labels (printf "%s/node-group" $ctx.Values.projectPrefix) . -}}
{{- end -}}
{{- range $k, $v := (index . 1).nodeLabels -}}
{{- $_ := set $labels $k $v -}}
{{- end -}}
{{- $pairs := list -}}
{{- range $k := keys $labels | sortAlpha -}}
{{- $pairs = append $pairs (printf "%s=%v" $k (get $labels $k)) -}}
{{- end -}}
{{- $taints := dict -}}
{{- /* The published chart has no other value for taints. */ -}}
{{- with dig "kubeadmConfigSpec" "joinConfiguration" "nodeRegistration" "taints" list (index . 1) -}}
{{- $_ := set $taints "taints" . -}}
{{- end -}}
{{- $args := dict -}}
{{- with $pairs -}}
{{- $_ := set $args "node-labels" (join "," .) -}}
{{- end -}}
{{- $names := dict -}}
{{- if eq $ctx.Values.infrastructure "openstack" -}}
{{- /* Filled in by cloud-init. */ -}}
{{- $_ := set $names "name" "{{ local_hostname }}" -}}
{{- $_ := set $args "cloud-provider" "external" -}}
{{- end -}}
{{- if not (include "sandbox.containers" $ctx) -}}
{{ merge $names (dict "kubeletExtraArgs" $args) $taints | toYaml }}
{{- else -}}
{{- if eq $ctx.Values.infrastructure "openstack" -}}
{{- /* What kubeadm checks is the host's. Cluster API's docker provider ignores the same. */ -}}
{{- $_ := set $names "ignorePreflightErrors" (list "SystemVerification" "Swap" "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables") -}}
{{- end -}}
{{- $_ := set $args "eviction-hard" "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%" -}}
{{- range $k, $v := $ctx.Values.docker.kubeletExtraArgs -}}
{{- $_ := set $args $k (toString $v) -}}
{{- end -}}
{{- /* Machines have the images of their own release. During an upgrade kubeadm would also try to pull the old CoreDNS, and fail. */ -}}
{{ merge $names (dict "imagePullPolicy" "Never" "kubeletExtraArgs" $args) $taints | toYaml }}
{{- end -}}
{{- end -}}

{{/* Specification of a worker's bootstrap template. Arguments: context, node
group. */}}
{{- define "sandbox.bootstrap.spec" -}}
template:
  spec:
    joinConfiguration:
      nodeRegistration: {{ include "sandbox.nodeRegistration" (list (index . 0) (index . 1) (index . 1).name) | nindent 8 }}
    {{- with include "sandbox.files" (index . 1) }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* Files and commands of nodes, as the published chart has them. Argument:
control plane or node group. */}}
{{- define "sandbox.files" -}}
{{- with pick (.kubeadmConfigSpec | default dict) "files" "preKubeadmCommands" "postKubeadmCommands" -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{- define "sandbox.bootstrap.name" -}}
{{- printf "%s-%s" (include "sandbox.name" (list (index . 0) (index . 1).name)) (include "sandbox.bootstrap.spec" . | sha256sum | trunc 8) -}}
{{- end -}}
