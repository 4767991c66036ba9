// Package discovercmd implements the command "nexus discover", which lists work worth doing. See
// docs/improve.md.
package discovercmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/discover"
)

// discoveredFinding is one finding in the JSON output of `discover`.
type discoveredFinding struct {
	Name     string                        `json:"name"` // as --finding accepts it
	Strategy string                        `json:"strategy"`
	Kind     discoveredwork.WorkKind       `json:"kind"`
	Title    string                        `json:"title"`
	Reason   string                        `json:"reason"`
	Evidence string                        `json:"evidence,omitzero"`
	Severity nexus.Priority                `json:"severity"`
	Score    int                           `json:"score"`
	Reasons  []discoveredwork.RankReason   `json:"reasons"` // for the score
	Minutes  int                           `json:"minutes,omitzero"`
	Count    int                           `json:"count,omitzero"`
	Files    []string                      `json:"files,omitempty"`
	Places   []discoveredwork.FindingPlace `json:"places,omitempty"`
	Check    string                        `json:"check"`
	Red      bool                          `json:"red"` // its check fails: there is work to do
	State    nexus.GateState               `json:"state,omitzero"`
	Item     string                        `json:"item,omitzero"` // of the backlog
	Rule     discoveredwork.SkipReason     `json:"rule,omitzero"` // the reason why it is skipped
	Why      string                        `json:"why,omitzero"`  // the same in words
}

