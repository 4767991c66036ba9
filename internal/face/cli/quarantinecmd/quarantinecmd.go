// Package quarantinecmd implements the commands "nexus quarantine": the record of tests whose
// failures do not count for a while.
package quarantinecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// New returns the command.
func New(c *console.Console) *cobra.Command {
	return c.ParentCommand("quarantine", "ignore failures of unreliable tests for a limited time",
		NewList(c, nil), NewAdd(c, nil), NewRemove(c, nil), NewSuggest(c, nil))
}

// ListOptions are the options of nexus quarantine list.
type ListOptions struct {
	Console *console.Console
}

// NewList returns the command that lists the quarantined tests. It calls run with the parsed
// options; nil runs the command.
func NewList(c *console.Console, run func(context.Context, *ListOptions) error) *cobra.Command {
	if run == nil {
		run = listEntries
	}
	command := c.Command("list [--json]", "list the quarantined tests and how often each failed since", func(ctx context.Context, _ []string) error {
		return run(ctx, &ListOptions{Console: c})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

func listEntries(ctx context.Context, o *ListOptions) error {
	dir, err := repoTop(o.Console)
	if err != nil {
		return err
	}
	list, err := gate.ReadQuarantineIn(dir)
	if err != nil {
		return err
	}
	rows, err := entryRows(ctx, o.Console, dir, list)
	if err != nil {
		return err
	}
	return o.Console.Answer(map[string][]quarantineRow{"tests": rows}, func(s view.OutputStyle) string { return drawEntries(s, rows) })
}

// quarantineRow is an entry with its state.
type quarantineRow struct {
	flaky.QuarantineEntry
	State  string `json:"state"`         // active, expired or not begun
	Why    string `json:"why,omitzero"`  // a remark about it
	Judged int    `json:"judged"`        // results of its gate since it began, in runs here
	Red    int    `json:"red,omitempty"` // of those, how often it failed
}

// repoTop returns the directory that contains the record.
func repoTop(a *console.Console) (string, error) {
	dir, err := a.WorkDir()
	return app.WorkTreeRoot(dir), err
}

// entryRows returns the state of each entry.
func entryRows(ctx context.Context, a *console.Console, dir string, list flaky.QuarantineList) ([]quarantineRow, error) {
	today := flaky.DayOf(a.Now())
	h, err := flakyHistory(ctx, a)
	if err != nil {
		return nil, err
	}
	there := gate.TestLookupIn(dir)
	rows := make([]quarantineRow, len(list))
	for i, e := range list {
		r := quarantineRow{QuarantineEntry: e, State: "active"}
		r.Judged, r.Red = h.CountJudgedSince(e)
		switch {
		case e.IsExpired(today):
			r.State, r.Why = "expired", "its failure counts again"
		case !e.IsActive(today):
			r.State = "to come"
		case !there(e.Test):
			r.Why = "no test has that name"
		case r.Judged >= flaky.Enough && r.Red == 0:
			r.Why = fmt.Sprintf("it has not failed in %d runs of its gate: it may be fixed", r.Judged)
		}
		rows[i] = r
	}
	return rows, nil
}

func drawEntries(s view.OutputStyle, rows []quarantineRow) string {
	if len(rows) == 0 {
		return "no test is in quarantine\n"
	}
	lines := make([][]string, len(rows))
	for i, r := range rows {
		state := s.Good(r.State)
		if r.State != "active" || r.Why != "" {
			state = s.Warn(r.State)
		}
		lines[i] = []string{state, view.EscapeForTerminal(r.Test), view.EscapeForTerminal(r.Gate), view.EscapeForTerminal(r.NoteText()), fmt.Sprintf("%d of %d", r.Red, r.Judged), r.Why}
	}
	return view.DrawTable(s, []string{"state", "test", "gate", "until, and why", "failed", "note"}, lines)
}

// flakyHistory returns the test results of all runs in this repository; none without a journal.
func flakyHistory(ctx context.Context, a *console.Console) (flaky.TestResultHistory, error) {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotRepository}) || errors.Is(err, &nexus.Error{Code: nexus.CodeNoCommits}) {
		return flaky.TestResultHistory{}, nil
	}
	if err != nil {
		return flaky.TestResultHistory{}, err
	}
	defer p.Close()
	if p.Journal == nil {
		return flaky.TestResultHistory{}, nil
	}
	return flaky.ReadTestHistory(p.Journal.Events(ctx, "", 0))
}

// AddOptions are the options of nexus quarantine add.
type AddOptions struct {
	Console *console.Console
	Entry   flaky.QuarantineEntry
}

// NewAdd returns the command that quarantines a test. It calls run with the parsed options; nil runs
// the command.
func NewAdd(c *console.Console, run func(context.Context, *AddOptions) error) *cobra.Command {
	o := &AddOptions{Console: c}
	if run == nil {
		run = addEntry
	}
	var until string
	var days int
	command := c.Command("add TEST --why REASON (--days N | --until DAY) [flags]", "quarantine a test", func(ctx context.Context, args []string) error {
		o.Entry.Test = args[0]
		if err := fillPeriod(&o.Entry, flaky.DayOf(c.Now()), days, until); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	f := command.Flags()
	f.StringVar(&o.Entry.Reason, "why", "", "`REASON` why its failure should not count")
	f.IntVar(&days, "days", 0, "quarantine it for `N` days from today, at most 90")
	f.StringVar(&until, "until", "", "quarantine it until the end of `DAY`, such as 2006-01-02, at most 90 days from now")
	f.StringVar(&o.Entry.Gate, "gate", "", "only for this `GATE`; the default is every gate that runs tests")
	f.StringVar(&o.Entry.Owner, "owner", "", "`WHO` fixes the test")
	f.StringVar(&o.Entry.Issue, "issue", "", "`WHERE` the fix is tracked")
	command.MarkFlagsMutuallyExclusive("days", "until")
	c.JSONFlag(command)
	return command
}

// fillPeriod fills in the first and the last day of an entry.
func fillPeriod(e *flaky.QuarantineEntry, today flaky.QuarantineDay, days int, until string) error {
	e.Reason, e.Since, e.Until = strings.TrimSpace(e.Reason), today, today.AddDays(days)
	if until != "" {
		if err := e.Until.UnmarshalText([]byte(until)); err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "invalid --until " + view.QuoteForTerminal(until),
				Hint: "Give a date such as 2006-01-02.",
			}
		}
	}
	if e.Reason == "" || days <= 0 && until == "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "quarantine needs a reason and an end date",
			Hint: "Give --why, and --days N or --until DAY, at most 90 days from now.",
		}
	}
	return nil
}

