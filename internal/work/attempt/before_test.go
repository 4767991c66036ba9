package attempt_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestWhatAChangeIsShownTo: who begins on work that is there sees it, and who writes the
// tests before the work does not.
func TestWhatAChangeIsShownTo(t *testing.T) {
	for _, c := range []struct {
		name     string
		role     nexus.Role
		strategy nexus.WritingStrategy
		from     bool // an earlier attempt; it starts where that left it
		start    bool // it starts elsewhere than at the base
		snapshot bool // work is there already
		shown    bool
	}{
		{"a coder at the base", nexus.Coder, nexus.NoTest, false, false, false, false},
		{"a coder who goes on", nexus.Coder, nexus.NoTest, true, true, false, true},
		{"a coder who goes on, and is to prove tests", nexus.Coder, nexus.TDDSimple, true, true, false, true},
		{"a coder who starts elsewhere", nexus.Coder, nexus.NoTest, false, true, false, true},
		{"a coder whose tests are there", nexus.Coder, nexus.TDDSimple, false, true, false, false},
		{"a coder after a tester", nexus.Coder, nexus.TDDStrict, false, false, true, false},
		{"a tester at the base", nexus.Tester, nexus.TDDStrict, false, false, false, false},
		{"a tester before the work", nexus.Tester, nexus.TDDStrict, true, true, false, false},
		{"a tester before the work that is there", nexus.Tester, nexus.TDDStrict, false, false, true, false},
		{"a tester after the work", nexus.Tester, nexus.TestAfter, false, false, true, true},
		{"a tester without work", nexus.Tester, nexus.TestAfter, false, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, nil, lint("exit 0"))
			a := j.view.Attempt
			a.Strategy = c.strategy
			commit, hash := j.tree("T1.0", j.base, map[string]string{"one": "what is there\n"})
			if c.start {
				a.Start = commit
			}
			if c.from {
				a.From, a.FromRound = "T1.0", 1
			}
			if c.snapshot {
				a.Snapshot = nexus.TreeSnapshotted{Attempt: a.ID, Commit: commit, Tree: hash}
			}
			if shown := strings.Contains(text(j.next(c.role)), "+what is there"); shown != c.shown {
				t.Errorf("shown: %v", shown)
			}
		})
	}
}

// TestWhoseTestsAreRedIsNotGuessed: where git cannot say which tests came with the work,
// no verdict is given.
func TestWhoseTestsAreRedIsNotGuessed(t *testing.T) {
	git := breaks(t)
	g := newTest()
	g.Fix = []stack.FixCommand{{Args: []string{"sh", "-c", `for f; do case $f in new) echo better >$f; esac; done`, "sh", "{files}"}}}
	j := newJob(t, map[string]string{"go.mod": "module m\n"}, g)
	j.Judge.Autofix = true
	j.written(1, map[string]string{"new": "good\n", "new_test.go": "package m\n"}) // the fixed tree is one that git was asked nothing of
	j.view.Limits.Rounds = 1
	j.desk.heard = func(f nexus.Fact) {
		if f, ok := f.(nexus.GateJudged); ok && f.Attempt != "" {
			git.fails(1)
		}
	}
	facts, err := j.work()
	if err == nil || !strings.Contains(err.Error(), gittest.BrokenMessage) || len(facts) > 0 || strings.Contains(j.desk.told(), "verdict") {
		t.Errorf("%s fails: %+v, %v: %s, calls %d", git.failed(), facts, err, j.desk.told(), git.calls())
	}
}
