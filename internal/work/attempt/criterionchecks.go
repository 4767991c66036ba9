package attempt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// criteriaWithoutCheck returns the numbers, from 1, of the criteria that have no check.
func criteriaWithoutCheck(t nexus.Task) []int {
	var all []int
	for i, c := range t.Criteria {
		if strings.TrimSpace(c.Check) == "" {
			all = append(all, i+1)
		}
	}
	return all
}

// demonstrableCriteria returns the numbers, from 1, of the criteria that have no check and that a machine
// can check.
func demonstrableCriteria(t nexus.Task) []int {
	return slices.DeleteFunc(criteriaWithoutCheck(t), func(n int) bool { return isMatterOfTaste(t.Criteria[n-1].Text) })
}

// isWorthCheckSession reports whether the checks of a task are worth the cost of their own session:
// the task has no check of its own yet, only gates that judge all work, and a machine can
// check at least one criterion; or a check was withdrawn as inconclusive.
func isWorthCheckSession(t nexus.Task) bool {
	some := false
	for _, c := range t.Criteria {
		if c.Was != "" {
			return true // its command is inconclusive and is to be replaced
		}
	}
	for _, c := range t.Criteria {
		switch check := strings.TrimSpace(c.Check); {
		case strings.ContainsAny(check, " /."):
			return false
		case check == "":
			some = some || !isMatterOfTaste(c.Text)
		}
	}
	return some
}

// isMatterOfTaste reports whether only people can judge a criterion.
func isMatterOfTaste(text string) bool {
	text = " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }), " ") + " "
	return slices.ContainsFunc([]string{
		"looks", "feels", "nice", "beautiful", "pretty", "elegant", "intuitive", "readable", "reads well", "easy to", "user-friendly", "pleasant", "idiomatic", "tasteful",
	}, func(w string) bool { return strings.Contains(text, " "+w+" ") })
}

// requestCriterionChecks asks a tester for a check of each criterion without evidence; it is empty if there
// is none. Tried are the checks that were named before. Apart means that the work is green and
// has its tests.
func requestCriterionChecks(t nexus.Task, open []int, tried []nexus.CriterionTest, apart bool) string {
	if len(open) == 0 {
		return ""
	}
	names := make([]string, len(open))
	for i, n := range open {
		names[i] = fmt.Sprint(n)
	}
	text := "There is no check for criterion " + strings.Join(names, ", ") + " yet. When you submit, name in checks one test for each of them: " +
		"the criterion's number, the test, its file, and the command that runs that test alone. " +
		"It must fail without the work, because of what is missing, and pass with it. " +
		"For a criterion that no machine can check, such as taste, give only its number and why."
	for _, n := range open {
		if gate := strings.TrimSpace(t.Criteria[n-1].Check); gate != "" {
			text += fmt.Sprintf(" Gate %s does not show criterion %d (%s): nothing that it runs failed without the work and passes with it.", gate, n, oneLine(t.Criteria[n-1].Text))
		}
	}
	for _, n := range open {
		if was := t.Criteria[n-1].Was; was != "" {
			text += fmt.Sprintf(" The check of criterion %d was %s, which gives no result: %s. Name one that does.", n, was, oneLine(t.Criteria[n-1].Tried))
		}
	}
	for _, c := range tried {
		if slices.Contains(open, c.Number) && c.Command != "" {
			text += fmt.Sprintf(" The check named for criterion %d before, %s, does not count: %s. Name another, or say why there can be none.", c.Number, c.Command, oneLine(c.Why))
		}
	}
	if apart {
		text += " The work is done, its gates pass and it has tests. Change none of its files: write your tests in new files. " +
			"Any other change is undone."
	}
	return text
}

const (
	maxHandin    = 1 << 20 // largest submission in bytes
	maxCheckText = 500
)

// readCriterionChecks returns a submission's checks of the open criteria of a task, each once. It skips
// checks that fit no criterion; a check that cannot be run has the reason in Why.
func readCriterionChecks(handin []byte, t nexus.Task, open []int) []nexus.CriterionTest {
	var said struct {
		Checks []struct {
			Criterion                int
			Test, File, Command, Why string
		}
	}
	if len(handin) > maxHandin || json.Unmarshal(handin, &said) != nil {
		return nil
	}
	var all []nexus.CriterionTest
	for _, n := range open {
		for _, x := range said.Checks {
			if x.Criterion != n {
				continue
			}
			c := nexus.CriterionTest{Number: n, Of: state.CriterionFingerprint(t, n), Test: oneLine(x.Test), File: strings.TrimPrefix(oneLine(x.File), "./"), Command: strings.TrimSpace(x.Command), Why: oneLine(x.Why)}
			switch {
			case c.Command == "" && c.Why == "":
				continue
			case c.Command == "":
				c.Test, c.File = "", ""
			default:
				c.Why = invalidCheckReason(c)
			}
			all = append(all, c)
			break
		}
	}
	return all
}

// invalidCheckReason returns why a check is not valid, or "".
func invalidCheckReason(c nexus.CriterionTest) string {
	switch err := shell.CheckSyntax(c.Command); {
	case len(c.Command) > maxCheckText || oneLine(c.Command) != c.Command:
		return fmt.Sprintf("its command is not one line of at most %d characters", maxCheckText)
	case err != nil:
		return "its command cannot be read by sh: " + err.Error()
	case !strings.ContainsAny(c.Command, " /."):
		return "its command names a gate, which judges all of the work"
	case !stack.ServesTests(c.File):
		return fmt.Sprintf("%q is not a test file", c.File)
	}
	return ""
}

// oneLine returns a model's text as one line.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	return sanitize.TruncateText(text, maxCheckText)
}