func addEntry(_ context.Context, o *AddOptions) error {
	if err := editQuarantine(o.Console, func(data []byte) ([]byte, error) { return flaky.AddQuarantineEntry(data, o.Entry) }); err != nil {
		return err
	}
	return o.Console.Answer(o.Entry, func(view.OutputStyle) string {
		return view.EscapeForTerminal(o.Entry.Test) + " is in quarantine " + view.EscapeForTerminal(o.Entry.NoteText()) + "\nCommit " + flaky.QuarantineFile + " to apply it in runs and for others.\n"
	})
}

// RemoveOptions are the options of nexus quarantine remove.
type RemoveOptions struct {
	Console *console.Console
	Test    string
	Gate    string // remove only the entry for it; empty: all
}

// NewRemove returns the command that removes a test from quarantine. It calls run with the parsed
// options; nil runs the command.
func NewRemove(c *console.Console, run func(context.Context, *RemoveOptions) error) *cobra.Command {
	o := &RemoveOptions{Console: c}
	if run == nil {
		run = removeEntry
	}
	const use, short = "remove TEST [--gate GATE] [--json]", "remove a test from quarantine: its failure counts again"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		o.Test = args[0]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.Flags().StringVar(&o.Gate, "gate", "", "remove only the entry for this `GATE`")
	c.JSONFlag(command)
	return command
}

