package checkcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/discover"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// DiscoverySearch describes a search for work.
type DiscoverySearch struct {
	Strategies []string // empty: those of discover.strategies
	Plugin     string   // the only plugin to ask; empty: all
	Only       string   // ID of the only wanted finding; empty: all
	At         string   // commit or branch to search; empty: the last commit
	Fresh      bool     // ignore the cache
	Quiet      bool     // print no progress
	Traffic    provider.TrafficRecordingOptions

	Most  nexus.Money                                   // limit for models; 0: the limit of a run
	Keep  func(facts ...nexus.Fact) error               // records the cost of models; nil: not recorded
	Agree func(ctx context.Context, price string) error // asks whether a model may be paid; nil: agreed already
}

// patience is the time before a search prints progress.
const patience = time.Second

// findingAge is the longest age of cached findings. They are found again when files, programs or settings
// change; a day catches what none of these shows, such as a new advisory.
const findingAge = 24 * time.Hour

// Discover searches the last commit of the repository for work, and marks the finished items of
// the backlog. A plugin that does not answer is an error if it is named or required, and is
// otherwise reported.
func Discover(ctx context.Context, a *console.Console, q DiscoverySearch) (discover.Result, error) {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return discover.Result{}, err
	}
	defer p.Close()
	h := &discoveryRun{a: a, p: p, q: q}
	o, err := h.readOptions(ctx)
	if err != nil {
		return discover.Result{}, err
	}
	r, err := discover.RunStrategies(ctx, o)
	if err != nil {
		return r, err
	}
	if q.At != "" {
		return r, nil // only a search of the last commit marks items
	}
	return r, h.markDone(ctx, o, r)
}

// revision returns the commit to search.
func (q DiscoverySearch) revision() string { return cmp.Or(q.At, "HEAD") }

// discoveryRun is one search.
type discoveryRun struct {
	a        *console.Console
	p        *app.Repository
	q        DiscoverySearch
	settings config.Config
	commit   string // the searched commit
}

// readOptions returns the options of the search.
func (h *discoveryRun) readOptions(ctx context.Context) (o discover.Options, err error) {
	a, p := h.a, h.p
	if h.settings, _, err = a.LoadSettings(); err != nil {
		return o, err
	}
	h.commit, err = p.Repo.Resolve(ctx, h.q.revision())
	commit := h.commit
	if err != nil {
		return o, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the repository has no commit", Cause: err,
			Hint: "Commit something first.",
		}
	}
	tree, err := p.Repo.TreeID(ctx, commit)
	if err != nil {
		return o, err
	}
	items, wrong, err := a.BacklogStore(p).SyncItems(ctx, p.Record())
	if err != nil {
		return o, err
	}
	unread := map[string]string{}
	for _, w := range wrong {
		if unread[w.Finding] = w.File + ": " + w.Why; !h.q.Quiet {
			a.Say("%s", view.EscapeForTerminal(strings.TrimSpace("not read: "+w.File+": "+w.Why+". "+w.Hint)))
		}
	}
	list, err := gate.ReadQuarantineAt(ctx, p.Repo, commit)
	if err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}) {
		return o, err
	}
	begun := a.Now()
	o = discover.Options{
		Repo: p.Repo, Commit: commit, Tree: tree, State: p.State, Now: begun, Clock: a.Now, Path: a.Env("PATH"),
		Strategies: h.q.Strategies, Only: h.q.Only, Fresh: h.q.Fresh, Keep: findingAge,
		Settings: fmt.Sprintf("%v %s %v %s %s", h.settings.Gates, h.settings.Sandbox, h.settings.Policy.Show, h.settings.Limits.GateTime,
			installedFingerprint(p.Repo.Work)),
		Folder: discover.TaskFolder{Repo: p.Repo.Work, Dir: h.settings.Discover.Tasks},
		Rules: discoveredwork.BacklogDecisions{
			Items: items, Unread: unread, Quarantine: flaky.DatedQuarantine{List: list, Day: flaky.DayOf(begun)},
		},
		Open: h.openCheckout, OpenAt: h.openCheckoutAt, Issues: h.openIssues, Ideas: h.suggestIdeas, Plugins: h.askPlugins,
		Past: func(ctx context.Context) (discoveredwork.PastWorkRecord, error) {
			return app.PastWorkOnFindings(ctx, p.Journal)
		},
		Say: func(text string) {
			if !h.q.Quiet && a.Now().Sub(begun) >= patience {
				a.Say("%s", view.EscapeForTerminal(text))
			}
		},
	}
	if len(o.Strategies) == 0 {
		o.Strategies = h.settings.Discover.Strategies
	}
	if p.Journal == nil {
		return o, nil
	}
	runs, err := p.Runs(ctx)
	for _, r := range runs {
		o.RunsMark = fmt.Sprintf("%s %d", r.ID, r.Events)
	}
	o.Seen = func(ctx context.Context) ([]flaky.FlakyTest, error) {
		seen, err := flaky.ReadTestHistory(p.Journal.Events(ctx, "", 0))
		return seen.SuggestQuarantine(flaky.DatedQuarantine{}), err
	}
	return o, err
}

