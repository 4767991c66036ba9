// Package improvecmd implements the command "nexus improve", which finds work in a repository and
// does it, in cycles. See docs/improve.md.
package improvecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/improveloopworker"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/trustcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/discover"
)

// Options are the options of the command.
type Options struct {
	Console    *console.Console
	Run        progress.RunCommandOptions // its seed, its traffic, and whether a person sees it
	Cycles     int                        // end after so many; 0: any number
	Strategies []string                   // empty: those of discover.strategies
	Budget     string                     // amount for all cycles; empty: improve.budget
	Until      string                     // when the loop ends, as improveloop.ParseEndCondition reads it
	Watch      string                     // what begins a cycle; empty: the end of the one before
	Status     bool                       // only show the state of the last loop
	Yes        bool                       // models of strategies may be paid without asking
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = improveRepository
	}
	var once bool
	const use = "improve [--once] [--strategies NAMES] [--budget USD] [--until WHEN] [--watch WHAT] [--status]"
	command := c.Command(use, "find work in the repository and do it, in a loop", func(ctx context.Context, _ []string) error {
		if once {
			o.Cycles = 1
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodePerson,
		console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(0, 0)
	f := command.Flags()
	f.BoolVar(&once, "once", false, "end after one cycle")
	f.IntVar(&o.Cycles, "max-cycles", 0, "end after `N` cycles; 0: any number")
	f.StringSliceVar(&o.Strategies, "strategies", nil, "use only the strategies `NAMES`, or all except those with - in front")
	f.StringVar(&o.Budget, "budget", "", "spend at most `USD`, over all cycles")
	f.StringVar(&o.Until, "until", "", "end at a time (18:00, 2026-12-24), after a time (90m, 7d), when nothing is left (empty),"+
		" or once N results landed (landed:N), as `WHEN`")
	f.StringVar(&o.Watch, "watch", "", "start a cycle when `WHAT` happens: files, commits, gate, or a schedule such as \"0 2 * * *\"")
	f.BoolVarP(&o.Yes, "yes", "y", false, "let strategies pay for a model in each cycle without asking")
	f.BoolVar(&o.Status, "status", false, "show the state of the loop")
	command.MarkFlagsMutuallyExclusive("once", "max-cycles")
	command.MarkFlagsMutuallyExclusive("once", "watch")
	c.SettingFlags(command, "preset", "approval", "parallel", "model", "sandbox", "target", "status-file")
	progress.OrderFlags(c, command, &o.Run)
	f.StringVar(&o.Run.Seed, "seed", "", "seed for names and waits, a whole `NUMBER`, to repeat a loop")
	return command
}

// improveRepository shows the state of the last loop, or runs a loop.
func improveRepository(ctx context.Context, o *Options) error {
	if o.Status {
		return showStatus(ctx, o.Console)
	}
	if done, err := progress.RunInChildProcess(o.Console); done {
		return err
	}
	return runLoop(ctx, o)
}

// runLoop runs a loop until it ends.
func runLoop(ctx context.Context, o *Options) error {
	a := o.Console
	if err := cmp.Or(o.Run.Check(), applyPreset(a, o.Budget)); err != nil {
		return err
	}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	loop, executor, err := readLoopOptions(settings, o)
	if err != nil {
		return err
	}
	if err := confirmModelCost(ctx, loop.Rules, o); err != nil {
		return err
	}
	if loop.Rules.Pulls {
		if executor.Forge, err = pullRequestProject(ctx, a); err != nil {
			return err
		}
	}
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	if !o.Run.Headless {
		if err := trustcmd.AskTrust(ctx, a); err != nil {
			return err
		}
	}
	executor.Follow = func() app.RunWatcher { return progress.NewBackgroundWatcher(ctx, a, p, settings) }
	loop.Hands = improveloopworker.NewLoopExecutor(&a.App, p, settings, executor)
	l, err := a.ImproveRepository(ctx, p, settings, loop)
	if l == nil {
		return err
	}
	if err != nil && !errors.Is(err, run.ErrInterrupted) {
		return err
	}
	if !o.Run.JSONL {
		if err := a.AnswerLoop(ctx, p, l, false); err != nil {
			return err
		}
	}
	switch {
	case app.IsKillSwitchStop(err):
		a.Say("%s", view.EscapeForTerminal(err.Error()))
		return console.ExitError(console.ErrorExitCode(nexus.CodeHalted))
	case err != nil:
		a.Say("interrupted; nothing is lost, continue with: nexus improve")
		return console.ExitError(console.CodeInterrupted)
	}
	return console.RunEndError(l.Status)
}

// applyPreset applies the preset of the command if the user chose no other, and copies the budget of
// all cycles into the settings.
func applyPreset(a *console.Console, budget string) error {
	if budget != "" {
		a.SetBy("improve.budget", budget, "budget")
	}
	_, origins, err := a.LoadSettings()
	if err != nil {
		return err
	}
	if origins.OriginOf("preset").Layer == config.LayerDefault {
		a.Set["preset"] = config.ImprovePreset
	}
	return nil
}

// How the loop rests without work, and what it leaves to people at once. The first rest is short because a
// look at an unchanged tree costs nothing; each is twice as long as the one before. One person reviews three
// branches in a sitting, and a fourth would grow out of date.
const (
	firstRest    = time.Second
	mostBranches = 3
)

// longestRest limits the pause between cycles without work: people see a fix of what they just wrote within
// a coffee break, and a look at an unchanged tree costs nothing.
const longestRest = 15 * time.Minute

// readLoopOptions parses the options of the command line.
func readLoopOptions(c config.Config, o *Options) (loop app.ImproveLoopOptions, h improveloopworker.Options, err error) {
	a := o.Console
	loop = app.ImproveLoopOptions{Seed: o.Run.Seed, Traffic: o.Run.Traffic}
	h = improveloopworker.Options{Seed: o.Run.Seed, Traffic: o.Run.Traffic}
	r := nexus.ImproveRules{
		Cycles: o.Cycles, Strategies: o.Strategies, Quiet: c.Improve.Quiet, Direct: !c.Limits.Approval.NeedsApproval(nexus.ApproveCommits),
		Budget: c.Improve.Budget, Item: c.Limits.RunMoney, Parallel: c.Limits.Parallel, Open: mostBranches, Waiting: c.Improve.Waiting,
		Pulls: c.Improve.Pulls && c.Limits.Approval.NeedsApproval(nexus.ApproveCommits), Lines: c.Improve.Lines,
		Rest: firstRest, MostRest: longestRest,
	}
	if r.Budget <= 0 || r.Item <= 0 {
		return loop, h, invalidInput("there is no budget", "Give --budget, or set improve.budget and budget.run: a loop does not start without one.")
	}
	if len(r.Strategies) == 0 {
		r.Strategies = c.Discover.Strategies
	}
	if _, err := discover.SelectStrategies(r.Strategies); err != nil {
		return loop, h, err
	}
	if o.Until != "" {
		end, err := improveloop.ParseEndCondition(o.Until, a.Now())
		if err != nil {
			return loop, h, invalidInput("--until: "+view.EscapeForTerminal(err.Error()),
				"Write a time (18:00, 2026-12-24 18:00), a duration (90m, 7d), empty, or landed:5.")
		}
		r.Until, r.Landings, r.Empty = end.At, end.Landings, end.Empty
	}
	if h.Quiet, err = improveloop.ParseWeeklyHours(r.Quiet); err != nil {
		return loop, h, &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "improve.quiet: " + view.EscapeForTerminal(err.Error()),
			Hint: "Write hours such as 09:00-18:00 Mon-Fri; separate several by semicolons.",
		}
	}
	if r.Watch = o.Watch; r.Watch != "" {
		if h.Due, err = parseSchedule(r.Watch); err != nil {
			return loop, h, err
		}
	}
	loop.Rules = r
	h.Find, h.Judge = newFinder(a, o.Run.Traffic), judgeCommit(a)
	loop.Begun = func(_ context.Context, id nexus.RunID, again bool) {
		progress.KeepRunningOnHangup(a, id)
		if verb := "begins"; !o.Run.JSONL {
			if again {
				verb = "continues"
			}
			a.Say("loop %s %s: at most %s, nexus stop ends it", id, verb, r.Budget)
		}
	}
	loop.Heard = newEventPrinter(a, o.Run.JSONL)
	return loop, h, nil
}

func invalidInput(why, hint string) error {
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: why, Hint: hint}
}

