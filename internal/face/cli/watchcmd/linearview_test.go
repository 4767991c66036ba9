package watchcmd

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/projection/projectiontest"
)

// unfolding is a run that is one event further each time it is read, and is left by
// its process in the end.
type unfolding struct {
	p    *projection.RunProjection
	rest []nexus.Event
}

func (u *unfolding) Changed(nexus.RunID) <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func (u *unfolding) Read(_ context.Context, ask tui.SnapshotRequest) (tui.RunSnapshot, error) {
	if len(u.rest) == 0 {
		return tui.RunSnapshot{Interrupted: true}, nil
	}
	next := u.rest[0]
	u.rest = u.rest[1:]
	if err := u.p.Apply(next); err != nil {
		return tui.RunSnapshot{}, err
	}
	return tui.TakeSnapshot(u.p, ask, next.At)
}

// TestTell holds that who listens hears what changed, and no bookkeeping: neither
// money that is set aside, nor what is sent to models, nor each gate that starts.
func TestTell(t *testing.T) {
	var out strings.Builder
	u := &unfolding{p: projection.NewProjection("r", projection.Options{}), rest: projectiontest.SampleRun()}
	silent, keys := io.Pipe()
	defer keys.Close()
	if _, err := runLinear(t.Context(), tui.Options{Run: "r", Source: u, In: silent, Out: &out}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^At [0-9:]+, T1\.1: test: fail, 1 finding, .*\.$`,
		`(?m)^At [0-9:]+, T1\.1: round 2, coder, because of gates\.$`,
		`(?m)^At [0-9:]+, T1: landed as c1\. It took [0-9ms]+ and cost \$0\.25\.$`,
		`(?m)^This needs you, approval q1: `,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("nothing is said like %s", want)
		}
	}
	for _, not := range []string{"reserved", "tokens", "prompt sent", "turn 1", "session", "starts", "boarded", "q1 needs an answer", "snapshot"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("it tells of bookkeeping: %s", not)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}
