// Package notifycmd implements the command "nexus notify": it lists the channels, tests them, and
// prints the log.
package notifycmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/noticesetup"
	"github.com/nexus-ai-builder/nexus/internal/face/notify"
	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

// New returns the command with its subcommands.
func New(c *console.Console) *cobra.Command {
	return c.ParentCommand("notify", "set up and test notifications, and print those that were sent",
		NewList(c, nil), NewTest(c, nil), NewLog(c, nil))
}

// ListOptions are the options of nexus notify list.
type ListOptions struct {
	Console *console.Console
}

// NewList returns the command that lists the ways and rules. It calls run with the parsed options; nil
// runs the command.
func NewList(c *console.Console, run func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{Console: c}
	if run == nil {
		run = listChannels
	}
	command := c.Command("list [--json]", "list the ways to notify people, and the rules for each",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

// TestOptions are the options of nexus notify test.
type TestOptions struct {
	Console *console.Console
	Way     string // the only one to test; empty: all
}

// NewTest returns the command that sends test messages. It calls run with the parsed options; nil runs
// the command.
func NewTest(c *console.Console, run func(context.Context, *TestOptions) error) *cobra.Command {
	o := &TestOptions{Console: c}
	if run == nil {
		run = sendTestMessages
	}
	command := c.Command("test [WAY] [--json]", "send a test by each way, and print whether it was delivered",
		func(ctx context.Context, args []string) error {
			o.Way = console.FirstArg(args)
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, 1)
	c.JSONFlag(command)
	return command
}

// LogOptions are the options of nexus notify log.
type LogOptions struct {
	Console *console.Console
	Way     string // only messages sent by this way; empty: all
	Last    int    // number of messages
}

// NewLog returns the command that prints sent messages. It calls run with the parsed options; nil runs
// the command.
func NewLog(c *console.Console, run func(context.Context, *LogOptions) error) *cobra.Command {
	o := &LogOptions{Console: c}
	if run == nil {
		run = printLog
	}
	command := c.Command("log [--way WAY] [--last N] [--json]", "print the notifications that were sent, and those that failed",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Flags().StringVar(&o.Way, "way", "", "only notifications sent by this `WAY`")
	command.Flags().IntVar(&o.Last, "last", usualLog, "`N` last tries")
	console.SetFlagMinimum(command, "last", 1)
	c.JSONFlag(command)
	return command
}

// usualLog is the default number of printed log lines.
const usualLog = 20

// listedChannel is a channel in the JSON output of notify list.
type listedChannel struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	When    string `json:"when"`
	Problem string `json:"problem,omitzero"` // why it cannot work
}

// listedRule is a rule in the same output.
type listedRule struct {
	Name     string   `json:"name"`
	Kinds    []string `json:"kinds,omitempty"`
	Severity string   `json:"severity,omitzero"`
	Ways     []string `json:"ways,omitempty"`
}

// channelList is the JSON output of notify list.
type channelList struct {
	Ways    []listedChannel `json:"ways"`
	Rules   []listedRule    `json:"rules"`
	Quiet   string          `json:"quiet,omitzero"`
	Through string          `json:"through"`
}

func listChannels(_ context.Context, o *ListOptions) error {
	a := o.Console
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	c := settings.Notify
	if _, err := noticesetup.NoticeRules(c); err != nil {
		return err
	}
	l := channelList{Ways: []listedChannel{terminalChannel(a, c)}, Rules: []listedRule{}, Quiet: c.Quiet, Through: c.Through}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		w, err := noticesetup.NewDestination(&a.App, c, name)
		row := listedChannel{Name: name, Type: c.Channels[name].Type, When: w.Timing.String()}
		if err != nil {
			row.When, row.Problem = "never", err.Error()
		}
		l.Ways = append(l.Ways, row)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Rules)) {
		r := c.Rules[name]
		l.Rules = append(l.Rules, listedRule{name, r.Kinds, r.Severity, r.Ways})
	}
	return a.Answer(l, func(s view.OutputStyle) string { return drawList(s, l) })
}

// terminalChannel describes the terminal of a run.
func terminalChannel(a *console.Console, c config.NotificationSettings) listedChannel {
	l := listedChannel{Name: notify.TerminalName, Type: c.Terminal, When: "at once, about the run in that terminal"}
	switch c.Terminal {
	case "off":
		l.When = "never: notify.terminal is off"
	case "auto":
		l.Type = delivery.DetectTerminal(a.Env)
	}
	return l
}

func drawList(s view.OutputStyle, l channelList) string {
	var rows [][]string
	for _, w := range l.Ways {
		when := view.EscapeForTerminal(w.When)
		if w.Problem != "" {
			when = s.Bad("cannot work") + ": " + view.EscapeForTerminal(w.Problem)
		}
		rows = append(rows, []string{view.EscapeForTerminal(w.Name), view.EscapeForTerminal(w.Type), when})
	}
	var b strings.Builder
	b.WriteString(view.DrawTable(s, []string{"way", "type", "sends"}, rows))
	or := func(all []string, none string) string {
		if len(all) == 0 {
			return none
		}
		return view.EscapeForTerminal(strings.Join(all, ", "))
	}
	b.WriteString("\n")
	if len(l.Rules) == 0 {
		b.WriteString("no rules: every way gets everything\n")
	}
	for _, r := range l.Rules {
		fmt.Fprintf(&b, "rule %s: %s", view.EscapeForTerminal(r.Name), or(r.Kinds, "every kind"))
		if r.Severity != "" {
			fmt.Fprintf(&b, ", %s or worse", view.EscapeForTerminal(r.Severity))
		}
		fmt.Fprintf(&b, ": %s\n", or(r.Ways, "every way"))
	}
	if l.Quiet != "" {
		through := l.Through
		if through == "never" {
			through = "nothing"
		}
		fmt.Fprintf(&b, "quiet: %s; still sent: %s\n", view.EscapeForTerminal(l.Quiet), through)
	}
	return b.String()
}

// testedChannel is a channel in the JSON output of notify test.
type testedChannel struct {
	Way       string  `json:"way"`
	Delivered bool    `json:"delivered"`
	Why       string  `json:"why,omitzero"` // why it failed
	Hint      string  `json:"hint,omitzero"`
	Seconds   float64 `json:"seconds"`
}

func sendTestMessages(ctx context.Context, o *TestOptions) error {
	a := o.Console
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	c := settings.Notify
	names := slices.Sorted(maps.Keys(c.Channels))
	to := noticesetup.NewTerminalSender(a, c)
	if to != nil {
		names = append([]string{notify.TerminalName}, names...)
	}
	if o.Way != "" {
		if !slices.Contains(names, o.Way) {
			return app.NotFoundError("way", o.Way, "nexus notify list shows them; terminal is one where standard error is a terminal.")
		}
		names = []string{o.Way}
	}
	d, _ := noticesetup.NewNotifier(&a.App, p, c, a.Say) // each channel's problem is reported below
	results := []testedChannel{}
	for _, name := range names {
		s := to
		if name != notify.TerminalName {
			w, err := noticesetup.NewDestination(&a.App, c, name)
			if err != nil {
				results = append(results, failedTest(a, name, err))
				continue
			}
			s = w.Sender
		}
		began := a.Now()
		t := testedChannel{Way: name, Delivered: true}
		if err := s.Send(ctx, testMessage(d, began)); err != nil {
			t = failedTest(a, name, err)
		}
		t.Seconds = a.Now().Sub(began).Seconds()
		results = append(results, t)
	}
	if err := a.Answer(results, func(s view.OutputStyle) string { return drawTested(s, results) }); err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(t testedChannel) bool { return !t.Delivered }) {
		return console.ExitError(console.CodeFailed)
	}
	return nil
}

