// Package prompt builds what is sent to a model: the system prompt, which is
// the same for every worker in a role, the brief that opens a conversation,
// and the findings that are sent back.
//
// What is stable stands first and what changes stands last, so that every
// request of a conversation extends the one before. Texts that files, tools
// or other models wrote are fenced: they are data and never instructions.
package prompt

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

//go:embed house.md
var house string

// judged are the house rules of those whose work is judged and lands.
//
//go:embed judged.md
var judged string

const (
	// ReviewTokens is the Limit of briefs that show a whole part of a change.
	ReviewTokens = 48_000

	briefTokens = 24_000 // of a brief, when its Limit is zero
	rulesBytes  = 8_000  // of the repository's own rules
	lineWidth   = 300    // characters of what must be one line
)

// System returns a role's system prompt: its own text, the house rules, which
// no role can leave out, the repository's own rules, from AGENTS.md, and what
// is to be known of where it works; both may be empty. All workers in a role
// have the same, byte by byte, so that they share it in a provider's cache.
func System(role, rules string, e Environment) string {
	text, _ := Fit(system(role, rules, e), math.MaxInt64)
	return text
}

// Alone returns the system prompt of a session outside of any run, in which
// nothing is judged and an answer in text is the end.
func Alone(role string) string {
	text, _ := Fit([]Section{{Body: strings.TrimSpace(role)}, {Body: strings.TrimSpace(house)}}, math.MaxInt64)
	return text
}

// SystemParts returns the sections of [System].
func SystemParts(role, rules string, e Environment) []Part {
	return fitParts(system(role, rules, e), math.MaxInt64)
}

func system(role, rules string, e Environment) []Section {
	return []Section{
		{Body: strings.TrimSpace(role)},
		{Body: strings.TrimSpace(house) + "\n" + strings.TrimSpace(judged)},
		{
			Title: "Rules of the repository",
			Lead:  "From AGENTS.md. Follow them where they do not contradict the task.",
			Body:  head(strings.TrimSpace(rules), rulesBytes), Whole: len(strings.TrimSpace(rules)), Fence: "markdown",
		},
		{Title: "Environment", Body: e.Text()},
	}
}

// Here is what a first message ends with: where the session works, and a map of
// what is there.
type Here struct {
	Dir string // in which its commands start; empty: not told
	Map string // see work/codemap; empty for none
}

// Text returns it, empty where nothing is told.
func (h Here) Text() string {
	if text, _ := Fit(h.sections(), math.MaxInt64); strings.TrimSpace(text) != "" {
		return "\n" + text
	}
	return ""
}

// Parts returns the sections of [Here.Text].
func (h Here) Parts() []Part { return fitParts(h.sections(), math.MaxInt64) }

func (h Here) sections() []Section {
	dir := ""
	if h.Dir != "" {
		dir = code(h.Dir) + ". Commands start there, and paths are relative to it."
	}
	return []Section{
		{Title: "Worktree", Body: dir},
		{
			Title: "Map", Lead: "Made by a program and not complete: search for what it does not show.",
			Body: strings.TrimSpace(h.Map), Fence: "text",
		},
	}
}

// Brief is what opens a conversation about a task. Empty fields are left out.
type Brief struct {
	Session   nexus.SessionID
	Task      nexus.Task
	Order     string           // in which code and tests are written, see [Order]
	Part      string           // what of it this reader looks at, where several do
	Before    []nexus.Finding  // what reviews before this one found
	Replies   []string         // what the author answered to each of them; empty for nothing
	Base      string           // commit that the work starts from
	Dead      []state.Ending   // how earlier attempts ended, oldest first
	Kept      Kept             // what of them the worktree holds
	Evidence  []nexus.Evidence // what the gates said
	Suspect   []nexus.Finding  // what the change does to what judges it
	Refused   []string         // what verifiers had against earlier work on the task
	Own       []string         // criteria that nothing shows but tests that came with the change, and which tests
	Taken     []nexus.Finding  // what the change takes away and explains, for a reviewer to agree to
	Conflicts []string         // files that hold conflict markers
	Landed    string           // what landed since Base in the files of a merge, as a diff
	Side      string           // what the change did to these files before the merge
	Meanwhile []nexus.Task     // tasks that landed since Base
	Tester    string           // what the tester said of its tests, for a coder who begins from them
	Said      string           // what the change's author says of it, for those who judge it
	Diff      string           // the change so far, for those who test, review or merge it
	Limit     int64            // most tokens; 0 means 24,000
}

// Text returns the brief as the first message of its conversation. It begins
// with two lines that name the conversation and the task.
func (b Brief) Text() string {
	text, _ := Fit(b.sections(), limit(b.Limit))
	return text
}

// Parts returns the sections of [Brief.Text].
func (b Brief) Parts() []Part { return fitParts(b.sections(), limit(b.Limit)) }

