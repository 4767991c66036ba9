package reviewcmd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

const run nexus.RunID = "261126-1500-abc"

// judged is a task with a change in a run whose conductor refuses all that people ask
// for, or grants it.
func judged(t *testing.T, grant bool) *reviewSession {
	t.Helper()
	held := clitest.NewUser(t, nil).HoldRun(
		run,
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "Do"}},
		nexus.RunStarted{},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Do it", Criteria: []nexus.Criterion{{Text: "It is so"}}}},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "abcdef", Tier: nexus.Fast},
		nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "123456", Tree: "fedcba"},
	)
	held.AnswerRequests(func(nexus.Request) string {
		if grant {
			return ""
		}
		return "T1 is landing"
	})
	s, err := held.Repository.Replay(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	a := console.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, app.App{Env: func(string) string { return "" }, Now: time.Now, Actor: "ada"})
	d := &reviewSession{
		console: a, place: held.Repository, run: journal.RecordedRun{ID: run, Holder: &nexus.RunProcess{}},
		state: s, task: s.TaskByID("T1"), wait: time.Hour,
	}
	d.reader.Drafts = d.unsent(t)
	return d
}

// unsent reads what is not sent.
func (d *reviewSession) unsent(t *testing.T) *changereview.CommentDrafts {
	t.Helper()
	all, err := changereview.LoadDrafts(d.place.State, run, "T1", "ada")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRefusedIsKept holds that comments that a conductor refused can be sent again, and
// that those that it took are no drafts any more.
func TestRefusedIsKept(t *testing.T) {
	for _, grant := range []bool{true, false} {
		d := judged(t, grant)
		c := nexus.ReviewComment{Kind: nexus.MustComment, Body: "Say why."}
		if err := d.reader.Drafts.Add([]nexus.ReviewComment{c}, time.Now()); err != nil {
			t.Fatal(err)
		}
		d.reader.Drafts = d.unsent(t)
		d.sending = []string{"d1"}
		err := d.sendReview(t.Context(), nexus.ChangeReview{Comments: []nexus.ReviewComment{c}})
		if e, refused := errors.AsType[*nexus.Error](err); refused == grant || refused && !strings.Contains(e.Message, "T1 is landing") {
			t.Fatal(err)
		}
		left := d.unsent(t).All
		if grant != (len(left) == 0) || !grant && left[0].Body != c.Body {
			t.Errorf("granted: %v; not sent: %+v", grant, left)
		}
	}
}

// TestRefusedPatchIsKept holds the same of comments that were written in an editor.
func TestRefusedPatchIsKept(t *testing.T) {
	for _, grant := range []bool{true, false} {
		d := judged(t, grant)
		d.kept = filepath.Join(t.TempDir(), "T1.patch")
		if err := writeFileAtomically(d.kept, "#> must: Say why.\n"); err != nil {
			t.Fatal(err)
		}
		err := d.sendReview(t.Context(), nexus.ChangeReview{Comments: []nexus.ReviewComment{{Kind: nexus.MustComment, Body: "Say why."}}})
		if grant != (err == nil) {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(d.kept); grant == (err == nil) || !grant && string(data) != "#> must: Say why.\n" {
			t.Errorf("granted: %v; %q %v", grant, data, err)
		}
	}
}
