package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// TestActionsAreCommands parses what every face runs for a person: each action is
// a command line that exists, whatever somebody types into it.
func TestActionsAreCommands(t *testing.T) {
	seen, parsed := map[string]bool{}, map[string]bool{}
	for _, trigger := range []string{"", humaninput.AmbiguityTrigger, humaninput.SecurityTrigger, humaninput.PublishTrigger, humaninput.PlanTrigger, nexus.StepTrigger, humaninput.ReviewTrigger, "unheard-of"} {
		p := projection.NewProjection("261126-101010-abc", projection.Options{})
		fold(t, p, trigger)
		check := func(where string, all []projection.PersonAction) {
			for _, a := range all {
				if (a.Refused == "") == (len(a.Args) == 0) {
					t.Errorf("%s of %s: %+v has arguments, or says why it has none", a.Name, where, a)
				}
				if a.Refused != "" {
					continue
				}
				seen[a.Name] = true
				holes := strings.Count(strings.Join(a.Args, "\x00"), "{}")
				if (a.Input != projection.InputNone) != (holes == 1) || (a.Input != "") != (a.Ask != "") {
					t.Errorf("%s of %s takes an input %d times: %v", a.Name, where, holes, a.Args)
				}
				line := strings.Join(a.Args, " ")
				if parsed[line] {
					continue
				}
				parsed[line] = true
				parse(t, a.Args, "in words")
				for _, typed := range []string{"--all", "-x", "", "--", "a\nb"}[:5*holes] {
					parse(t, a.Args, typed)
				}
			}
		}
		for _, i := range p.InboxItems(start) {
			check("item "+i.ID, i.Actions)
			check("item "+i.ID, p.ItemActions(i.ID, start))
		}
		for _, task := range []nexus.TaskID{"T1", "T2", "T3", "T9"} {
			check("task "+string(task), p.TaskActions(task))
		}
		check("the run", p.RunActions())
		if trigger == "" {
			apply(t, p, nexus.QuestionAnswered{ID: "q1", Text: "yes", By: "ada"})
			check("a task whose agent works", p.TaskActions("T2"))
			apply(t, p, nexus.TaskPaused{Task: "T2", By: "ada"})
			check("a paused task", p.TaskActions("T2"))
		}
		p.SetConductor(nil)
		check("the interrupted run", p.RunActions())
		check("a task of it", p.TaskActions("T1"))
		end(t, p)
		check("the run that is over", p.RunActions())
		for _, i := range p.InboxItems(start) {
			check("item "+i.ID, i.Actions)
		}
	}
	for _, name := range []string{"approve", "reject", "answer", "tell", "retry", "retry-tell", "skip", "pause", "resume", "pause-task", "unpause", "interrupt", "stop", "land", "waive", "undo"} {
		if !seen[name] {
			t.Errorf("no run offered %q", name)
		}
	}
}

var start = time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)

// fold makes a run that asks a question, beside a task that was left and one that
// landed.
func fold(t *testing.T, p *projection.RunProjection, trigger string) {
	t.Helper()
	task := func(id nexus.TaskID) nexus.Fact {
		return nexus.TaskPlanned{Task: nexus.Task{ID: id, Title: "t", Criteria: []nexus.Criterion{{Text: "It looks right"}}}}
	}
	begin := func(id nexus.AttemptID, task nexus.TaskID) []nexus.Fact {
		return []nexus.Fact{
			nexus.AttemptStarted{Attempt: id, Task: task, Tier: nexus.Fast, Base: "b0"},
			nexus.SessionStarted{Session: nexus.SessionID(id) + "/coder.1", Attempt: id, Role: nexus.Coder, Model: "p/m"},
			nexus.RoundStarted{Attempt: id, Round: 1, Role: nexus.Coder, Session: nexus.SessionID(id) + "/coder.1"},
		}
	}
	limits := nexus.DefaultLimits()
	limits.Step = trigger == nexus.StepTrigger
	ask := nexus.QuestionAsked{ID: "q1", Attempt: "T2.1", Text: "?", Fallback: "no", Trigger: trigger}
	facts := []nexus.Fact{
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "g"}, Base: "b0", Target: "main", Limits: limits},
		nexus.RunStarted{},
		nexus.PlanningStarted{Attempt: "plan.1"},
		nexus.PlanProposed{Plan: "p", Tasks: 3},
		task("T1"), task("T2"), task("T3"),
	}
	if trigger == humaninput.PlanTrigger {
		ask.Attempt = ""
		apply(t, p, append(facts, ask)...)
		return
	}
	facts = slices.Concat(append(facts, nexus.PlanApproved{}), begin("T1.1", "T1"), []nexus.Fact{
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c", Tree: "t"},
		nexus.LandingQueued{Task: "T1", Attempt: "T1.1"},
		nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b0"},
		nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c", Tree: "t", Parent: "b0"},
		nexus.TaskParked{Task: "T3", Why: "w"},
	})
	switch trigger {
	case nexus.StepTrigger:
		ask.Attempt, ask.Mark = "", "T2"
	case humaninput.PublishTrigger:
		ask.Attempt = ""
	default:
		facts = append(facts, begin("T2.1", "T2")...)
	}
	apply(t, p, append(facts, ask)...)
}