func (b Brief) sections() []Section {
	return []Section{
		{Body: header(b.Session, string(b.Task.ID), b.Task.Title)},
		{Title: "What to do", Body: toDo(b.Task)},
		{Title: "Done when", Body: criteria(b.Task)},
		{Title: "Order of work", Body: b.Order},
		{Title: testerTitle, Lead: testerLead, Body: strings.TrimSpace(b.Tester), Fence: "text", Rank: 1},
		{Title: "Your part", Body: b.Part},
		{Title: "Files", Body: files(b.Task.Files)},
		{Title: "Start", Body: start(b.Base, b.Kept)},
		{Title: "To be fixed", Body: before(b.Kept.Open, nil), Rank: 1, Lead: "This was said of it:"},
		{Title: "Tried before", Body: dead(b.Dead), Rank: 3, Tail: true},
		{Title: "Conflicts", Body: conflicts(b.Conflicts)},
		{Title: "Landed meanwhile", Body: meanwhile(b.Meanwhile), Rank: 2},
		{Title: "Gates", Body: gates(b.Evidence), Rank: 2},
		{
			Title: "The author's message", Body: strings.TrimSpace(b.Said), Fence: "text", Rank: 1,
			Lead: "The commit lands with it. It is a claim, not evidence: if it says something that the change does not do, report that.",
		},
		{
			Title: "Found before", Body: before(b.Before, b.Replies), Rank: 2,
			Lead: "Earlier reviews of this task found these. First see which of them are fixed, and report again those that are not." + disputed(b.Replies),
		},
		{
			Title: "Refused before", Body: list(b.Refused), Rank: 2,
			Lead: "Verifiers refused earlier work on this task for these reasons, and it lands only if you approve it. Say of each whether it still holds; one that does is a reason to refuse.",
		},
		{
			Title: "To be explained", Body: suspects(b.Suspect),
			Lead: "The change touches what judges it. Say of each of these in testModifications whether it is right; one that you cannot explain is not legitimate.",
		},
		{
			Title: "Shown by its own tests", Body: list(b.Own), Rank: 2,
			Lead: "Nothing shows these criteria but tests that came with the change. Read each test: one that asks for something else than its criterion says shows nothing, however green it is.",
		},
		{
			Title: "To be agreed", Body: taken(b.Taken),
			Lead: "The change deletes, rewrites or adds these, and its author says why. Look at each. Put the names of those that are right into agreed, word for word; the change lands only if all of them are there.",
		},
		{Title: "Landed side", Lead: "What landed meanwhile did to the files of this merge:", Body: Diff(b.Landed, sideBytes), Whole: len(b.Landed), Fence: "diff", Rank: 2},
		{Title: "This task's side", Lead: "What this task's own change did to them before the merge:", Body: Diff(b.Side, sideBytes), Whole: len(b.Side), Fence: "diff", Rank: 2},
		{Title: "Change", Lead: "The change so far, compared with where the work started:", Body: Diff(b.Diff, diffBytes), Whole: len(b.Diff), Fence: "diff", Rank: 1},
	}
}

// What the coder hears of the tester.
const (
	testerTitle = "The tester's message"
	testerLead  = "What the tests cover, and what they do not. It is a claim, not evidence."
)

// Goal is what opens the conversation with the planner.
type Goal struct {
	Session nexus.SessionID
	Text    string
	Size    nexus.Size
	Red     []string // criteria of earlier runs that are met no more
	Limit   int64    // most tokens; 0 means 24,000
}

// Message returns the goal as the first message of its conversation.
func (g Goal) Message() string {
	text, _ := Fit([]Section{
		{Body: header(g.Session, "plan", "Turn the goal into tasks") + large("\n\n", g.Size)},
		{Title: "Goal", Body: g.Text},
		{
			Title: "Red before", Body: list(g.Red), Rank: 1,
			Lead: "Earlier runs met these, and they are red before any work on this goal. No task is blamed for that. Plan a task that fixes one only where the goal asks for it or cannot be met without it.",
		},
	}, limit(g.Limit))
	return text
}

// Most returns a size with what its zero fields mean.
func Most(s nexus.Size) nexus.Size {
	usual := nexus.DefaultLimits().Size
	return nexus.Size{
		Minutes: cmp.Or(s.Minutes, usual.Minutes), Files: cmp.Or(s.Files, usual.Files),
		Criteria: cmp.Or(s.Criteria, usual.Criteria), Characters: cmp.Or(s.Characters, usual.Characters),
	}
}

// large says how large a task may be where that is not what planners are told
// anyway; see cast/roles/planner.md.
func large(before string, s nexus.Size) string {
	if s = Most(s); s == Most(nexus.Size{}) {
		return ""
	}
	return fmt.Sprintf("%sHere a task takes at most %d minutes, %d files, %d criteria and %d characters.", before, s.Minutes, s.Files, s.Criteria, s.Characters)
}

