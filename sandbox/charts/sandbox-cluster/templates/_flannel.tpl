{{/* Objects of flannel, for the cluster of real machines. */}}
{{- define "sandbox.flannel" -}}
{{- $f := .Values.docker.flannel -}}
apiVersion: v1
kind: Namespace
metadata:
  name: kube-flannel
  labels:
    # It works on the network of the node.
    pod-security.kubernetes.io/enforce: privileged
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: flannel, namespace: kube-flannel}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: flannel}
rules:
  - {apiGroups: [""], resources: [pods], verbs: [get]}
  - {apiGroups: [""], resources: [nodes], verbs: [get, list, watch]}
  - {apiGroups: [""], resources: [nodes/status], verbs: [patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: flannel}
roleRef:
  {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: flannel}
subjects:
  - {kind: ServiceAccount, name: flannel, namespace: kube-flannel}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: flannel, namespace: kube-flannel}
data:
  # The plugin "flannel" writes the rest from /run/flannel/subnet.env.
  cni-conf.json: |
    {"name": "flannel", "cniVersion": "0.3.1", "plugins": [
      {"type": "flannel", "delegate": {"hairpinMode": true, "isDefaultGateway": true}},
      {"type": "portmap", "capabilities": {"portMappings": true}}]}
  net-conf.json: |
    {"Network": {{ first .Values.kubeNetwork.pods.cidrBlocks | quote }}, "EnableNFTables": false, "Backend": {"Type": "host-gw"}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: flannel, namespace: kube-flannel, labels: {app: flannel}}
spec:
  selector: {matchLabels: {app: flannel}}
  template:
    metadata: {labels: {app: flannel}}
    spec:
      serviceAccountName: flannel
      hostNetwork: true
      priorityClassName: system-node-critical
      # It makes nodes Ready, so it must run where nothing else does yet.
      tolerations: [{operator: Exists, effect: NoSchedule}]
      initContainers:
        {{- with $f.pluginImage }}
        - name: plugin
          image: {{ . | quote }}
          command: [cp, -f, /flannel, /opt/cni/bin/flannel]
          volumeMounts: [{name: plugins, mountPath: /opt/cni/bin}]
        {{- end }}
        - name: configuration
          image: {{ $f.image | quote }}
          # Last: with this file the container runtime takes the network for ready.
          command: [cp, -f, /etc/kube-flannel/cni-conf.json, /etc/cni/net.d/10-flannel.conflist]
          volumeMounts:
            - {name: configuration, mountPath: /etc/kube-flannel}
            - {name: networks, mountPath: /etc/cni/net.d}
      containers:
        - name: flannel
          image: {{ $f.image | quote }}
          command: [/opt/bin/flanneld, --ip-masq, --kube-subnet-mgr]
          env:
            - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
          resources: {requests: {cpu: 50m, memory: 50Mi}}
          securityContext: {capabilities: {add: [NET_ADMIN, NET_RAW]}}
          volumeMounts:
            - {name: configuration, mountPath: /etc/kube-flannel}
            - {name: run, mountPath: /run/flannel}
            - {name: lock, mountPath: /run/xtables.lock}
      volumes:
        - {name: configuration, configMap: {name: flannel}}
        - {name: plugins, hostPath: {path: /opt/cni/bin, type: DirectoryOrCreate}}
        - {name: networks, hostPath: {path: /etc/cni/net.d, type: DirectoryOrCreate}}
        - {name: run, hostPath: {path: /run/flannel, type: DirectoryOrCreate}}
        - {name: lock, hostPath: {path: /run/xtables.lock, type: FileOrCreate}}
{{- end -}}
