package failurecauses_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/failurecauses"
)

var update = flag.Bool("update", false, "rewrite what the tapes expect")

// replay folds the facts of a tape, whose lines that begin with ">" say what is
// found in them.
func replay(t *testing.T, text string) (*state.State, []nexus.Event) {
	t.Helper()
	var facts []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "?") {
			line = "\n"
		}
		facts = append(facts, line)
	}
	events, err := eventtapetest.ReadTape("r", strings.Join(facts, ""))
	if err != nil {
		t.Fatal(err)
	}
	s := state.NewState("r")
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatalf("event %d: %v", e.Seq, err)
		}
	}
	return s, events
}

func draw(all []failurecauses.KnownCause) string {
	var b strings.Builder
	for _, c := range all {
		blocks := ""
		if c.Blocks {
			blocks = " blocks"
		}
		fmt.Fprintf(&b, "> %s %s%s %v\n>   symptom: %s\n>   why: %s\n>   fix: %s\n", c.Pattern, c.Task, blocks, c.Events, c.Symptom, c.Why, c.Fix)
	}
	return b.String()
}

// TestTapes finds in each tape what stands in its last lines. Each pattern has
// a tape of its name, in which it is found.
func TestTapes(t *testing.T) {
	for _, p := range failurecauses.CausePatterns() {
		t.Run(p.Name, func(t *testing.T) {
			file := filepath.Join("testdata", p.Name+".tape")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, events := replay(t, string(data))
			got := draw(failurecauses.FindCauses(s, events))
			if !strings.Contains(got, "> "+p.Name+" ") {
				t.Errorf("it is not found in its own tape:\n%s", got)
			}
			text := string(data)
			if i := strings.Index(text, "\n>"); i >= 0 {
				text = text[:i+1]
			}
			if *update {
				if err := os.WriteFile(file, []byte(text+got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(data), text+got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNothingToSay finds nothing in a run in which all went well, and none of a
// pattern where one thing is missing that it rests on.
func TestNothingToSay(t *testing.T) {
	data, err := os.ReadFile("testdata/well.tape")
	if err != nil {
		t.Fatal(err)
	}
	s, events := replay(t, string(data))
	if all := failurecauses.FindCauses(s, events); len(all) > 0 {
		t.Error(draw(all))
	}
}
