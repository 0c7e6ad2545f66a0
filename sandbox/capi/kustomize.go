// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// kustomize writes the objects of a folder with a kustomization.yaml as YAML.
func kustomize(folder string, out io.Writer) error {
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(
		filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return err
	}
	text, err := objects.AsYaml()
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}