// openCheckout checks the commit out.
func (h *discoveryRun) openCheckout(ctx context.Context) (*discover.TreeCheckout, error) {
	return h.openCheckoutAt(ctx, h.commit)
}

// openCheckoutAt checks a commit out.
func (h *discoveryRun) openCheckoutAt(ctx context.Context, commit string) (*discover.TreeCheckout, error) {
	cache := gateCacheDir(h.a, h.p.State)
	x, err := checkOutTree(ctx, h.p, cache, commit)
	if err != nil {
		return nil, err
	}
	r, err := x.newRunner(ctx, h.a, h.p, cache, h.settings)
	if err != nil {
		x.done()
		return nil, err
	}
	if out := r.Net; out != nil {
		// A command that queries a registry about one file uses the egress rules of "outdated",
		// for every file.
		r.Net = func(name string) *egress.CommandNetworkAccess {
			kind, _, _ := strings.Cut(name, ": ")
			return out(kind)
		}
	}
	walled, asked := r.Box.Name() != string(sandbox.ModeOff), map[string]bool{}
	r.Reached = func(gate string, hosts []nexus.RequestedHost) error {
		asked[gate] = asked[gate] || len(hosts) > 0
		return nil
	}
	gates, err := detect.DetectGates(x.dir, h.settings.Gates)
	if err != nil {
		x.done()
		return nil, err
	}
	rules := app.CommandPolicyContext(h.settings, nexus.Planner)
	rules.Dir, rules.Open = x.dir, !walled
	allowed := func(command string) bool { return policy.JudgeCommand(command, rules).IsAllowed() }
	return &discover.TreeCheckout{
		Runner: withVirtualEnvPrograms(r, x.dir), Tree: gate.JudgedTreeDir{Dir: x.dir, Hash: x.hash}, Gates: gates, Close: x.done, Harmless: allowed,
		May:    func(command string) bool { return walled || allowed(command) },
		Silent: func(gate string) bool { return walled && !asked[gate] },
	}, nil
}

// FailingGates returns the gates that a commit fails.
func FailingGates(ctx context.Context, a *console.Console, at string) (red []string, err error) {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	h := &discoveryRun{a: a, p: p, q: DiscoverySearch{At: at, Quiet: true}, commit: at}
	if h.settings, _, err = a.LoadSettings(); err != nil {
		return nil, err
	}
	b, err := h.openCheckout(ctx)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	for _, g := range b.Gates {
		e, err := b.Runner.RunGate(ctx, b.Tree, g)
		if err != nil {
			return nil, err
		}
		if e.State == nexus.Fail {
			red = append(red, g.Name)
		}
	}
	return red, nil
}

