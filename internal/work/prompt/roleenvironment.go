package prompt

import (
	"fmt"
	"strings"
	"time"
)

// RoleEnvironment describes a role's environment. It is the same for all sessions of the role
// while the files that it is read from do not change, so that a provider's cache keeps it.
type RoleEnvironment struct {
	System   string            // such as linux/amd64
	Date     string            // date of the day on which the run began
	Shell    bool              // the role runs commands
	Tmp      string            // directory of its scratch files
	Network  string            // hosts that its commands may reach; empty: none
	Gates    []GateDescription // gates in the order in which they judge
	One      []string
	Fixers   []string // commands that fix changed files before the gates
	Mutation string   // off, warn or block; empty: off
	Coverage string   // the coverage requirement, in words; empty: none
	Scripts  []ProjectScripts
	Turns    int           // answers of the model in a session; 0: unlimited
	Rounds   int           // submissions of a task, over all its attempts; 0: not mentioned
	Time     time.Duration // time limit of a task; 0: unlimited
	Output   int           // bytes of a command's output that are shown
	Command  time.Duration // time limit of a command, unless it requests more
}

// GateDescription describes a gate to a role.
type GateDescription struct {
	Name, Command string        // without a command it is the search for secrets
	Dir           string        // directory in which it runs, below the root; empty: the root
	Usual         time.Duration // usual duration; 0: unknown
	Lacks         string        // why it cannot run here; empty: it can
}

// ProjectScripts are commands that a file of the project names.
type ProjectScripts struct {
	Run   string // prefix that starts one, such as npm run
	Names []string
	More  int // number of omitted names
}

const (
	maxOne    = 3
	maxFixers = 6
)

// Text returns the environment as a list.
func (e RoleEnvironment) Text() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, "- "+format+"\n", args...) }
	if e.System != "" {
		where := e.System + ", " + e.Date + "."
		if e.Tmp != "" {
			where += " Scratch files go to " + e.Tmp + ": only you use it, and it is not part of the change."
		}
		say("%s", where)
	}
	if e.Shell {
		if e.Network == "" {
			say("No network: what is not installed cannot be fetched.")
		} else {
			say("Network: only %s.", SingleLine(e.Network))
		}
	}
	if len(e.Gates) > 0 {
		b.WriteString("- Gates, in order:\n")
		for _, g := range e.Gates {
			b.WriteString("  - " + g.describeGate() + "\n")
		}
	}
	if len(e.One) > 0 && e.Shell {
		say("One test: %s.", joinCodeSpans(e.One[:min(len(e.One), maxOne)], " or "))
	}
	if len(e.Fixers) > 0 && e.Shell {
		say("Before the gates, these fixers run on changed files, and you see what they changed: %s.", joinCodeSpans(e.Fixers[:min(len(e.Fixers), maxFixers)], ", "))
	}
	if text := e.describeQualityChecks(); text != "" {
		say("%s", text)
	}
	for _, s := range e.Scripts {
		text := strings.Join(singleLines(s.Names), ", ")
		if s.More > 0 {
			text += fmt.Sprintf(" and %d more", s.More)
		}
		say("%s: %s.", InlineCode(s.Run), text)
	}
	if text := e.describeLimits(); text != "" {
		say("%s", text)
	}
	return b.String()
}

func (g GateDescription) describeGate() string {
	text := SingleLine(g.Name)
	if g.Command == "" {
		return text + ": no key or password in added lines"
	}
	text += ": " + InlineCode(g.Command)
	if g.Dir != "" && g.Dir != "." {
		text += " in " + SingleLine(g.Dir)
	}
	switch {
	case g.Lacks != "":
		text += ", cannot run here: " + SingleLine(g.Lacks)
	case g.Usual > 0:
		text += ", usually " + approximateDuration(g.Usual)
	}
	return text
}

func (e RoleEnvironment) describeQualityChecks() string {
	var all []string
	switch e.Mutation {
	case "warn":
		all = append(all, "When the gates pass, small faults are put into new lines of code, and each that no test catches is reported.")
	case "block":
		all = append(all, "When the gates pass, small faults are put into new lines of code, and a test must catch each.")
	}
	if e.Coverage != "" {
		all = append(all, e.Coverage)
	}
	return strings.Join(all, " ")
}

func (e RoleEnvironment) describeLimits() string {
	var all []string
	if e.Turns > 0 {
		all = append(all, fmt.Sprintf("%d answers a session", e.Turns))
	}
	if e.Rounds > 0 {
		all = append(all, fmt.Sprintf("%d submissions", e.Rounds))
	}
	if e.Time > 0 {
		all = append(all, approximateDuration(e.Time)+" for the task")
	}
	if e.Shell && e.Command > 0 {
		all = append(all, approximateDuration(e.Command)+" for a command")
	}
	if e.Shell && e.Output > 0 {
		all = append(all, fmt.Sprintf("%d characters of its output are shown", e.Output))
	}
	if len(all) == 0 {
		return ""
	}
	return "Limits: " + strings.Join(all, ", ") + "."
}

// approximateDuration returns a duration in words, rounded so that it is the same next time.
func approximateDuration(d time.Duration) string {
	n, unit := 0, ""
	switch {
	case d < 2*time.Second:
		return "about a second"
	case d < 100*time.Second:
		n, unit = int(d.Round(time.Second)/time.Second), "seconds"
		if n > 10 {
			n = (n + 2) / 5 * 5
		}
	case d < 100*time.Minute:
		n, unit = int(d.Round(time.Minute)/time.Minute), "minutes"
	default:
		n, unit = int(d.Round(time.Hour)/time.Hour), "hours"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

func joinCodeSpans(all []string, between string) string {
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = InlineCode(c)
	}
	return strings.Join(out, between)
}
