// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
	"sigs.k8s.io/yaml"
)

// Files of the kubeadm bootstrap provider (bootstrap/kubeadm/pkg/cloudinit) and
// in kubeadm's default folder of certificates.
const (
	initFile = "/run/kubeadm/kubeadm.yaml"
	joinFile = "/run/kubeadm/kubeadm-join-config.yaml"
	pkiDir   = "/etc/kubernetes/pki/"
)

// maxFile limits the size of a file that is unpacked from user data.
const maxFile = 1 << 20

// bootConfig is the content of user data: the machine's cluster, by its CA and
// endpoint, and the registration of its node.
type bootConfig struct {
	host         string // of the control plane endpoint
	port         int32
	caHashes     []string // "sha256:..." of public keys, as kubeadm pins them
	controlPlane bool
	version      string // of a cluster that is made, else empty
	registration bootstrapv1.NodeRegistrationOptions
	ca, etcdCA   *authority // of a control plane
}

// parseUserData reads a cloud-config; it returns nil for a machine without
// kubeadm. instance has the values of cloud-init's instance data.
func parseUserData(data []byte, instance map[string]string) (*bootConfig, error) {
	text, err := render(string(data), instance)
	if err != nil {
		return nil, err
	}
	var config struct {
		WriteFiles []struct{ Path, Content, Encoding string } `json:"write_files"`
	}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return nil, fmt.Errorf("the cloud-config is no YAML: %w", err)
	}
	files := map[string][]byte{}
	for _, f := range config.WriteFiles {
		if files[f.Path], err = decodeFile(f.Content, f.Encoding); err != nil {
			return nil, fmt.Errorf("write_files: %s: %w", f.Path, err)
		}
	}
	b := &bootConfig{}
	switch {
	case files[initFile] != nil:
		err = b.readInit(string(files[initFile]))
	case files[joinFile] != nil:
		err = b.readJoin(string(files[joinFile]))
	default:
		return nil, nil
	}
	if err == nil && b.controlPlane {
		err = b.readAuthorities(files)
	}
	return b, err
}

var (
	jinjaHeader   = regexp.MustCompile(`^##\s*template:\s*jinja\s*\n`)
	jinjaVariable = regexp.MustCompile(`\{\{-?\s*([\w.]+)\s*-?\}\}`)
)

// render fills in instance data like cloud-init, if the first line asks for it.
// Only plain variables are supported; other Jinja syntax only occurs in scripts,
// which are not run here.
func render(text string, instance map[string]string) (string, error) {
	body := jinjaHeader.ReplaceAllString(text, "")
	if !strings.HasPrefix(body, "#cloud-config") {
		first, _, _ := strings.Cut(body, "\n")
		return "", fmt.Errorf("not a cloud-config: it starts with %.40q, not with #cloud-config", first)
	}
	if body == text {
		return body, nil
	}
	return fill(body, instance)
}

// fill replaces the variables of a Jinja template.
func fill(text string, instance map[string]string) (string, error) {
	var unknown []string
	text = jinjaVariable.ReplaceAllStringFunc(text, func(s string) string {
		name := jinjaVariable.FindStringSubmatch(s)[1]
		value, ok := instance[name]
		if !ok {
			unknown = append(unknown, name)
		}
		return value
	})
	if unknown != nil {
		return "", fmt.Errorf("instance data has no %s", strings.Join(unknown, ", "))
	}
	return text, nil
}

// instanceData returns the part of cloud-init's instance data that kubeadm
// configurations use.
func instanceData(id, name, address string) map[string]string {
	data := map[string]string{}
	for _, key := range []string{"local_hostname", "v1.local_hostname", "ds.meta_data.hostname",
		"ds.meta_data.local_hostname", "ds.meta_data.name"} {
		data[key] = name
	}
	for _, key := range []string{"instance_id", "v1.instance_id", "ds.meta_data.uuid", "ds.meta_data.instance_id"} {
		data[key] = id
	}
	data["ds.ec2_metadata.local_ipv4"], data["ds.meta_data.local_ipv4"] = address, address
	return data
}