// end ends the run with what a person has to sign.
func end(t *testing.T, p *projection.RunProjection) {
	t.Helper()
	apply(t, p, nexus.RunDrainStarted{To: nexus.StatusPartial})
	if len(p.State().Landings) > 0 {
		apply(t, p, nexus.FinalGatesStarted{}, nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Passed: true, Tree: "t"}})
	}
	apply(t, p, nexus.RunEnded{Status: nexus.StatusPartial})
}

func apply(t *testing.T, p *projection.RunProjection, facts ...nexus.Fact) {
	t.Helper()
	for _, f := range facts {
		if err := p.Apply(nexus.Event{Seq: p.LastSeq() + 1, Run: p.State().Run, At: start, Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
}

// parse reads a command line as the program does, up to what it would do.
func parse(t *testing.T, args []string, typed string) {
	t.Helper()
	given := slices.Clone(args)
	for i, a := range given {
		if a == "{}" {
			given[i] = typed
		}
	}
	c, rest, err := testRoot().Find(given)
	if err != nil {
		t.Errorf("nexus %q: %v", given, err)
		return
	}
	if !c.HasParent() {
		t.Errorf("nexus %q names no command", given)
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Errorf("nexus %q: %v", given, err)
		return
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		t.Errorf("nexus %q: %v", given, err)
	}
	if slices.Contains(args, "{}") && !slices.Contains(c.Flags().Args(), typed) && !holds(c, typed) {
		t.Errorf("nexus %q does not take what is typed", given)
	}
}

// holds reports whether a flag of a command was given a value.
func holds(c *cobra.Command, value string) bool {
	found := false
	c.Flags().Visit(func(f *pflag.Flag) { found = found || f.Value.String() == value })
	return found
}

// TestIDsAreNoFlags holds that what a run of elsewhere calls its tasks and questions
// is never read as a flag of a command.
func TestIDsAreNoFlags(t *testing.T) {
	p := projection.NewProjection("261126-101010-abc", projection.Options{})
	const task, question = nexus.TaskID("--tell=x"), "--plan=/etc/passwd"
	apply(
		t, p, nexus.GoalAccepted{Goal: nexus.Goal{Text: "g"}, Base: "b0"}, nexus.RunStarted{}, nexus.PlanProposed{Plan: "p", Tasks: 2},
		nexus.TaskPlanned{Task: nexus.Task{ID: task, Title: "t"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Title: "t"}}, nexus.PlanApproved{},
		nexus.TaskParked{Task: task, Why: "w"}, nexus.QuestionAsked{ID: question, Text: "?", Fallback: "no", Trigger: humaninput.SecurityTrigger},
	)
	seen := 0
	check := func(id string, all []projection.PersonAction) {
		for _, a := range all {
			if a.Refused != "" {
				continue
			}
			seen++
			c, rest, err := testRoot().Find(a.Args)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err != nil || !slices.Contains(c.Flags().Args(), id) {
				t.Errorf("%s: %q is not an argument of %q: %v", a.Name, id, a.Args, err)
			}
		}
	}
	check(question, p.ItemActions(question, start))
	check(string(task), p.ItemActions(string(task), start))
	check(string(task), p.TaskActions(task))
	if seen < 7 {
		t.Errorf("%d actions", seen)
	}
}

// TestEveryCommandIsReached holds that each command of the command line has a key on the
// whole screen, can be typed there, or says why not, and that it is given the run as it
// takes one.
func TestEveryCommandIsReached(t *testing.T) {
	ways := map[string]tui.CommandBinding{}
	for _, w := range tui.CommandBindings() {
		if _, twice := ways[w.Name]; twice {
			t.Errorf("%s is there twice", w.Name)
		}
		ways[w.Name] = w
		for _, key := range w.Keys {
			if !slices.Contains(tui.BindingNames(), key) {
				t.Errorf("%s: %s is the name of no key", w.Name, key)
			}
		}
		if (w.Why != "") != (w.How == tui.Unavailable || len(w.Not) > 0) {
			t.Errorf("%s: %q says why what is done is not, or nothing why it is not", w.Name, w.Why)
		}
	}
	for _, c := range testRoot().Commands() {
		w, there := ways[c.Name()]
		if c.Hidden {
			continue
		}
		if !there {
			t.Errorf("nexus %s: add it to CommandBindings in internal/face/tui/commandbindings.go, with a key, typed, or the reason for neither", c.Name())
		}
		delete(ways, c.Name())
		if flag := c.Flags().Lookup("run") != nil; w.How != tui.Unavailable && flag != (w.Run == tui.FlagRun) {
			t.Errorf("nexus %s takes --run: %v, and its row in CommandBindings (internal/face/tui/commandbindings.go) says %q", c.Use, flag, w.Run)
		}
		for _, name := range w.Not {
			if found, _, err := c.Find([]string{name}); err != nil || found == c {
				t.Errorf("nexus %s has no command %s", c.Name(), name)
			}
		}
	}
	delete(ways, "help") // it is none of its own
	for name := range ways {
		t.Errorf("there is no command %s", name)
	}
}
