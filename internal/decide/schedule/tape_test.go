package schedule_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite what the tapes expect")

// player plays a tape: facts are folded, "?" or "? @10m" asks for decisions
// until none follow, and each is folded and written after ">". A last "> wake"
// says when it wants to be asked again.
type player struct {
	t     *testing.T
	state *state.State
	now   time.Time
	out   strings.Builder
}

func (p *player) fold(f nexus.Fact) {
	p.t.Helper()
	p.now = p.now.Add(time.Second)
	if err := p.state.Apply(nexus.Event{Seq: p.state.Seq + 1, Run: "r", At: p.now, Fact: f}); err != nil {
		p.t.Fatalf("%v\nafter:\n%s", err, p.out.String())
	}
}

func (p *player) decide() {
	p.t.Helper()
	for range 100 {
		facts := schedule.NextFacts(p.state, p.now)
		if len(facts) == 0 {
			if again := schedule.NextFacts(p.state, p.now); len(again) > 0 {
				p.t.Fatal("it decided though nothing happened")
			}
			if at := schedule.NextWakeTime(p.state); !at.IsZero() {
				p.out.WriteString("> wake @" + at.Sub(eventtapetest.TapeStartTime()).String() + "\n")
			}
			return
		}
		at := p.now
		for _, f := range facts {
			p.out.WriteString("> " + eventtapetest.FormatFact(f) + "\n")
			p.fold(f)
		}
		p.now = at
	}
	p.t.Fatal("decisions never end")
}

func (p *player) play(text string) string {
	p.t.Helper()
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, ">") {
			continue
		}
		p.out.WriteString(line + "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || word == "#":
		case word == "?":
			if after, ok := strings.CutPrefix(rest, "@"); ok {
				d, err := time.ParseDuration(after)
				if err != nil {
					p.t.Fatal(err)
				}
				p.now = eventtapetest.TapeStartTime().Add(d)
			}
			p.decide()
		default:
			f, err := eventtapetest.ParseFact(line)
			if err != nil {
				p.t.Fatalf("%s: %v", line, err)
			}
			p.fold(f)
		}
	}
	return p.out.String()
}

func TestTapes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.tape")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tape"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := &player{t: t, state: state.NewState("r"), now: eventtapetest.TapeStartTime()}
			got := p.play(string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
