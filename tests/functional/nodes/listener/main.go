// SPDX-License-Identifier: Apache-2.0

// listener runs in containers in tests of the engine: "listener serve" answers
// on port 8080, "listener get URL" sends a request.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 2 && arguments[0] == "get" {
		return get(arguments[1])
	}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			status = []byte(err.Error())
		}
		_, _ = w.Write(status)
	})
	return http.ListenAndServe(":8080", nil)
}

func get(url string) error {
	client := http.Client{Timeout: 5 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}
