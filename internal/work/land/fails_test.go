package land

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// came says what facts say has landed, and as which commit; nothing where they
// do not say so.
func came(facts []nexus.Fact) (commit, what string) {
	if len(facts) != 1 {
		return "", ""
	}
	switch f := facts[0].(type) {
	case nexus.LandingCompleted:
		return f.Commit, fmt.Sprint(f.Tree, f.Resolved, f.Changes)
	case nexus.TargetMergeCommitted:
		return f.Commit, fmt.Sprint(f.Tree, f.Resolved)
	case nexus.UndoLanded:
		return f.Commit, f.Tree
	default:
		return "", ""
	}
}

// attempted is something that is to land on a branch.
type attempted struct {
	*train
	ref, onto string
	land      func() ([]nexus.Fact, error)
}

// TestNothingLandsWhereGitFailsOnce, whatever it was asked for: that is the error,
// and nothing is said to have landed. The branch is where it was, or at what was
// to land, and there the next process finds it.
func TestNothingLandsWhereGitFailsOnce(t *testing.T) {
	each := 4 // so that it takes seconds
	if os.Getenv("NEXUS_NIGHTLY") != "" {
		each = 1
	}
	fail, calls, failed := gittest.InstallFailingGit(t)
	for name, make := range map[string]func() attempted{
		"a conflict that a merger resolves": func() attempted {
			r := newTrain(t, lint("exit 0"))
			v := r.conflicted()
			r.plays(v, map[nexus.Role][]func() (map[string]string, any){
				nexus.Merger:   {submits(map[string]string{"bad": "mine\ntheirs\n"}, "Both.")},
				nexus.Reviewer: {reviews(given{Approved: true, Summary: "fine"})},
			})
			return attempted{r, RunBranchRef("r"), v.Tip, func() ([]nexus.Fact, error) { return LandAttempt(t.Context(), r.AttemptWorker, v, r.desk) }}
		},
		"what a run landed, onto a target that moved": func() attempted {
			r := newTrain(t, lint("exit 0"))
			v := r.home(map[string]string{"two": "2\n"})
			return attempted{r, targetMergeRef("r", "home"), v.Merge.Base, func() ([]nexus.Fact, error) { return MergeIntoTarget(t.Context(), r.AttemptWorker, v, r.desk) }}
		},
		"an undo": func() attempted {
			r, v, f := twice(t, map[string]string{"t2": "1\n"}) // no gate judges what the run began with
			return attempted{r, RunBranchRef("r"), f.Onto, func() ([]nexus.Fact, error) { return UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			fail(0)
			a := make()
			fail(0)
			facts, err := a.land()
			all := calls()
			_, want := came(facts)
			if err != nil || want == "" || all < 5 {
				t.Fatalf("%+v, %v, in %d calls", facts, err, all)
			}
			for n := 0; n < all; n += each {
				fail(0)
				a := make()
				fail(n + 1)
				facts, err := a.land()
				_, did, _ := strings.Cut(failed(), "--git-dir=")
				fail(0)
				at, _ := a.Trees.PrivateRepo().Resolve(t.Context(), a.ref)
				commit, what := came(facts)
				spare := strings.Contains(did, " cat-file -p ") || strings.Contains(did, " rev-parse --verify --quiet ")              // a name is left out, or nothing is there
				says := err != nil && (strings.Contains(err.Error(), gittest.BrokenMessage) || strings.Contains(did, " update-ref ")) // of a ref that cannot move it is said where it is not
				if fine := err == nil && commit == at && what == want; (!fine || !spare) && (err == nil || !says && !spare || len(facts) > 0) {
					t.Errorf("git fails at call %d of %d, %s: %+v, %v", n+1, all, did, facts, err)
				}
				if at == a.onto || at == "" {
					continue
				}
				facts, err = a.land()
				if commit, what := came(facts); err != nil || commit != at || what != want {
					t.Errorf("git failed at call %d of %d, %s; then: %+v, %v; the branch was at %s", n+1, all, did, facts, err, at)
				}
			}
		})
	}
}
