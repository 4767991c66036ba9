package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// person answers what is asked.
type person struct {
	desk

	answer string
	asked  []string
}

func (p *person) Ask(_ context.Context, q nexus.QuestionAsked) (string, error) {
	p.asked = append(p.asked, q.Text)
	return p.answer, nil
}

// TestLookAsksAboutTheGround: a gate that cannot judge where runs work keeps a run from starting, and excuses nothing,
// unless a person agrees to work without it.
func TestLookAsksAboutTheGround(t *testing.T) {
	for name, c := range map[string]struct {
		line     string
		yours    nexus.GateState // of the user's checkout; empty: it cannot be asked
		state    nexus.GateState // of the base
		why      string          // of the refusal; empty: nothing is asked
		hint     string
		boxed    bool // the words of a sandbox need one
		compared int
	}{
		"green":                  {line: "true", yours: nexus.Pass, state: nexus.Pass},
		"red in both":            {line: "echo no; false", yours: nexus.Fail, state: nexus.Fail, compared: 1},
		"green in the checkout":  {line: "echo no; false", yours: nexus.Pass, state: nexus.NotRun, why: "passes in your checkout", hint: "environment.link", compared: 1},
		"nobody can compare":     {line: "echo no; false", state: nexus.Fail, compared: 1},
		"in the sandbox's words": {line: "echo 'fatal: not a git repository'; false", state: nexus.NotRun, why: "no git repository: fatal", hint: "works without git", boxed: true},
		"green, and those words": {line: "echo 'fatal: not a git repository'", state: nexus.Pass, boxed: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, base, _ := workertest.NewTestWorker(t)
			if c.boxed {
				box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
				if err != nil {
					t.Fatal(err)
				}
				if s.Site.Box = box; box.Name() == string(sandbox.ModeOff) {
					testenv.NeedMachine(t, "a sandbox", errors.New("without one, such words are no sandbox's"))
				}
			}
			s.Judge.Gates = func(string) ([]gate.QualityGate, error) {
				return []gate.QualityGate{{Name: "lint", Args: []string{"sh", "-c", c.line}, Format: "exit"}}, nil
			}
			compared := 0
			s.Judge.Yours = func(_ context.Context, commit, name string) (nexus.GateEvidence, bool, error) {
				if compared++; commit != base || name != "lint" {
					t.Errorf("%s of %s", name, commit)
				}
				return nexus.GateEvidence{Gate: name, State: c.yours, Tree: "yours"}, c.yours != "", nil
			}
			look := func(p *person) error {
				return s.Judge.Bases.CheckRunBase(t.Context(), s.Judge, worker.JudgedBaseCommit{Commit: base}, s.Judge.Checkout, p)
			}
			no := &person{answer: nexus.Unapproved}
			err := look(no)
			e, _ := errors.AsType[*nexus.Error](err)
			switch {
			case c.why == "" && (err != nil || len(no.asked) > 0):
				t.Errorf("%v, asked %q", err, no.asked)
			case c.why != "" && (e == nil || e.Code != nexus.CodeEnvironment || !strings.Contains(e.Message, c.why) || !strings.Contains(e.Hint, c.hint) || !strings.Contains(e.Hint, "gates.lint = false") || len(no.asked) != 1):
				t.Errorf("%v, asked %q", err, no.asked)
			}
			known := s.Judge.Bases.Known(t.Context(), base)
			if len(known) != 1 || known[0].State != c.state {
				t.Errorf("the base is %+v", known)
			}
			yes := &person{answer: "yes"}
			if err := look(yes); err != nil || len(yes.asked) != len(no.asked) {
				t.Errorf("agreed: %v, asked %q", err, yes.asked)
			}
			if compared != c.compared {
				t.Errorf("the checkout was judged %d times", compared)
			}
			now := gate.CompareWithBase(known[0], nexus.GateEvidence{Gate: "lint", State: nexus.Fail, Tree: "t", Findings: []nexus.Finding{{Gate: "lint", Message: "no"}}}, nil)
			if c.state == nexus.NotRun && strings.Contains(strings.ReplaceAll(now.Why, "finding that is also on the base", "X"), "X") {
				t.Errorf("it excuses: %+v", now)
			}
		})
	}
}