// discoverAnswer is the JSON output of `discover`.
type discoverAnswer struct {
	Commit     string                       `json:"commit"`
	Findings   []discoveredFinding          `json:"findings"`
	Left       int                          `json:"left"` // number of findings that --all would add
	Strategies []discover.StrategyRunReport `json:"strategies"`

	more int // findings beyond --most
	all  bool
}

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Search  checkcmd.DiscoverySearch
	IDs     []string // findings to list; empty: the first ones
	All     bool     // list skipped findings, too
	Add     bool     // add the listed findings to the backlog
	Yes     bool     // models may be paid without asking
	Most    int      // findings to list; 0: all
	Why     string   // ID of the finding to explain; empty: none
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = discoverFindings
	}
	const use = "discover [ID...] [--strategies NAMES] [--all] [--why ID] [--add] [--json]"
	command := c.Command(use, "list work worth doing in the repository", func(ctx context.Context, ids []string) error {
		o.IDs = ids
		if o.Search.Plugin != "" {
			o.Search.Strategies = []string{"plugins"}
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodeInterrupted)
	command.Args = console.ArgCount(0, -1)
	f := command.Flags()
	f.StringSliceVar(&o.Search.Strategies, "strategies", nil, "use only the strategies `NAMES`, or all except those with - in front")
	f.StringVar(&o.Search.Plugin, "plugin", "", "ask only the plugin `NAME`")
	f.BoolVar(&o.All, "all", false, "list all findings, including those that are left out, with the reason")
	f.IntVar(&o.Most, "most", 30, "list at most `N`; 0 lists all")
	f.StringVar(&o.Why, "why", "", "explain the finding `ID` and its score")
	f.BoolVar(&o.Add, "add", false, "add the listed findings to the backlog")
	f.BoolVarP(&o.Yes, "yes", "y", false, "let strategies pay for a model without asking")
	f.BoolVar(&o.Search.Fresh, "fresh", false, "run all strategies again, even if nothing has changed")
	command.MarkFlagsMutuallyExclusive("strategies", "plugin")
	command.MarkFlagsMutuallyExclusive("why", "add")
	c.JSONFlag(command)
	c.SettingFlags(command, "model", "budget", "sandbox")
	return command
}

// discoverFindings searches for work, and lists it.
func discoverFindings(ctx context.Context, o *Options) error {
	search := o.Search
	if o.Console.HasPerson() && !o.Yes && !o.Console.JSON {
		search.Agree = func(ctx context.Context, _ string) error { return askModelConsent(ctx, o.Console) }
	}
	r, err := checkcmd.Discover(ctx, o.Console, search)
	if err != nil {
		return err
	}
	items, err := o.backlogItems(ctx, r)
	if err != nil {
		return err
	}
	if o.Why != "" {
		return explainFinding(o.Console, r, items, o.Why)
	}
	list, err := o.newAnswer(r, items)
	if err != nil {
		return err
	}
	return o.Console.Answer(list, func(s view.OutputStyle) string { return drawDiscovered(s, list) })
}

// askModelConsent asks the person at the terminal whether a model may be paid.
func askModelConsent(ctx context.Context, a *console.Console) error {
	answer, err := a.Keyboard().AskLine(ctx, "Continue? [y/N]: ")
	if err == nil && !nexus.IsYes(strings.TrimSpace(answer)) {
		err = errors.New("no model was asked: you did not agree")
	}
	return err
}

// backlogItems returns the items of the backlog, including the ones to add.
func (o *Options) backlogItems(ctx context.Context, r discover.Result) ([]backlogitem.BacklogItem, error) {
	p, err := o.Console.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	store := o.Console.BacklogStore(p)
	all, _, err := store.LoadItems()
	if err != nil || !o.Add {
		return all, err
	}
	wanted, err := o.selectFindings(r)
	if err != nil {
		return nil, err
	}
	for _, one := range wanted {
		if _, ok := (discoveredwork.BacklogDecisions{Items: all}).BacklogItemOf(one.ID); ok {
			continue
		}
		item := one.ToItem()
		item.Added, item.By = o.Console.Now().Format(time.DateOnly), strings.Join(strings.Fields(o.Console.UserName()), " ")
		if item, err = store.AddItem(ctx, item); err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, nil
}

// selectFindings returns the listed findings: those with these IDs, or the first ones.
func (o *Options) selectFindings(r discover.Result) ([]discoveredwork.RankedFinding, error) {
	if len(o.IDs) == 0 {
		if o.Most > 0 {
			return r.Open[:min(len(r.Open), o.Most)], nil
		}
		return r.Open, nil
	}
	var all []discoveredwork.RankedFinding
	for _, id := range o.IDs {
		one, left, ok := r.Find(id)
		switch {
		case !ok:
			return nil, findingNotFound(id)
		case left != nil && o.Add:
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s was not added to the backlog: %s", id, left.ReasonText()),
				Hint: "nexus discover lists the findings.",
			}
		case left == nil:
			all = append(all, one)
		}
	}
	return all, nil
}

func findingNotFound(id string) error {
	return app.NotFoundError("finding", id, "nexus discover lists them; one that was fixed is gone.")
}

// newAnswer builds the answer.
func (o *Options) newAnswer(r discover.Result, items []backlogitem.BacklogItem) (discoverAnswer, error) {
	out := discoverAnswer{Commit: r.Commit, Findings: []discoveredFinding{}, Left: len(r.Left), Strategies: r.Did, all: o.All}
	open, err := o.selectFindings(r)
	if err != nil {
		return out, err
	}
	for _, one := range open {
		out.Findings = append(out.Findings, discoveredOf(one, nil, items))
	}
	if len(o.IDs) == 0 {
		out.more = len(r.Open) - len(open)
	}
	for i := range r.Left {
		if o.All || slices.Contains(o.IDs, r.Left[i].ID) {
			out.Findings = append(out.Findings, discoveredOf(r.Left[i].RankedFinding, &r.Left[i], items))
		}
	}
	return out, nil
}

// discoveredOf returns the output form of a finding.
func discoveredOf(f discoveredwork.RankedFinding, left *discoveredwork.SkippedFinding, items []backlogitem.BacklogItem) discoveredFinding {
	d := discoveredFinding{
		Name: f.ID, Strategy: f.Strategy, Kind: f.Kind, Title: f.Title, Reason: f.Why, Evidence: f.Evidence, Severity: f.Severity,
		Score: f.Score, Reasons: f.Reasons, Minutes: f.Minutes, Count: f.Count, Files: f.FilePaths(), Places: f.Places, Check: f.Check,
		Red: f.IsRed(), State: f.State,
	}
	if d.Severity == "" {
		d.Severity = nexus.PriorityMedium
	}
	if left != nil {
		d.Rule, d.Why = left.Rule, left.Say
	}
	if i, ok := (discoveredwork.BacklogDecisions{Items: items}).BacklogItemOf(f.ID); ok {
		d.Item = i.ID
	}
	return d
}

// drawDiscovered draws findings, failures of strategies, and the number of omitted findings.
func drawDiscovered(s view.OutputStyle, a discoverAnswer) string {
	var b strings.Builder
	if len(a.Findings) > 0 {
		rows := make([][]string, len(a.Findings))
		for i, d := range a.Findings {
			size := ""
			if d.Minutes > 0 {
				size = fmt.Sprintf("%d min", d.Minutes)
			}
			rows[i] = []string{strconv.Itoa(d.Score), string(d.Severity), view.EscapeForTerminal(d.Name), size, view.EscapeForTerminal(findingText(d))}
		}
		b.WriteString(view.DrawTable(s, []string{"score", "severity", "id", "size", "what"}, rows))
	}
	if a.more > 0 {
		fmt.Fprintf(&b, "%s more; --most 0 lists all\n", view.CountWithNoun(a.more, "finding"))
	}
	kept := false
	for _, d := range a.Strategies {
		b.WriteString(drawStrategyProblem(s, d, a.all))
		kept = kept || d.State == discover.Cached && len(d.Notes) > 0
	}
	if kept {
		b.WriteString("results that could not be checked again are from before; --fresh runs everything again\n")
	}
	switch {
	case len(a.Findings) == 0:
		b.WriteString("nothing was found")
		if a.Left > 0 {
			fmt.Fprintf(&b, "; %s left out, nexus discover --all says why", view.CountWithNoun(a.Left, "finding"))
		}
		b.WriteString("\n")
	default:
		if a.Left > 0 && !a.all {
			fmt.Fprintf(&b, "%s left out, nexus discover --all says why\n", view.CountWithNoun(a.Left, "finding"))
		}
		fmt.Fprintf(&b, "to work on one: nexus run --finding %s\n", view.EscapeForTerminal(a.Findings[0].Name))
	}
	return b.String()
}

// skipReason returns the reason why a finding is skipped.
func (d discoveredFinding) skipReason() string { return string(d.Rule) + ": " + d.Why }

// findingText describes a finding and its next step.
func findingText(d discoveredFinding) string {
	switch {
	case d.Rule != "":
		return fmt.Sprintf("%s (%s)", d.Title, d.skipReason())
	case d.Item != "":
		return fmt.Sprintf("%s (item %s)", d.Title, d.Item)
	case d.Check == "":
		return d.Title + " (no check)"
	}
	return d.Title
}

// drawStrategyProblem draws the facts about a strategy that people must know: that it was skipped, or ran
// only in part. With all, it draws the report of each strategy.
func drawStrategyProblem(s view.OutputStyle, d discover.StrategyRunReport, all bool) string {
	var b strings.Builder
	if d.State == discover.Broke {
		fmt.Fprintf(&b, "%s %s\n", s.Bad(d.Strategy+" failed:"), view.EscapeForTerminal(d.Why))
	} else if all {
		fmt.Fprintf(&b, "%s: %s in %s, %s", d.Strategy, d.State, d.Took.Round(time.Millisecond), view.CountWithNoun(d.Found, "finding"))
		if d.Why != "" {
			b.WriteString(": " + view.EscapeForTerminal(d.Why))
		}
		b.WriteString("\n")
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "%s %s\n", s.Warn(d.Strategy+":"), view.EscapeForTerminal(n))
	}
	if d.More > 0 {
		fmt.Fprintf(&b, "%s: %s above the limit are left out\n", d.Strategy, view.CountWithNoun(d.More, "finding"))
	}
	return b.String()
}