// confirmModelCost shows the cost of strategies that pay for a model, and asks for agreement. No cycle pays
// for model opinions without it.
func confirmModelCost(ctx context.Context, r nexus.ImproveRules, o *Options) error {
	a := o.Console
	var paid []string
	chosen, err := discover.SelectStrategies(r.Strategies)
	for _, s := range chosen {
		if s.Cost == discover.Model {
			paid = append(paid, s.Name)
		}
	}
	if err != nil || len(paid) == 0 {
		return err
	}
	a.Say("%s pays for a model in each cycle that finds something changed: at most %s each time, and within %s for all cycles",
		strings.Join(paid, ", "), r.Item, r.Budget)
	switch {
	case o.Yes:
		return nil
	case !a.HasPerson() || o.Run.Headless || o.Run.JSONL:
		return &nexus.Error{
			Code:    nexus.CodeNeedsPerson,
			Message: "nothing was started: there is no terminal to agree to the cost of " + strings.Join(paid, ", "),
			Hint:    "Give --yes, or run nexus discover --strategies " + paid[0] + " --add, and start items of the backlog.",
		}
	}
	answer, err := a.Keyboard().AskLine(ctx, "Continue? [y/N]: ")
	if err == nil && !nexus.IsYes(strings.TrimSpace(answer)) {
		err = &nexus.Error{Code: nexus.CodeNeedsPerson, Message: "nothing was started", Hint: "Leave it out: --strategies=-" + paid[0] + "."}
	}
	return err
}