func removeEntry(_ context.Context, o *RemoveOptions) error {
	n := 0
	err := editQuarantine(o.Console, func(data []byte) ([]byte, error) {
		kept, gone, err := flaky.RemoveQuarantineEntries(data, o.Test, o.Gate)
		if n = gone; err == nil && n == 0 {
			err = app.NotFoundError("test in quarantine called", o.Test, "nexus quarantine list names them.")
		}
		return kept, err
	})
	if err != nil {
		return err
	}
	return o.Console.Answer(map[string]any{"test": o.Test, "removed": n}, func(view.OutputStyle) string { return view.EscapeForTerminal(o.Test) + " counts again\n" })
}

// editQuarantine rewrites the record. It is refused inside a sandbox, because the agents whose work the
// record affects run there.
func editQuarantine(a *console.Console, change func([]byte) ([]byte, error)) error {
	if a.Env(sandbox.Mark) != "" {
		return &nexus.Error{
			Code: nexus.CodeForbidden, Message: "agents may not edit the quarantine list",
			Hint: "Name the unreliable test in the submission, and why.",
		}
	}
	dir, err := repoTop(a)
	if err != nil {
		return err
	}
	data, err := gate.ReadQuarantine(dir)
	if err != nil {
		return err
	}
	now, err := change(data)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer func() { _ = root.Close() }() // the file was closed separately
		err = root.MkdirAll(filepath.Dir(flaky.QuarantineFile), 0o755)
	}
	if err == nil {
		err = root.WriteFile(flaky.QuarantineFile, now, 0o644)
	}
	if err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "write " + flaky.QuarantineFile, Cause: err,
			Hint: "It must be a writable file in the repository.",
		}
	}
	return nil
}

// SuggestOptions are the options of nexus quarantine suggest.
type SuggestOptions struct {
	Console *console.Console
}

// NewSuggest returns the command that lists flaky tests. It calls run with the parsed options; nil
// runs the command.
func NewSuggest(c *console.Console, run func(context.Context, *SuggestOptions) error) *cobra.Command {
	if run == nil {
		run = suggestEntries
	}
	command := c.Command("suggest [--json]", "list the tests that were flaky in runs here, with the evidence", func(ctx context.Context, _ []string) error {
		return run(ctx, &SuggestOptions{Console: c})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

func suggestEntries(ctx context.Context, o *SuggestOptions) error {
	dir, err := repoTop(o.Console)
	if err != nil {
		return err
	}
	list, err := gate.ReadQuarantineIn(dir)
	if err != nil {
		return err
	}
	h, err := flakyHistory(ctx, o.Console)
	if err != nil {
		return err
	}
	seen := h.SuggestQuarantine(flaky.DatedQuarantine{List: list, Day: flaky.DayOf(o.Console.Now())})
	return o.Console.Answer(map[string][]flaky.FlakyTest{"tests": append([]flaky.FlakyTest{}, seen...)}, func(s view.OutputStyle) string { return drawSuggestions(s, seen) })
}

// drawSuggestions draws the candidates for quarantine, with the commands for adding them.
func drawSuggestions(s view.OutputStyle, seen []flaky.FlakyTest) string {
	if len(seen) == 0 {
		return "no flaky tests outside quarantine in runs here\n"
	}
	var b strings.Builder
	for _, x := range seen {
		runs := make([]string, len(x.In))
		for i, id := range x.In {
			runs[i] = string(id)
		}
		fmt.Fprintf(&b, "%s\n", s.Bold(view.EscapeForTerminal(x.Test)))
		fmt.Fprintf(&b, "  failed in %d of %d runs of it; flaky in %d of %d runs of the gate %s, last on %s\n", x.Failed, x.Runs, x.Times, x.Judged, view.EscapeForTerminal(x.Gate), x.Last.UTC().Format("2006-01-02"))
		fmt.Fprintf(&b, "  in %s\n", strings.Join(runs, ", "))
		fmt.Fprintf(&b, "  %s\n", s.Dim(fmt.Sprintf("nexus quarantine add %s --gate %s --days 14 --why '...'", shellWord(x.Test), shellWord(x.Gate))))
	}
	return b.String()
}

// shellWord quotes a name for a shell.
func shellWord(text string) string {
	return "'" + strings.ReplaceAll(view.EscapeForTerminal(text), "'", `'\''`) + "'"
}
