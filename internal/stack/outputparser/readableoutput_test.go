package outputparser_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

func TestLegible(t *testing.T) {
	stream := []string{
		`{"Action":"start","Package":"p/b"}`,
		`{"Action":"run","Package":"p/b","Test":"TestB"}`,
		`{"Action":"output","Package":"p/b","Test":"TestB","Output":"=== RUN   TestB\n"}`,
		`{"Action":"output","Package":"p/b","Test":"TestB","Output":"    b_test.go:8: got 1, want 2\n"}`,
		`{"Action":"output","Package":"p/b","Test":"TestB","Output":"--- FAIL: TestB (0.00s)\n"}`,
		`{"Action":"fail","Package":"p/b","Test":"TestB"}`,
		`{"Action":"output","Package":"p/b","Test":"TestOK","Output":"fine, and nobody needs it\n"}`,
		`{"Action":"pass","Package":"p/b","Test":"TestOK"}`,
		`{"Action":"output","Package":"p/b","Output":"FAIL\n"}`,
		`{"Action":"fail","Package":"p/b"}`,
		`{"Action":"output","Package":"p/c","Output":"ok  \tp/c\n"}`,
		`{"Action":"pass","Package":"p/c"}`,
		`{"Action":"build-output","ImportPath":"p/a","Output":"a.go:1:1: undefined: x\n"}`,
		`{"Action":"build-fail","ImportPath":"p/a"}`,
	}
	want := "a.go:1:1: undefined: x\n    b_test.go:8: got 1, want 2\n--- FAIL: TestB (0.00s)\nFAIL\nexit status 1\n"
	all := strings.Join(stream, "\n") + "\nexit status 1\n"
	if got := string(outputparser.ReadableOutput([]byte(all))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	other := strings.Join(append(stream[10:], stream[:10]...), "\n") + "\nexit status 1\n"
	if got := string(outputparser.ReadableOutput([]byte(other))); got != want {
		t.Errorf("in another order: %q", got)
	}
	for _, plain := range []string{"", "main.go:1: no\n", "{not an event}\n", `{"Time":1}` + "\n"} {
		if got := string(outputparser.ReadableOutput([]byte(plain))); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}

func FuzzLegible(f *testing.F) {
	f.Add([]byte(`{"Action":"fail","Package":"p"}` + "\nx"))
	f.Add([]byte("\n\n{\"Action\":\"output\",\"Output\":\"\\u0000\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := outputparser.ReadableOutput(data); !bytes.Contains(data, []byte("{")) && !bytes.Equal(got, data) {
			t.Errorf("%q became %q", data, got)
		}
	})
}
