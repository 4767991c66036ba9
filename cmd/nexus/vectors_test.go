package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// vectors serves vectors of texts at $VECTORS, in the form of Ollama: texts about signing
// in, whatever their words, point one way, all others another. With garbage it serves no
// vectors. "vectors asked N" checks how many texts were sent to it since the last look.
func vectors(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 2 && args[0] == "asked" {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		if got := playOf(ts).texts.Swap(0); got != int64(n) {
			ts.Fatalf("%d texts were sent, want %d", got, n)
		}
		return
	}
	asked := &playOf(ts).texts
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if len(args) > 0 || json.NewDecoder(r.Body).Decode(&q) != nil {
			_, _ = fmt.Fprint(w, "<html>I am no endpoint")
			return
		}
		asked.Add(int64(len(q.Input)))
		all := make([][]float32, len(q.Input))
		for i, text := range q.Input {
			all[i] = []float32{0, 1}
			for _, word := range []string{"sign in", "login", "credentials"} {
				if strings.Contains(strings.ToLower(text), word) {
					all[i] = []float32{1, 0.1}
				}
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": all})
	})}
	go func() { _ = s.Serve(l) }()
	ts.Defer(func() { _ = s.Close() })
	ts.Setenv("VECTORS", "http://"+l.Addr().String()+"/api/embed")
}
