package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// maxLooked is the maximum number of statements in one coverage check: an answer about more
// does not fit into the 8192 tokens of a checker's answer.
const maxLooked = 80

// NeedsCoverageCheck reports whether a plan for a goal is compared with it.
func NeedsCoverageCheck(set nexus.CoverageCheckMode, statements []GoalStatement) bool {
	switch set {
	case nexus.LookNever:
		return false
	case nexus.LookAlways:
		return len(statements) > 0
	default:
		return len(statements) > 1
	}
}

// TooLongReason returns why a goal is too long for a coverage check, or "".
func TooLongReason(statements []GoalStatement) string {
	if len(statements) <= maxLooked {
		return ""
	}
	return fmt.Sprintf("the goal has %d statements, and the coverage check reads at most %d", len(statements), maxLooked)
}

// StatementCoverageFinding is a checker's result for one statement.
type StatementCoverageFinding struct {
	ID       string         `json:"id"`
	Tasks    []nexus.TaskID `json:"tasks"`
	Criteria []string       `json:"criteria"` // T1/AC-1
	Missing  string         `json:"missing"`  // the part that the plan does not cover
	There    string         `json:"there"`    // location in the repository that already does it
	Asks     *bool          `json:"asks"`     // false: it asks for no work
}

// AssessCoverage returns the coverage of each statement, from a checker's findings. The
// plan's own claims do not count. A statement that no task of the plan serves is not covered,
// and one without a finding makes the whole result unsure. An existing implementation must be
// in a file for which has returns true; nil: no file is known.
func AssessCoverage(statements []GoalStatement, tasks []nexus.Task, found []StatementCoverageFinding, has func(file string) bool) nexus.PlanCoverage {
	c := nexus.PlanCoverage{State: nexus.CoverFull}
	var silent []string
	for _, s := range statements {
		f, said := mergeFindings(s, found)
		if !said {
			silent = append(silent, s.ID)
			c.Statements = append(c.Statements, nexus.StatementCoverage{ID: s.ID, Text: s.Text, Asks: true})
			continue
		}
		one := assessStatement(s, tasks, f, has)
		if one.Missing != "" {
			c.State = nexus.CoverGaps
		}
		c.Statements = append(c.Statements, one)
	}
	if len(silent) > 0 {
		c.Why = "the checker left out " + strings.Join(silent, ", ")
		if c.State == nexus.CoverFull {
			c.State = nexus.CoverUnsure
		}
	}
	return c
}

// mergeFindings combines all findings about a statement. A part that is missing in one of them is
// missing, and the statement asks for no work only if all agree.
func mergeFindings(s GoalStatement, found []StatementCoverageFinding) (all StatementCoverageFinding, said bool) {
	var missing []string
	asks := MayNeedNoWork(s.ID)
	for _, f := range found {
		if !strings.EqualFold(strings.TrimSpace(f.ID), s.ID) {
			continue
		}
		said = true
		all.Tasks, all.Criteria = append(all.Tasks, f.Tasks...), append(all.Criteria, f.Criteria...)
		all.There = cmp.Or(all.There, MeaningfulText(f.There))
		if f.Asks != nil && !*f.Asks && MayNeedNoWork(s.ID) {
			continue // a missing part of it is irrelevant
		}
		asks = false
		if m := MeaningfulText(f.Missing); m != "" && !slices.Contains(missing, m) {
			missing = append(missing, m)
		}
	}
	all.ID, all.Missing = s.ID, strings.Join(missing, "; ")
	if asks {
		no := false
		all.Asks = &no
	}
	return all, said
}

func assessStatement(s GoalStatement, tasks []nexus.Task, f StatementCoverageFinding, has func(file string) bool) nexus.StatementCoverage {
	one := nexus.StatementCoverage{ID: s.ID, Text: s.Text, Asks: f.Asks == nil, Missing: f.Missing}
	if namesExistingFile(f.There, has) {
		one.There = f.There
	}
	for _, t := range tasks {
		if slices.Contains(f.Tasks, t.ID) {
			one.Tasks = append(one.Tasks, t.ID)
		}
		for n := range t.Criteria {
			if id := fmt.Sprintf("%s/AC-%d", t.ID, n+1); slices.Contains(f.Criteria, id) {
				one.Criteria = append(one.Criteria, id)
				if !slices.Contains(one.Tasks, t.ID) {
					one.Tasks = append(one.Tasks, t.ID)
				}
			}
		}
	}
	switch {
	case !one.Asks:
		one.Tasks, one.Criteria, one.Missing, one.There = nil, nil, "", ""
	case len(one.Tasks) > 0 || one.Missing != "" || one.There != "":
	case f.There != "":
		one.Missing = "no task serves it, and no file of the repository is named that does it already"
	default:
		one.Missing = "no task serves it"
	}
	return one
}

// MayNeedNoWork reports whether a statement may ask for no work: a sentence of a goal may
// only explain. A statement with an id of a spec always asks for work.
func MayNeedNoWork(id string) bool { return strings.HasPrefix(id, "S") }

// MeaningfulText returns a text in one line, or "" if it is only a placeholder.
func MeaningfulText(text string) string {
	text = singleLine(text)
	switch strings.Trim(strings.ToLower(text), " .!-_\"'`()[]") {
	case "", "none", "n/a", "na", "no", "nothing", "null", "nil", "not applicable", "nothing is missing", "nothing missing", "none missing":
		return ""
	default:
		return text
	}
}

// namesExistingFile reports whether a text names an existing file, such as "sum.go:12" or "(see
// `a/sum.go`)".
func namesExistingFile(text string, has func(file string) bool) bool {
	return has != nil && slices.ContainsFunc(strings.FieldsFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(",;:()[]{}<>\"'`#", c)
	}), func(word string) bool {
		word = strings.TrimPrefix(word, "./")
		return word != "" && has(word) || strings.TrimRight(word, ".!?") != "" && has(strings.TrimRight(word, ".!?"))
	})
}

// TasksForStatement returns the tasks that claim to serve a statement.
func TasksForStatement(id string, tasks []nexus.Task) (all []nexus.TaskID) {
	for _, t := range tasks {
		if slices.Contains(t.Covers, id) {
			all = append(all, t.ID)
		}
	}
	return all
}
