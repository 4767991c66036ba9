package repair

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// integrationTags are tags of tasks whose tests need more than test files: tasks about screens, and
// tasks with parts in several places.
func integrationTags() []string { return []string{"ui", "layout", "cli", "integration", "polyglot"} }

// ChooseStrategy returns the strategy of a routed task, with the reason. The plan's choice
// comes first, then the run's, then a plugin's proposal. By default it is the strict strategy
// if a fault would be expensive: for complex tasks, and for tasks about security or a public
// API. It is no-test for a pure rename.
func ChooseStrategy(r nexus.StartTierRules, t nexus.Task, routed nexus.StartTierChosen) (chosen nexus.WritingStrategy, why string) {
	c := routed.Complexity
	risk := route.RiskWord(t)
	rename, renames := RenamesOf(t)
	switch {
	case t.Strategy != "":
		return t.Strategy, "the plan says so"
	case t.Kind == nexus.DocsTask || t.Kind == nexus.TestTask:
		return nexus.TestAfter, "it is a task of kind " + string(t.Kind)
	case r.Strategy != "":
		return r.Strategy, "the run says so"
	case r.Untested:
		return nexus.TestAfter, "the repository has no test yet"
	case routed.Strategy != "" && routed.Strategy != nexus.NoTest:
		return routed.Strategy, "the " + routed.By + " says so"
	case renames:
		return nexus.NoTest, fmt.Sprintf("it renames %s to %s, and tests are needed only if the change does more", rename.From, rename.To)
	case risk != "":
		why = fmt.Sprintf("it says %q", risk)
	case c == nexus.Complex || c == nexus.Expert:
		why = "it is " + string(c)
	default:
		return nexus.TestAfter, fmt.Sprintf("it is %s, and nothing in it is about security or a public API", c)
	}
	for _, tag := range t.Tags {
		if slices.Contains(integrationTags(), strings.ToLower(tag)) {
			return nexus.TDDLite, why + ", and has the tag " + tag
		}
	}
	return nexus.TDDStrict, why
}

// NextStrategy returns the strategy of a task's next attempt. After an attempt in which a
// role broke the isolation of the strict strategy, or in which its tester wrote no test, the
// next attempts are lite.
func NextStrategy(t *state.TaskState) nexus.WritingStrategy {
	s := cmp.Or(t.Course, t.Strategy, nexus.TestAfter)
	for _, a := range t.Attempts[min(max(t.Mercy, t.Turned), len(t.Attempts)):] {
		switch a.Category {
		case nexus.IsolationViolation, nexus.GreenfieldNoTests:
			if s == nexus.TDDStrict {
				s = nexus.TDDLite
			}
		default:
		}
	}
	return s
}

// LowerStrategy returns the less strict strategy to try after a strategy failed at every
// tier, or false if there is none.
func LowerStrategy(s nexus.WritingStrategy) (nexus.WritingStrategy, bool) {
	switch s {
	case nexus.TDDStrict:
		return nexus.TDDLite, true
	case nexus.TDDLite, nexus.TDDSimple:
		return nexus.TestAfter, true
	default:
		return s, false
	}
}

// FileWriteRule returns a function that reports why a role may not write a file in an attempt with
// a strategy, or nil if the strategy forbids no file.
func FileWriteRule(s nexus.WritingStrategy, role nexus.Role) func(file string) error {
	switch {
	case s != nexus.TDDStrict:
		return nil
	case role == nexus.Tester:
		return func(file string) error {
			if stack.ServesTests(file) || isReexportFile(file) {
				return nil
			}
			return fmt.Errorf("%s is refused (isolation.code): the tests are written first, and another agent writes the code", file)
		}
	case role == nexus.Coder || role == nexus.Editor:
		return func(file string) error {
			if !stack.ServesTests(file) {
				return nil
			}
			return fmt.Errorf("%s is refused (isolation.tests): tests judge this work, which may not change them", file)
		}
	default:
		return nil
	}
}

// MayWriteBeyondRights reports whether a strategy allows a role more files than the role's own rule: a
// tester may write a file that only re-exports names, and, without file restrictions, the
// stubs that its tests need.
func MayWriteBeyondRights(s nexus.WritingStrategy, role nexus.Role) bool {
	return s.UsesSeparateSessions() && role == nexus.Tester
}

// isReexportFile reports whether a file only re-exports declarations of others, so that a test may
// need a line in it.
func isReexportFile(file string) bool {
	switch base := path.Base(file); base {
	case "__init__.py", "mod.rs":
		return true
	default:
		stem, ext, _ := strings.Cut(base, ".")
		return stem == "index" && slices.Contains([]string{"ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts"}, ext)
	}
}