func limit(tokens int64) int64 {
	if tokens <= 0 {
		return briefTokens
	}
	return tokens
}

func header(s nexus.SessionID, id, title string) string {
	return fmt.Sprintf("Conversation: %s\nTask: %s %s", Line(string(s)), Line(id), Line(title))
}

func criteria(t nexus.Task) string {
	var b strings.Builder
	for i, c := range t.Criteria {
		fmt.Fprintf(&b, "%d. %s", i+1, Line(said(c, t)))
		if c.Check != "" {
			fmt.Fprintf(&b, " (checked by %s)", code(c.Check))
		}
		b.WriteByte('\n')
	}
	if t.Strategy == nexus.NoTest {
		fmt.Fprintf(&b, "\nNo test is asked for: %s\n", Line(t.Reason))
	}
	return b.String()
}

// toDo is the brief, empty where the title above says all of it.
func toDo(t nexus.Task) string {
	if strings.TrimSpace(t.Brief) == Line(t.Title) {
		return ""
	}
	return t.Brief
}

// said returns the text of a criterion, or the task's title where it says
// nothing that its check does not say. The brief, which stands above, is not
// said once more.
func said(c nexus.Criterion, t nexus.Task) string {
	if brief := strings.Join(strings.Fields(t.Brief), " "); strings.TrimSpace(c.Text) != "" && brief != "" && (c.Text == brief || strings.HasPrefix(brief, strings.TrimSuffix(c.Text, "...")) && strings.HasSuffix(c.Text, "...")) {
		return "All that is asked for above is done"
	}
	switch strings.ToLower(strings.Trim(c.Text, " .")) {
	case "", "done", "it is done", "the task is done", "it works", strings.ToLower(c.Check):
		return cmp.Or(t.Title, c.Text)
	default:
		return c.Text
	}
}

func files(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "The plan expects changes in these, and in other files only where necessary.\n" + list(paths)
}

func conflicts(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "These files are in conflict, with markers where git could set them:\n" + list(paths) +
		"\nBetween <<<<<<< and ======= is the side that has landed; between ======= and >>>>>>> is this task's own change."
}

func meanwhile(tasks []nexus.Task) string {
	var b strings.Builder
	for _, t := range tasks {
		fmt.Fprintf(&b, "- %s %s\n", Line(string(t.ID)), Line(t.Title))
		for _, c := range t.Criteria {
			fmt.Fprintf(&b, "  - %s\n", Line(c.Text))
		}
	}
	return b.String()
}

func gates(evidence []nexus.Evidence) string {
	var b strings.Builder
	for _, e := range evidence {
		fmt.Fprintf(&b, "- %s: %s", Line(e.Gate), stateOf(e))
		if e.Command != "" {
			fmt.Fprintf(&b, ", %s", code(e.Command))
		}
		if c := e.Counts; c != (nexus.Counts{}) {
			fmt.Fprintf(&b, ", tests: %d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
		}
		if e.Why != "" {
			fmt.Fprintf(&b, " (%s)", Line(e.Why))
		}
		b.WriteByte('\n')
		if e.Gate == nexus.MutationGate {
			for _, f := range e.Findings[:min(len(e.Findings), maxFindings)] {
				fmt.Fprintf(&b, "  - %s:%d: %s\n", Line(f.File), f.Line, Line(f.Message))
			}
		}
	}
	return b.String()
}

func suspects(found []nexus.Finding) string {
	var b strings.Builder
	for _, f := range found[:min(len(found), maxFindings)] {
		fmt.Fprintf(&b, "- %s: %s (%s)\n", Line(f.File), Line(f.Message), Line(f.Code))
	}
	if more := len(found) - maxFindings; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return b.String()
}

// taken names what is to be agreed to, all of it: what is not shown could not
// be agreed to.
func taken(found []nexus.Finding) string {
	var b strings.Builder
	for _, f := range found {
		if f.Name == "" || f.Explained == "" {
			continue
		}
		first, _, _ := strings.Cut(f.Message, "\n")
		fmt.Fprintf(&b, "- name: %s\n  what: %s\n  why: %s\n", Line(f.Name), Line(first), Line(f.Explained))
	}
	return b.String()
}

func stateOf(e nexus.Evidence) nexus.GateState {
	if e.State == "" {
		return nexus.NotRun
	}
	return e.State
}

func list(items []string) string {
	var b strings.Builder
	for _, s := range lines(items) {
		b.WriteString("- " + s + "\n")
	}
	return b.String()
}

func lines(items []string) []string {
	out := slices.Clone(items)
	for i := range out {
		out[i] = Line(out[i])
	}
	return out
}
