package gate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// blobs keep what is put into them.
type blobs map[string][]byte

func (b blobs) Put(data []byte) (string, error) {
	name := fmt.Sprint("blob", len(b))
	b[name] = data
	return name, nil
}

func (b blobs) Get(name string) ([]byte, error) { return b[name], nil }

// TestLongOutput reads a suite that prints 32 MB to its end.
func TestLongOutput(t *testing.T) {
	const suite = `awk 'BEGIN {
		line = sprintf("%0800d", 0)
		for (i = 0; i < 1000; i++) {
			name = sprintf("\"Package\":\"m\",\"Test\":\"Test%d\"", i)
			print "{\"Action\":\"run\"," name "}"
			for (j = 0; j < 36; j++) print "{\"Action\":\"output\"," name ",\"Output\":\"" line "\\n\"}"
			print "{\"Action\":\"output\"," name ",\"Output\":\"--- PASS: Test" i " (0.00s)\\n\"}"
			print "{\"Action\":\"pass\"," name "}"
		}
		print "{\"Action\":\"output\",\"Package\":\"m\",\"Output\":\"PASS\\n\"}"
		print "{\"Action\":\"pass\",\"Package\":\"m\"}"
	}'`
	tree, kept := files(t, map[string]string{"suite.sh": suite}), blobs{}
	r := runner(t, sandbox.ModeOff)
	r.Put = kept.Put
	e, err := r.RunGate(t.Context(), tree, gate.QualityGate{Name: "test", Args: []string{"sh", "suite.sh", "-timeout=1m"}, Format: outputparser.GoTestJSON, Tests: true})
	if err != nil || e.State != nexus.Pass || e.Counts.Passed != 1000 {
		t.Errorf("%s, %s, %+v, %d findings, %v", e.State, e.Why, e.Counts, len(e.Findings), err)
	}
	if n := len(kept[e.Output]); n > 17<<20 || !strings.Contains(string(kept[e.Output]), "left out") {
		t.Errorf("kept %d bytes", n)
	}
}

// TestManyFindings weighs a linter that finds a thousand things in the base: a
// change that adds none passes, and one that adds one is red for that one.
func TestManyFindings(t *testing.T) {
	const lint = `awk '/BAD/ { print FILENAME ":" FNR ":1: it is bad"; n++ } END { exit n > 0 }' a.c`
	old := strings.Repeat("fine\nBAD\n", 1000)
	base, kept := files(t, map[string]string{"a.c": old}), blobs{}
	r := runner(t, sandbox.ModeOff)
	r.Put, r.Get = kept.Put, kept.Get
	g := gate.QualityGate{Name: "lint", Args: []string{"sh", "-c", lint}, Format: outputparser.Exit}
	was, err := r.RunGate(t.Context(), base, g)
	if err != nil || was.State != nexus.Fail || len(was.Findings) != 201 || was.All == "" {
		t.Fatalf("%s, %d findings, %v", was.State, len(was.Findings), err)
	}
	full, broken := r, errors.New("no space")
	full.Put = func(data []byte) (string, error) {
		if bytes.HasPrefix(data, []byte("[")) { // the findings, and not the output
			return "", broken
		}
		return kept.Put(data)
	}
	if e, err := full.RunGate(t.Context(), base, g); !errors.Is(err, broken) {
		t.Errorf("findings that cannot be kept: %s, %v", e.State, err)
	}
	r.Base = func(string) (nexus.GateEvidence, bool) { return was, true }
	for text, want := range map[string]nexus.GateState{"new\nfine\n" + old: nexus.Pass, "new\nBAD\n" + old: nexus.Fail} {
		moves := gate.ParseLineMoves("diff --git a/a.c b/a.c\n@@ -0,0 +1,2 @@\n+new\n+x\n")
		r.Moved = func(context.Context) (gate.TreeLineMapping, error) { return moves, nil }
		v, err := r.RunAll(t.Context(), files(t, map[string]string{"a.c": text}), []gate.QualityGate{g}, nil)
		if err != nil || len(v.Evidence) != 1 {
			t.Fatal(v, err)
		}
		e := v.Evidence[0]
		if e.State != want || !strings.Contains(e.Why, "1000 ") || want == nexus.Fail && (len(e.Findings) != 1 || e.Findings[0].Line != 2) {
			t.Errorf("%s, %s, %d findings: %v", e.State, e.Why, len(e.Findings), e.Findings[:min(len(e.Findings), 2)])
		}
	}
}