// askPlugins asks the discovery plugins, or the named one.
func (h *discoveryRun) askPlugins(ctx context.Context, open func(context.Context) (*discover.TreeCheckout, error)) (all []discoveredwork.WorkFinding, err error) {
	host, err := h.a.DiscoveryHost(ctx, h.p, h.q.Plugin)
	if err != nil || len(host.Plugins) == 0 {
		return nil, err
	}
	b, err := open(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range host.Plugins {
		found, bad, err := discover.AskPluginForFindings(ctx, host, one, b.Tree.Dir)
		failed, plain := errors.AsType[*plugin.Error](err)
		switch {
		case plain && h.q.Plugin == "":
			h.a.Say("plugin %s is left out: it does not answer (%s): %s", one.Name, failed.State, view.EscapeForTerminal(failed.Why))
			continue
		case plain:
			return nil, plugin.UnansweredError(failed)
		case err != nil:
			return nil, err
		}
		for _, why := range bad {
			h.a.Say("plugin %s: %s; it is left out", one.Name, view.EscapeForTerminal(why))
		}
		all = append(all, found...)
	}
	return all, nil
}

// mostIssues limits the listed issues.
const mostIssues = 50

// openIssues lists the open issues of the project behind the remote origin.
func (h *discoveryRun) openIssues(ctx context.Context) ([]discover.OpenForgeIssue, string, error) {
	ref, err := h.a.OriginForgeProject(ctx)
	if err != nil {
		return nil, "", errors.New("the remote origin is not a project on a forge that Nexus knows")
	}
	listed, others, err := forge.Client{}.ListIssues(ctx, ref, mostIssues)
	if err != nil {
		return nil, "", errors.New(err.Error()) // it ends this strategy alone
	}
	var all []discover.OpenForgeIssue
	for _, l := range listed {
		all = append(all, discover.OpenForgeIssue{Number: l.Number, Title: h.a.Mask.MaskText(l.Title), Web: l.Web, Labels: l.Labels})
	}
	if others > 0 {
		return all, view.CountWithNoun(others, "issue") + " of people who do not belong to the project are left out", nil
	}
	return all, "", nil
}

// ideasFiles limits the files that a suggester is asked to read first.
const ideasFiles = 12

// suggestIdeas lets a model suggest improvements, and shows the price first.
func (h *discoveryRun) suggestIdeas(ctx context.Context, b *discover.TreeCheckout) ([]discoveredwork.WorkFinding, nexus.Money, error) {
	survey, err := codemap.SurveyCommit(ctx, h.p.Repo, h.commit, nil)
	if err != nil {
		return nil, 0, err
	}
	first, err := survey.MostRelevantFiles(ctx, codemap.ForCode, ideasFiles)
	if err != nil {
		return nil, 0, err
	}
	var names []string
	tokens := 0
	for _, f := range first {
		names, tokens = append(names, f.Path), tokens+f.Size/4
	}
	settings := h.settings
	if h.q.Most > 0 {
		settings.Limits.RunMoney = min(settings.Limits.RunMoney, h.q.Most)
	}
	session, ctx, err := h.a.OpenAdhocSessions(ctx, settings, nexus.Suggester, h.q.Traffic, nil)
	if err != nil {
		return nil, 0, err
	}
	defer session.Close(ctx)
	session.SetRecorder(h.q.Keep)
	model, err := session.PickModel("")
	if err != nil {
		return nil, 0, err
	}
	price := fmt.Sprintf("ideas asks %s, which reads about %s tokens: at most %s", model.Name, view.FormatNumber(int64(tokens)), settings.Limits.RunMoney)
	h.a.Say("%s", price)
	if h.q.Agree != nil {
		if err := h.q.Agree(ctx, price); err != nil {
			return nil, 0, err
		}
	}
	all, err := h.askModel(ctx, session, b, names)
	if spent := session.SpentMoney(); spent > 0 {
		h.a.Say("ideas cost %s", spent)
	}
	return all, session.SpentMoney(), err
}

// askModel asks a model for suggestions, and parses its answer.
func (h *discoveryRun) askModel(ctx context.Context, session *app.AdhocSessionRunner, b *discover.TreeCheckout, names []string) ([]discoveredwork.WorkFinding, error) {
	const id = nexus.SessionID("discover.1/suggester.1")
	said, err := session.Ask(ctx, app.AdhocSessionRequest{
		Session: id, Dir: b.Tree.Dir, Text: "Conversation: " + string(id) + "\n\n" + discover.IdeasTask(names), Handin: discover.IdeasSchema(),
	})
	switch {
	case err != nil:
		return nil, err
	case said.Outcome == nexus.Refused && h.q.Most > 0:
		return nil, errors.New(said.Why) // the loop continues without suggestions
	case said.Outcome == nexus.Refused:
		return nil, &nexus.Error{
			Code: nexus.CodeBudget, Message: said.Why,
			Hint: "Raise the limit: --budget, or budget.day for the whole day.",
		}
	case said.Outcome != nexus.Accepted || len(said.Handin) == 0:
		return nil, fmt.Errorf("the model suggested nothing: %s: %s", said.Outcome, said.Why)
	}
	return discover.ParseIdeas(said.Handin, func(file string) bool {
		info, err := os.Lstat(filepath.Join(b.Tree.Dir, filepath.FromSlash(file)))
		return filepath.IsLocal(file) && err == nil && info.Mode().IsRegular()
	})
}

// markDone marks the finished items of the backlog, and moves their files in the task folder.
func (h *discoveryRun) markDone(ctx context.Context, o discover.Options, r discover.Result) error {
	items, err := h.a.BacklogStore(h.p).MarkDone(ctx, r.Green, r.Commit)
	if err != nil {
		return err
	}
	for _, id := range r.Green {
		h.a.Say("%s is done: its check passes", id)
	}
	done, err := o.Folder.MoveToCompleted(items, o.Now)
	if len(done) > 0 {
		h.a.Say("moved to %s: %s", h.settings.Discover.Tasks+"/completed", strings.Join(done, ", "))
	}
	return err
}

// RecheckFinding returns the finding with an ID. Its check must fail.
func RecheckFinding(ctx context.Context, a *console.Console, id string) (discoveredwork.WorkFinding, error) {
	of, rest, ok := strings.Cut(id, "/")
	if !ok || of == "" || rest == "" {
		return discoveredwork.WorkFinding{}, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: view.QuoteForTerminal(id) + " is not the name of a finding",
			Hint: "Write an ID as nexus discover lists it, such as PLUGIN/ID.",
		}
	}
	q := DiscoverySearch{Strategies: []string{of}, Only: id}
	if _, err := discover.SelectStrategies(q.Strategies); err != nil {
		q = DiscoverySearch{Strategies: []string{"plugins"}, Plugin: of, Only: id}
	}
	r, err := Discover(ctx, a, q)
	if err != nil {
		return discoveredwork.WorkFinding{}, err
	}
	f, left, found := r.Find(id)
	switch {
	case !found:
		return discoveredwork.WorkFinding{}, app.NotFoundError("finding", id, "nexus discover lists them.")
	case left != nil:
		return f.WorkFinding, &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is nothing to do about %s: %s", view.QuoteForTerminal(id), left.ReasonText()),
			Hint: "nexus discover lists the findings.",
		}
	}
	return f.WorkFinding, nil
}
