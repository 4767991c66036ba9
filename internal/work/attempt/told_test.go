package attempt_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// TestWhatStandsAroundFindings is shown to who failed often: each place once, five at most,
// and nothing of files that agents may not see.
func TestWhatStandsAroundFindings(t *testing.T) {
	var lines strings.Builder
	for n := range 60 {
		fmt.Fprintf(&lines, "line %d\n", n+1)
	}
	at := func(file string, line int) nexus.Finding {
		return nexus.Finding{Gate: "lint", File: file, Line: line, Severity: nexus.Major, Message: fmt.Sprint("a fault in ", file, line)}
	}
	many := []nexus.Finding{}
	for _, f := range []string{"a", "b", "c", "d", "e", "f"} {
		many = append(many, at(f, 1))
	}
	for name, c := range map[string]struct {
		found []nexus.Finding
		want  []string
	}{
		"one":                    {[]nexus.Finding{at("a", 20)}, []string{"a, lines 8 to 32"}},
		"its first line":         {[]nexus.Finding{at("a", 20), at("a", 8)}, []string{"a, lines 8 to 32"}},
		"its last line":          {[]nexus.Finding{at("a", 20), at("a", 32)}, []string{"a, lines 8 to 32"}},
		"the line after":         {[]nexus.Finding{at("a", 20), at("a", 33)}, []string{"a, lines 8 to 32", "a, lines 21 to 45"}},
		"the line before":        {[]nexus.Finding{at("a", 20), at("a", 7)}, []string{"a, lines 8 to 32", "a, lines 1 to 19"}},
		"in another file":        {[]nexus.Finding{at("a", 20), at("b", 20)}, []string{"a, lines 8 to 32", "b, lines 8 to 32"}},
		"in no file":             {[]nexus.Finding{at("", 20)}, nil},
		"in a file that is gone": {[]nexus.Finding{at("gone", 1), at("a", 1)}, []string{"a, lines 1 to 13"}},
		"in a hidden file":       {[]nexus.Finding{at("hidden", 1), at("a", 1)}, []string{"a, lines 1 to 13"}},
		"six":                    {many, []string{"a, lines 1 to 13", "b, lines 1 to 13", "c, lines 1 to 13", "d, lines 1 to 13", "e, lines 1 to 13"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, map[string]string{ignore.File: "hidden\n"}, lint("exit 0"))
			j.view.Limits.Rounds, j.view.Limits.Same = 20, 20
			files := map[string]string{"hidden": lines.String()}
			for _, f := range many {
				files[f.File] = lines.String()
			}
			a := j.view.Attempt
			for n := range 10 {
				j.written(n+1, files)
				r := a.LastRound()
				r.Evidence = []nexus.GateEvidence{{Gate: "lint", State: nexus.Fail, Tree: a.Snapshot.Tree, Findings: c.found}}
				r.Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Fail, Gate: "lint"}
			}
			var got []string
			for line := range strings.Lines(text(j.next(nexus.Coder))) {
				if title, ok := strings.CutPrefix(line, "## "); ok && strings.Contains(title, ", lines ") {
					got = append(got, strings.TrimSpace(title))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestTimeOfEarlierAttemptsCounts against the task's limit, but for what a person forgave.
func TestTimeOfEarlierAttemptsCounts(t *testing.T) {
	for worked, want := range map[time.Duration]nexus.Outcome{20 * time.Minute: nexus.Accepted, 40 * time.Minute: nexus.Exhausted} {
		j := newJob(t, nil, lint("exit 0"))
		j.written(1, one)
		j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
		began := time.Unix(1700000000, 0)
		j.view.Limits.TaskTime, j.view.Attempt.Active = time.Hour, began
		j.view.Task.Worked, j.view.Task.MercyWorked = time.Hour+worked, time.Hour
		j.Site.Now = func() time.Time { return began.Add(30 * time.Minute) }
		if f := j.ended(); f.Outcome != want {
			t.Errorf("after %s: %+v", worked, f)
		}
	}
}

// TestPluginsReviewAChange: what they object to goes back to its author, and work that one
// that is required says nothing about is not accepted.
func TestPluginsReviewAChange(t *testing.T) {
	const greet = `read -r l; echo '{"type":"hello","protocol":1,"name":"p","version":"1","kinds":["reviewer"]}'; read -r l; `
	for script, want := range map[string]string{
		greet + `case $l in *'Please them.'*'"attempt":"T1.1"'*'+1'*) ;; *) exit 3 ;; esac; echo '{"type":"answer","id":1,"output":{}}'`:                                  "",
		greet + `echo '{"type":"answer","id":1,"output":{"summary":"It is bad.","findings":[{"file":"one","line":1,"quote":"1","severity":"critical","message":"no"}]}}'`: "round 2 coder review",
		greet + `exit 3`: "required",
	} {
		j := newJob(t, nil, lint("exit 0"))
		j.view.Goal.Goal.Text = "Please them."
		j.written(1, one)
		j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
		box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
		if err != nil {
			t.Fatal(err)
		}
		j.Site.Plugins = &plugin.PluginHost{
			Plugins: []plugin.DeclaredPlugin{{Name: "p", Own: true, PluginSettings: config.PluginSettings{
				Command: "sh", Args: []string{"-c", script}, Kinds: []string{"reviewer"}, Required: true,
			}}},
			Runner: &usercmd.UserCommandRunner{Box: box, Unboxed: box, Dir: t.TempDir(), State: t.TempDir(), Env: os.Getenv, Trust: trust.OpenStore(t.TempDir()), Mark: "test/attempt"},
			Now:    j.Site.Now,
		}
		facts, err := j.work()
		switch want {
		case "":
			if err != nil || facts[0].(nexus.AttemptEnded).Outcome != nexus.Accepted {
				t.Errorf("%+v, %v", facts, err)
			}
		case "required":
			if !errors.Is(err, &nexus.Error{Code: nexus.CodePlugin}) || len(facts) > 0 {
				t.Errorf("it does not answer: %+v, %v", facts, err)
			}
		default:
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || !strings.HasSuffix(j.desk.told(), want) || !last[nexus.ReviewerVerdictGiven](j).SendsBack {
				t.Errorf("%+v, %v: %s", facts, err, j.desk.told())
			}
		}
	}
}

// TestACoderThatItsTestsBlock is believed once: the tester hears what it said.
func TestACoderThatItsTestsBlock(t *testing.T) {
	j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
	a := j.view.Attempt
	a.Strategy, j.view.Task.Kind = nexus.TDDStrict, ""
	j.written(1, map[string]string{"new_test.go": "package m\n"})
	a.Rounds[0].Role, a.Rounds[0].Session, a.Sessions = nexus.Tester, "T1.1/tester.1", nil
	j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
	p := &nexus.TestsRunWithoutWork{Attempt: a.ID, Proof: nexus.ProofRed, Tree: a.Snapshot.Tree, Files: []string{"new_test.go"}}
	a.Rounds[0].Proof, a.Proof = p, p
	j.over(nexus.Coder, 1, nexus.GaveUp, nil)
	a.Sessions[1].Why = "TestNew contradicts the task"
	j.written(2, map[string]string{"new_test.go": "package m\n", "one": "1\n"})
	u := j.next("")
	if u.Role != nexus.Tester || u.Why != "repair" {
		t.Errorf("%s: %s", u.Role, u.Why)
	}
	has(t, text(u), []string{"TestNew contradicts the task"})
}
