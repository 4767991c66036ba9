// Package statuscmd implements the command "nexus status": it shows a run, or a task, an attempt or
// a session in it.
package statuscmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Form is what the command shows of a run.
type Form string

// The forms, by the flags that select them.
const (
	Overview Form = ""         // status, tasks, and what waits for a person
	Result   Form = "result"   // how the run ended, or stands, and the next steps
	Report   Form = "report"   // the whole report
	Evidence Form = "evidence" // criteria and the evidence for them
	Trace    Form = "trace"    // tasks, tests and commits of each requirement
	Health   Form = "health"   // the overview with measurements
	Raw      Form = "raw"      // requests of a session
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Name    string // run, task, attempt or session, or a spec to trace; empty: the run
	Form    Form
	Commit  string // evidence in the git note at this revision; empty: that in the journal

	Report ReportFormat
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = show
	}
	forms := map[Form]*bool{}
	const use = "status [RUN|TASK|ATTEMPT|SESSION] [--result|--report|--evidence|--trace|--health|--raw] [--run RUN] [flags]"
	command := c.Command(use, "show a run, or a task, an attempt or a session in it", func(ctx context.Context, args []string) error {
		o.Name = console.FirstArg(args)
		for form, given := range forms {
			if *given && o.Form != Raw { // a session has no other result
				o.Form = form
			}
		}
		if err := o.check(); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial)
	command.Args = console.ArgCount(0, 1)
	f := command.Flags()
	form := func(form Form, text string) { forms[form] = f.Bool(string(form), false, text) }
	form(Result, "show how the run ended, or stands, and what to do next")
	form(Report, "report on the run: landed work with evidence, open work, and cost")
	form(Evidence, "show which criteria the landed work meets, and the evidence; exit code 1 if one is unmet, 3 if one is unknown")
	form(Trace, "show which tasks, tests and commits each requirement of the run, or of a SPEC, led to; exit code 3 if there are gaps")
	form(Health, "also show what the run uses of the machine, when each attempt was last active, and failure rates")
	form(Raw, "for a session, print its requests as they were sent, one JSON object per line")
	f.StringVar(&o.Commit, "commit", "", "show the evidence that the git note at `REV` records about its tree: gates, commands, counts and review")
	o.Report.addFlags(f)
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("result", "report", "evidence", "trace", "health")
	command.MarkFlagsMutuallyExclusive("raw", "report", "evidence", "trace", "health")
	command.MarkFlagsMutuallyExclusive("json", "raw")
	command.MarkFlagsMutuallyExclusive("format", "json", "html", "md", "csv", "state")
	command.MarkFlagsMutuallyExclusive("html", "output")
	return command
}

// check completes the options, and returns an error about those that do not belong together.
func (o *Options) check() error {
	wrong := func(message, hint string) error {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
	}
	if o.Report.isSet() {
		if o.Form != Overview && o.Form != Report {
			return wrong("--format, --html, --md, --csv, --state and --output are about the report", "Leave out --"+string(o.Form)+".")
		}
		o.Form = Report
	}
	if o.Form == Report {
		if err := o.Report.choose(o.Console.JSON); err != nil {
			return err
		}
	}
	if o.Commit != "" {
		switch {
		case o.Form != Overview && o.Form != Evidence:
			return wrong("--commit is about evidence", "Leave out --"+string(o.Form)+".")
		case o.Name != "" || o.Run != "":
			return wrong("--commit and RUN cannot be combined", "Leave out the run.")
		}
		o.Form = Evidence
	}
	if o.Form == Raw && !strings.Contains(o.Name, "/") {
		return wrong("--raw needs a session", "Name a session, such as T1.1/coder.1; nexus status TASK lists them.")
	}
	return nil
}

// show shows what the options select.
func show(ctx context.Context, o *Options) error {
	switch {
	case o.Commit != "":
		return showCommitNote(ctx, o.Console, o.Commit)
	case o.Form == Trace:
		return showTrace(ctx, o)
	case (o.Form == Overview || o.Form == Health) && o.Name == "" && o.Run == "":
		if shown, err := showActiveLoop(ctx, o.Console); shown || err != nil {
			return err
		}
	}
	return o.Console.ReadSubject(ctx, o.Run, o.Name, func(p *app.Repository, s app.RunSubject) error {
		switch {
		case o.Form == Evidence:
			return showEvidence(ctx, o, p, s)
		case s.Session != "":
			return showSession(ctx, o, p, s)
		case s.Task != "" && (o.Form == Overview || o.Form == Result):
			return showTask(o.Console, p, s)
		case s.Task != "":
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "--" + string(o.Form) + " is about a whole run, and " + view.QuoteForTerminal(o.Name) + " is a part of one",
				Hint: "Leave out the name, or the flag.",
			}
		case o.Form == Report:
			return showReport(ctx, o, p, s)
		case o.Form == Result:
			return showResult(ctx, o.Console, p, s)
		}
		return showOverview(ctx, o, p, s)
	})
}

// showActiveLoop shows the improvement loop that is in progress, if there is one.
func showActiveLoop(ctx context.Context, a *console.Console) (shown bool, err error) {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil || p.Journal == nil {
		return false, nil // the search for a run reports it
	}
	defer p.Close()
	loop, err := p.LoopNamed(ctx, "")
	if err != nil || loop == "" {
		return false, nil // the same
	}
	return true, a.ShowLoop(ctx, p, loop)
}

// sessionTask returns the task of a session; "" for sessions of the run itself.
func sessionTask(s app.RunSubject) nexus.TaskID {
	name, _, _ := strings.Cut(string(s.Session), "/")
	if a := s.State.AttemptByID(nexus.AttemptID(name)); a != nil {
		return a.Task
	}
	return ""
}

// plannedTasks returns the tasks of a run's current plan.
func plannedTasks(s app.RunSubject) []nexus.Task {
	all := make([]nexus.Task, 0, len(s.State.Tasks))
	for _, t := range s.State.Tasks {
		all = append(all, t.Task)
	}
	return all
}
