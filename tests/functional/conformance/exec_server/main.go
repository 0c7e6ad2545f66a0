// SPDX-License-Identifier: Apache-2.0

// Command exec_server answers "exec" of a pod over SPDY/3.1, like a kubelet,
// for tests of programs that fetch files that way: Sonobuoy 0.57.5 supports no
// other stream. The framing is that of k8s.io/apimachinery, not ours.
//
// Headers of the request, which the test's API server adds, determine the
// answer:
//
//	X-Test-File   path of the content of standard output
//	X-Test-Limit  bytes after which the connection is cut
//	X-Test-Exit   exit code of the command, 0 by default
//
// It prints its port and ends when its standard input is closed.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
)

const protocol = "v4.channel.k8s.io"

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := http.Server{
		Handler: http.HandlerFunc(answer),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, rawKey{}, c)
		},
	}
	err = server.Serve(listener)
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// rawKey is the key of the underlying connection in a request's context.
type rawKey struct{}

func answer(w http.ResponseWriter, r *http.Request) {
	if _, err := httpstream.Handshake(r, w, []string{protocol}); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	streams := make(chan httpstream.Stream, 4)
	upgrade := spdy.NewResponseUpgrader()
	connection := upgrade.UpgradeResponse(w, r,
		func(stream httpstream.Stream, _ <-chan struct{}) error {
			streams <- stream
			return nil
		})
	if connection == nil {
		return
	}
	defer connection.Close()
	wanted := []string{"error", "stdout"}
	for _, name := range []string{"stdin", "stderr"} {
		if v := r.URL.Query().Get(name); v == "true" || v == "1" {
			wanted = append(wanted, name)
		}
	}
	found := map[string]httpstream.Stream{}
	for len(found) < len(wanted) {
		select {
		case stream := <-streams:
			found[stream.Headers().Get("streamType")] = stream
		case <-time.After(10 * time.Second):
			return
		}
	}
	out, status := found["stdout"], found["error"]
	for name, stream := range found {
		if name != "stdout" && name != "error" {
			stream.Close()
		}
	}
	if !send(out, r.Header) {
		// Without SPDY's GOAWAY frame, like a killed kubelet.
		r.Context().Value(rawKey{}).(net.Conn).Close()
		return
	}
	out.Close()
	end(status, r.Header.Get("X-Test-Exit"))
	status.Close()
	select {
	case <-connection.CloseChan():
	case <-time.After(10 * time.Second):
	}
}

// send writes the file; it returns false if the connection shall be cut.
func send(out io.Writer, header http.Header) bool {
	path := header.Get("X-Test-File")
	if path == "" {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	if limit, err := strconv.ParseInt(
		header.Get("X-Test-Limit"), 10, 64); err == nil {
		_, _ = io.CopyN(out, file, limit)
		return false
	}
	_, err = io.Copy(out, file)
	return err == nil
}

// end reports how the command ended, like kubelets in version 4.
func end(stream io.Writer, code string) {
	status := metav1.Status{Status: metav1.StatusSuccess}
	if code != "" && code != "0" {
		status = metav1.Status{
			Status: metav1.StatusFailure,
			Reason: "NonZeroExitCode",
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{
				Type: "ExitCode", Message: code}}},
			Message: "command terminated with non-zero exit code",
		}
	}
	_ = json.NewEncoder(stream).Encode(status)
}