// decodeFile decodes a file (cloud-init, cc_write_files).
func decodeFile(content, encoding string) ([]byte, error) {
	b := []byte(content)
	for _, part := range strings.Split(strings.ReplaceAll(encoding, "gz+b64", "gz+base64"), "+") {
		if part != "b64" && part != "base64" {
			continue
		}
		var err error
		if b, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(content), "")); err != nil {
			return nil, err
		}
	}
	if !strings.HasPrefix(encoding, "gz") {
		return b, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxFile))
}

func (b *bootConfig) readInit(text string) error {
	b.controlPlane = true
	document, err := documents(initFile, text, "ClusterConfiguration", "InitConfiguration")
	if err != nil {
		return err
	}
	cluster, data, err := kubeadmtypes.UnmarshalClusterConfiguration(document[0])
	if err != nil {
		return fmt.Errorf("%s: ClusterConfiguration: %w", initFile, err)
	}
	init, err := kubeadmtypes.UnmarshalInitConfiguration(document[1])
	if err != nil {
		return fmt.Errorf("%s: InitConfiguration: %w", initFile, err)
	}
	if data.KubernetesVersion != nil {
		b.version = *data.KubernetesVersion
	}
	b.registration = init.NodeRegistration
	return b.setEndpoint(initFile, cluster.ControlPlaneEndpoint)
}

func (b *bootConfig) readJoin(text string) error {
	document, err := documents(joinFile, text, "JoinConfiguration")
	if err != nil {
		return err
	}
	join, err := kubeadmtypes.UnmarshalJoinConfiguration(document[0])
	if err != nil {
		return fmt.Errorf("%s: JoinConfiguration: %w", joinFile, err)
	}
	b.controlPlane = join.ControlPlane != nil
	b.registration = join.NodeRegistration
	b.caHashes = slices.Clone(join.Discovery.BootstrapToken.CACertHashes)
	if !b.controlPlane && len(b.caHashes) == 0 {
		return fmt.Errorf("%s: discovery.bootstrapToken has no caCertHashes", joinFile)
	}
	return b.setEndpoint(joinFile, join.Discovery.BootstrapToken.APIServerEndpoint)
}

var documentStart = regexp.MustCompile(`(?m)^---\s*$`)

// documents returns the YAML documents of these kinds.
func documents(file, text string, kinds ...string) ([]string, error) {
	found := make([]string, len(kinds))
	for _, d := range documentStart.Split(text, -1) {
		var o struct{ Kind string }
		if err := yaml.Unmarshal([]byte(d), &o); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if i := slices.Index(kinds, o.Kind); i >= 0 {
			found[i] = d
		}
	}
	if i := slices.Index(found, ""); i >= 0 {
		return nil, fmt.Errorf("%s: there is no %s in it", file, kinds[i])
	}
	return found, nil
}

func (b *bootConfig) setEndpoint(file, endpoint string) error {
	host, port, err := net.SplitHostPort(strings.TrimPrefix(endpoint, "https://"))
	if err != nil {
		return fmt.Errorf("%s: control plane endpoint %q: %w", file, endpoint, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return fmt.Errorf("%s: control plane endpoint %q: %w", file, endpoint, err)
	}
	b.host, b.port = host, int32(n)
	return nil
}

func (b *bootConfig) readAuthorities(files map[string][]byte) (err error) {
	if b.ca, err = parseAuthority(files[pkiDir+"ca.crt"], files[pkiDir+"ca.key"]); err != nil {
		return fmt.Errorf("%sca: %w", pkiDir, err)
	}
	if b.etcdCA, err = parseAuthority(files[pkiDir+"etcd/ca.crt"], files[pkiDir+"etcd/ca.key"]); err != nil {
		return fmt.Errorf("%setcd/ca: %w", pkiDir, err)
	}
	own := publicKeyPin(b.ca.cert)
	if len(b.caHashes) > 0 && !slices.Contains(b.caHashes, own) {
		return errors.New("the cluster CA is none of caCertHashes")
	}
	b.caHashes = []string{own}
	return nil
}

// publicKeyPin names a CA like kubeadm (util/pubkeypin).
func publicKeyPin(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return "sha256:" + hex.EncodeToString(sum[:])
}
