package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden file")

// TestMixed reads what go test -json printed about packages that pass, fail,
// skip, have no tests and do not compile.
func TestMixed(t *testing.T) {
	in, err := os.ReadFile("testdata/mixed.json")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := newSummary(&out)
	if err := s.readEvents(bytes.NewReader(in)); err != nil || !s.printSummary(3*time.Second) {
		t.Errorf("%v, or the failures were not seen", err)
	}
	const golden = "testdata/mixed.golden"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), out.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestNothingIsGreenByChance wants a failure of what says nothing, of what
// stops in the middle, and of a line that is no event.
func TestNothingIsGreenByChance(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "DONE 0 tests, 0 skipped, 0 failed in 0s\nFAIL\n",
		"go: no such tool\n":       "go: no such tool\n",
		`{"Action":"start","Packa`: `{"Action":"start","Packa`,
		`{"Action":"output","Package":"p","Test":"TestA","Output":"panic: no\n"}` + "\n": "panic: no\n",
	} {
		var out bytes.Buffer
		s := newSummary(&out)
		if err := s.readEvents(strings.NewReader(in)); err != nil || !s.printSummary(0) || !strings.Contains(out.String(), want) {
			t.Errorf("%q: %v:\n%s", in, err, out.String())
		}
	}
	var out bytes.Buffer
	s := newSummary(&out)
	if err := s.readEvents(strings.NewReader(`{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p"}`)); err != nil || s.printSummary(0) {
		t.Errorf("%v, or a pass is a failure:\n%s", err, out.String())
	}
}

func FuzzRead(f *testing.F) {
	in, err := os.ReadFile("testdata/mixed.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(in)
	f.Add([]byte(`{"Action":"skip","Package":"p","Test":"A/b"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		s := newSummary(&out)
		err := s.readEvents(bytes.NewReader(in))
		failed := s.printSummary(0)
		if err != nil || strings.HasSuffix(out.String(), "\nFAIL\n") != failed {
			t.Errorf("%v, failed %t:\n%s", err, failed, out.String())
		}
	})
}

// TestProgress holds that a person is never left for long without a line: while packages are
// compiled, while they are tested, and when nothing was tested.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, events := io.Pipe()
		go func() {
			time.Sleep(silence + time.Second)
			fmt.Fprintln(events, `{"Action":"output","Package":"github.com/nexus-ai-builder/nexus/internal/slow","Output":"x\n"}`)
			time.Sleep(silence)
			events.Close()
		}()
		var out bytes.Buffer
		if err := newSummary(&out).readEvents(in); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff("...  compiling, 0 packages tested after 20s\n...  0 packages tested after 40s; testing internal/slow\n", out.String()); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	})
	var out bytes.Buffer
	newSummary(&out).printSummary(0)
	if !strings.Contains(out.String(), "ended before it tested anything") {
		t.Errorf("nothing says why there is no result:\n%s", out.String())
	}
}