// pullRequestProject returns the project in which pull requests are opened, or an error if that cannot work.
func pullRequestProject(ctx context.Context, a *console.Console) (*forge.IssueRef, error) {
	r, err := a.OriginForgeProject(ctx)
	if err != nil {
		return nil, err
	}
	if r.Token == "" {
		variable := map[forge.Kind]string{forge.GitHub: "GITHUB_TOKEN", forge.GitLab: "GITLAB_TOKEN"}[r.Kind]
		return nil, invalidInput(fmt.Sprintf("improve.pulls opens pull requests in %s, but there is no token", r.Web),
			"Set "+variable+" to a token that may write there, or improve.pulls to false.")
	}
	return &r, nil
}

// parseSchedule parses the trigger of a cycle: nil for a trigger that is not a time.
func parseSchedule(watch string) (func(time.Time) time.Time, error) {
	if slices.Contains([]string{improveloopworker.WatchFiles, improveloopworker.WatchCommits, improveloopworker.WatchGate}, watch) {
		return nil, nil //nolint:nilnil // something else begins it
	}
	if len(strings.Fields(watch)) < 2 && !strings.HasPrefix(watch, "@") {
		return nil, invalidInput(fmt.Sprintf("--watch: there is no %s to wait for", view.QuoteForTerminal(watch)),
			`Use files, commits, gate, or a schedule such as "0 2 * * *" (minute, hour, day, month, weekday).`)
	}
	s, err := cron.ParseStandard(watch)
	if every, is := strings.CutPrefix(watch, "@every "); is && err == nil {
		if d, _ := time.ParseDuration(every); d < time.Second { // cron would round it up to a second
			err = errors.New("the minimum is one second")
		}
	}
	if err != nil {
		return nil, invalidInput(fmt.Sprintf("--watch: %s is not a schedule: %s", view.QuoteForTerminal(watch), view.EscapeForTerminal(err.Error())),
			`Write minute, hour, day of month, month and weekday, such as "0 2 * * 1-5".`)
	}
	if s.Next(time.Unix(0, 0)).IsZero() {
		return nil, invalidInput(fmt.Sprintf("--watch: %s never occurs", view.QuoteForTerminal(watch)), `Write a day that exists, such as "0 2 * * 1-5".`)
	}
	return s.Next, nil
}

// newFinder returns the function that looks for work.
func newFinder(a *console.Console, traffic provider.TrafficRecordingOptions) func(context.Context, improveloopworker.FindingSearchRequest) (discover.Result, error) {
	quiet := a.Copy()
	return func(ctx context.Context, l improveloopworker.FindingSearchRequest) (discover.Result, error) {
		q := checkcmd.DiscoverySearch{At: l.At, Only: l.Only, Strategies: l.Strategies, Most: l.Most, Keep: l.Tell, Quiet: true, Traffic: traffic}
		if l.Only != "" {
			if _, err := discover.SelectStrategies(l.Strategies); err != nil {
				q.Strategies, q.Plugin = []string{"plugins"}, l.Strategies[0]
			}
		}
		return checkcmd.Discover(ctx, quiet, q)
	}
}

// judgeCommit returns the function that runs all gates on a commit.
func judgeCommit(a *console.Console) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, at string) ([]string, error) { return checkcmd.FailingGates(ctx, a, at) }
}

// newEventPrinter returns the function that prints events as they happen.
func newEventPrinter(a *console.Console, lines bool) func(nexus.Event) {
	return func(e nexus.Event) {
		if lines {
			a.ReportError(a.PrintEventJSON(e))
			return
		}
		switch e.Fact.(type) {
		case nexus.GoalAccepted, nexus.RunStarted, nexus.RunRecovered, nexus.RunResumed, nexus.RunEnded,
			nexus.LoopRulesSet, nexus.RequestSettled, nexus.CheckAfterLandingStarted:
			return
		default:
		}
		about, text := view.DescribeFact(e.Fact)
		if about != "" {
			text = about + ": " + text
		}
		a.Say("%s", view.EscapeForTerminal(text))
	}
}

// showStatus shows the state of the repository's last loop.
func showStatus(ctx context.Context, a *console.Console) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	return a.ShowLoop(ctx, p, "")
}