// explainFinding prints all details of one finding.
func explainFinding(a *console.Console, r discover.Result, items []backlogitem.BacklogItem, id string) error {
	f, left, ok := r.Find(id)
	if !ok {
		return findingNotFound(id)
	}
	d := discoveredOf(f, left, items)
	return a.Answer(d, func(s view.OutputStyle) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s\n", s.Bold(view.EscapeForTerminal(d.Name)), view.EscapeForTerminal(d.Title))
		fmt.Fprintf(&b, "  reason: %s\n", view.EscapeForTerminal(d.Reason))
		if d.Minutes > 0 {
			fmt.Fprintf(&b, "  size: about %s\n", view.CountWithNoun(d.Minutes, "minute"))
		}
		for _, p := range d.Places {
			fmt.Fprintf(&b, "  where: %s\n", view.EscapeForTerminal(p.String()))
		}
		for line := range strings.Lines(d.Evidence) {
			fmt.Fprintf(&b, "  | %s\n", view.EscapeForTerminal(strings.TrimRight(line, "\n")))
		}
		if d.Check == "" {
			b.WriteString("  check: none; there is no command that shows when it is done\n")
		} else {
			fmt.Fprintf(&b, "  check: %s\n  state of the check: %s\n", view.EscapeForTerminal(d.Check), d.State)
		}
		fmt.Fprintf(&b, "  score: %d\n", d.Score)
		for _, why := range d.Reasons {
			fmt.Fprintf(&b, "    %+5d %s\n", why.Points, view.EscapeForTerminal(why.Why))
		}
		if d.Item != "" {
			fmt.Fprintf(&b, "  in the backlog: %s\n", d.Item)
		}
		if d.Why != "" {
			fmt.Fprintf(&b, "  %s\n", s.Warn(view.EscapeForTerminal(d.skipReason())))
		}
		return b.String()
	})
}