func failedTest(a *console.Console, name string, err error) testedChannel {
	f := a.Failure(err)
	return testedChannel{Way: name, Why: a.Mask.MaskText(f.Message), Hint: f.Hint}
}

// testMessage returns a test message.
func testMessage(d notify.Notifier, at time.Time) delivery.NoticeMessage {
	n := notice.Notice{
		ID: fmt.Sprintf("test/%d", at.UnixNano()), Run: "test", At: at.UTC(), Kind: notice.End, Severity: humaninput.Green,
		Title: "this is a test",
		Text:  "Nexus can notify you about your runs in this way.", Next: "nexus notify list",
	}
	return delivery.NoticeMessage{ID: n.ID, Place: d.Place, Link: d.Link, Test: true, Notices: []notice.Notice{n}}
}

func drawTested(s view.OutputStyle, all []testedChannel) string {
	if len(all) == 0 {
		return "no notifications are set up; docs/answer-and-share.md says how to add a way\n"
	}
	var b strings.Builder
	for _, t := range all {
		if t.Delivered {
			fmt.Fprintf(&b, "%s: %s, %.2f s\n", view.EscapeForTerminal(t.Way), s.Good("delivered"), t.Seconds)
			continue
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", view.EscapeForTerminal(t.Way), s.Bad("not delivered"), view.EscapeForTerminal(t.Why))
		if t.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", view.EscapeForTerminal(t.Hint))
		}
	}
	return b.String()
}

func printLog(ctx context.Context, o *LogOptions) error {
	a := o.Console
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	all, err := notify.ReadLog(noticesetup.StateDir(p.State), o.Way, o.Last)
	if err != nil {
		return err
	}
	return a.Answer(all, func(s view.OutputStyle) string { return drawLog(s, all) })
}

func drawLog(s view.OutputStyle, all []notify.DeliveryLogEntry) string {
	if len(all) == 0 {
		return "nothing was sent\n"
	}
	var rows [][]string
	for _, e := range all {
		result := s.Good(string(e.Result))
		if e.Result != notify.Sent {
			result = s.Bad(string(e.Result))
		}
		if e.Try > 1 {
			result += fmt.Sprintf(" (try %d)", e.Try)
		}
		about := view.EscapeForTerminal(e.Title)
		if e.Why != "" {
			about += ": " + view.EscapeForTerminal(e.Why)
		}
		at := e.At.Local().Format(time.DateTime)
		rows = append(rows, []string{at, view.EscapeForTerminal(e.Way), result, about})
	}
	return view.DrawTable(s, []string{"time", "way", "result", "message"}, rows)
}
