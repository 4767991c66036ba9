// Package doctor checks the prerequisites of a run: all of them for nexus doctor, and the quick
// ones before every run, so that a run that cannot work is refused before anything is paid for.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/noticesetup"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/questionchannelsetup"
	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
)

// Options selects the checks.
type Options struct {
	Light bool // only checks that answer at once, without the network
	Run   bool // before a run: only checks that concern it
	Fix   bool // repair problems
	Yes   bool // repair without asking, also if that removes something

	Shown bool // each task of the plan has a command that verifies it

	Trust  func(dir string, book *trust.Store) error // reports whether the repository's settings are trusted
	Models func() error                              // reports whether the run's models are available; nil: check all
	Plan   func() error                              // reports whether a plan's tasks fit; nil if there is no plan
}

// inspection is one round of checks with its inputs, some of which may be missing.
type inspection struct {
	Options
	app   *console.Console
	place *app.Repository // nil if there is none
	conf  config.Config
	skip  []string
	all   []Check
}

// add adds checks, except those that are skipped.
func (l *inspection) add(checks ...Check) {
	for _, c := range checks {
		if !slices.Contains(l.skip, c.Name) {
			l.all = append(l.all, c)
		}
	}
}

// includesAny reports whether any of the named checks was requested.
func (l *inspection) includesAny(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(l.skip, name) })
}

// CheckAll runs all checks for a person, even if prerequisites are missing.
func CheckAll(ctx context.Context, a *console.Console, q Options) (InspectionReport, error) {
	settings, _, err := a.LoadSettings()
	first := []Check{checkOf("configuration", "readable", err)}
	if err != nil {
		settings, q.Trust = config.DefaultConfig(), nil // it reads the same files, and would report the same error
	}
	if e, ok := errors.AsType[*nexus.Error](tui.KeyBindings(settings.Keys).Check()); ok {
		first = append(first, Check{Name: "configuration", State: Notice, Detail: e.Message, Hint: e.Hint})
	}
	first = append(first, checkOf("git", "2.38 or newer", git.CheckGit(ctx)))
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		c := checkOf("repository", "", err)
		if e, ok := errors.AsType[*nexus.Error](err); ok && e.Code != nexus.CodeNotRepository && e.Code != nexus.CodeNoCommits {
			c.Name = "journal"
		}
		first = append(first, c)
		p = nil
	} else {
		defer p.Close()
	}
	l := &inspection{Options: q, app: a, place: p, conf: settings, skip: settings.Precheck.Skip}
	l.add(first...)
	return l.newReport(ctx), nil
}

// CheckBeforeRun checks the prerequisites of a run.
func CheckBeforeRun(ctx context.Context, a *console.Console, p *app.Repository, c config.Config, q Options) InspectionReport {
	l := &inspection{Options: q, app: a, place: p, conf: c, skip: c.Precheck.Skip}
	return l.newReport(ctx)
}

func (l *inspection) newReport(ctx context.Context) InspectionReport {
	l.add(l.checkKillSwitch()...)
	if l.place != nil {
		l.checkRepository(ctx)
		l.checkQuarantinedTests(ctx)
		l.checkMemory(ctx)
		l.checkJournal(ctx)
	}
	l.checkSandbox(ctx)
	if l.includesAny("disk") {
		l.add(checkDisk(l.app))
	}
	if c := l.conf.Channels; l.includesAny("channels") && len(c.Order) > 0 && !l.Run {
		state := ""
		if l.place != nil {
			state = l.place.State
		}
		l.add(checkOf("channels", strings.Join(c.Order, ", ")+": questions are sent even if you are at the terminal", questionchannelsetup.Check(&l.app.App, state, c)))
	}
	if c := l.conf.Notify; l.includesAny("notify") && len(c.Channels)+len(c.Rules) > 0 && !l.Run {
		ways := strings.Join(slices.Sorted(maps.Keys(c.Channels)), ", ")
		l.add(asNotice(checkOf("notify", ways+": nexus notify test tries them", noticesetup.Check(&l.app.App, c))))
	}
	l.checkModels(ctx)
	if l.Plan != nil {
		l.add(checkOf("plan", "its tasks fit", l.Plan()))
	}
	r := InspectionReport{OK: true, Strict: l.conf.Precheck.Strict, Light: l.Light, Skipped: l.skip, Checks: l.all}
	for _, c := range r.Checks {
		r.OK = r.OK && !r.isBlocking(c)
	}
	return r
}

// checkKillSwitch reports whether the kill switch prevents runs from starting.
func (l *inspection) checkKillSwitch() []Check {
	state := ""
	if l.place != nil {
		state = l.place.State
	}
	if err := l.app.KillSwitch(state).ErrIfActive(); err != nil {
		return []Check{checkOf("switch", "", err)}
	}
	return nil
}

// checkRepository checks the repository and the user's checkout.
func (l *inspection) checkRepository(ctx context.Context) {
	repo := l.place.Repo
	l.add(Check{Name: "repository", State: Fine, Detail: repo.Work})
	if _, err := changeeffects.HiddenFilesAt(ctx, repo, "HEAD"); err != nil {
		l.add(checkOf("nexusignore", "", err))
	}
	l.checkLFSFiles(ctx)
	if n, command, err := repo.CountMissingObjects(ctx, "HEAD"); n > 0 || err != nil {
		c := checkOf("objects", "", err)
		if err == nil {
			c.State, c.Detail = Blocker, fmt.Sprintf("this is a partial clone, and %s of the commit that a run starts from %s not on this machine", view.CountWithNoun(n, "file"), map[bool]string{true: "is", false: "are"}[n == 1])
			c.Hint = "Fetch what is missing: " + command
		}
		l.add(c)
	}
	if err := git.CheckBranchPrefix(ctx, repo, l.conf.Prefix); err != nil {
		l.add(checkOf("branches", "", err))
	}
	_, branch, err := repo.Head(ctx)
	switch {
	case err != nil:
		l.add(checkOf("branch", "", err))
	case l.conf.Target != "":
		_, err := l.place.ResolveTarget(ctx, l.conf.ProtectedBranches(), l.conf.Target)
		l.add(checkOf("target", l.conf.Target, err))
	case branch != "" && l.conf.Land:
		_, err := l.place.ResolveTarget(ctx, l.conf.ProtectedBranches(), branch)
		l.add(checkOf("target", branch, err))
	case branch == "" && l.conf.Land:
		l.add(Check{Name: "target", State: Notice, Detail: "no branch is checked out that --land could move", Hint: "Name one with --target, or leave out --land."})
	case branch == "":
		l.add(Check{Name: "branch", State: Notice, Detail: "detached head", Hint: "Results go to their own branch. To use --land, give --target."})
	}
	if name, mail := git.ReadUserIdentity(ctx, repo, l.app.Env); (name == "" || mail == "") && l.includesAny("identity") {
		l.add(Check{Name: "identity", State: Notice, Detail: "git has no identity for you: user.name or user.email is not set", Hint: "Set them with git config --global user.name NAME, and the same for user.email."})
	} else if !l.Run {
		l.add(Check{Name: "identity", State: Fine, Detail: name + " <" + mail + ">"})
	}
	if is := git.OperationInProgress(repo); is != "" {
		l.add(Check{Name: "operation", State: Notice, Detail: is + " is in progress in the checkout", Hint: "A run starts from the last commit. If the run should see the result, finish or abort the operation first."})
	}
	if l.includesAny("changes") {
		l.add(l.checkUncommitted(ctx)...)
	}
	if l.Trust != nil && l.includesAny("trust") {
		if err := l.Trust(repo.Work, l.app.TrustStore()); err != nil {
			l.add(checkOf("trust", "", err))
		}
	}
}

// checkLFSFiles names the git LFS files that a run sees as pointers, because their content is not on this
// machine or too big.
func (l *inspection) checkLFSFiles(ctx context.Context) {
	all, err := l.place.Repo.LFSFiles(ctx)
	if err != nil || len(all) == 0 {
		if err != nil {
			l.add(checkOf("lfs", "", err))
		}
		return
	}
	var gone, big []string
	for _, f := range all {
		switch {
		case f.TooBig:
			big = append(big, f.Path)
		case !f.Here && f.Size > 0:
			gone = append(gone, f.Path)
		}
	}
	const see = "a run and its gates see pointers in their place"
	if len(gone) > 0 {
		l.add(Check{
			Name: "lfs", State: Notice,
			Detail: fmt.Sprintf("git LFS keeps %s (%s) whose content is not on this machine: %s. Get it: %s", view.CountWithNoun(len(gone), "file"), firstFiles(gone), see, pullCommand(gone)),
			Hint:   pullCommand(gone),
		})
	}
	if len(big) > 0 {
		l.add(Check{
			Name: "lfs", State: Notice,
			Detail: fmt.Sprintf("git LFS keeps %s (%s) too big to put in place (%d MiB for a file, %d MiB for all): %s", view.CountWithNoun(len(big), "file"), firstFiles(big), git.MaxLFSFile>>20, git.MaxLFSTree>>20, see),
			Hint:   "Let a gate that reads them skip what is a pointer.",
		})
	}
	if len(gone)+len(big) == 0 && !l.Run {
		l.add(Check{Name: "lfs", State: Fine, Detail: view.CountWithNoun(len(all), "file") + " with content in place"})
	}
}

// pullCommand returns the command that downloads the content of files; of all files if there are
// many or their names have a meaning for git LFS.
func pullCommand(files []string) string {
	const most = 10
	if len(files) > most || slices.ContainsFunc(files, func(f string) bool { return strings.ContainsAny(f, "*?[]{}!,'\\") }) {
		return "git lfs pull"
	}
	include := strings.Join(files, ",")
	if strings.Trim(include, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/,") != "" {
		include = "'" + include + "'"
	}
	return "git lfs pull --include=" + include
}

// checkQuarantinedTests checks the quarantined tests, and, if there is time, their results in
// runs.
func (l *inspection) checkQuarantinedTests(ctx context.Context) {
	if !l.includesAny("quarantine") {
		return
	}
	var h flaky.TestResultHistory
	if l.place.Journal != nil && !l.Run && !l.Light {
		var err error
		if h, err = flaky.ReadTestHistory(l.place.Journal.Events(ctx, "", 0)); err != nil {
			return // the check of the journal reports this
		}
	}
	l.add(checkQuarantine(l.place.Repo.Work, flaky.DayOf(l.app.Now()), h)...)
}

// checkUncommitted reports the changes in the checkout that a run will not see.
func (l *inspection) checkUncommitted(ctx context.Context) []Check {
	c, err := git.FindUncommittedChanges(ctx, l.place.Repo)
	var words []string
	for _, part := range []struct {
		files []string
		is    string
	}{{c.Changed, "changed"}, {c.Staged, "staged"}, {c.New, "new"}} {
		if n := len(part.files); n > 0 {
			words = append(words, fmt.Sprintf("%s %s (%s)", view.CountWithNoun(n, "file"), part.is, firstFiles(part.files)))
		}
	}
	text := strings.Join(words, ", ") + ": runs do not see uncommitted changes"
	switch {
	case err != nil:
		text = "unknown: " + err.Error()
	case c.IsEmpty() && l.Run:
		return nil
	case c.IsEmpty():
		return []Check{{Name: "changes", State: Fine, Detail: "everything is committed"}}
	}
	return []Check{{Name: "changes", State: Notice, Detail: text, Hint: "Commit them if the run should build on them; precheck.skip = [\"changes\"] leaves this check out."}}
}

// firstFiles names the first of some files.
func firstFiles(files []string) string {
	const most = 3
	text := strings.Join(files[:min(len(files), most)], ", ")
	if len(files) > most {
		text += ", ..."
	}
	return text
}

// checkJournal checks the runs of the repository and their leftovers.
func (l *inspection) checkJournal(ctx context.Context) {
	runs, err := l.place.Runs(ctx)
	if err == nil && !l.Run && !l.Light && l.place.Journal != nil {
		err = verifyJournal(ctx, l.place)
	}
	if !l.Run || err != nil {
		l.add(checkOf("journal", view.CountWithNoun(len(runs), "run"), err))
	}
	if err != nil {
		return
	}
	for _, r := range runs {
		if r.Holder != nil {
			l.add(Check{
				Name: "runs", State: Notice, Detail: fmt.Sprintf("run %s is in progress, in process %d on %s", r.ID, r.Holder.PID, r.Holder.Host),
				Hint: "Both share the machine and the daily budget. Their results only meet on the target branch.",
			})
		}
	}
	if l.place.Journal != nil && !l.Run {
		l.add(l.checkAndFixLeftovers(ctx, runs)...)
	}
}

// wholeTime limits the time for reading the whole journal. After that, doctor reports that it did
// not finish.
const wholeTime = 2 * time.Minute

// verifyJournal verifies the whole journal and all data that it names, as `nexus journal verify`
// does.
func verifyJournal(ctx context.Context, p *app.Repository) error {
	slow := errors.New("it takes longer than " + wholeTime.String() + ": nexus journal verify reads it to the end")
	ctx, stop := context.WithTimeoutCause(ctx, wholeTime, slow)
	defer stop()
	r, err := p.Journal.Verify(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return &nexus.Error{
			Code: nexus.CodeStorage, Message: "not read to the end", Cause: context.Cause(ctx),
			Hint: "Run nexus journal verify when there is time.",
		}
	case err != nil:
		return err
	case r.Sound:
		return checkBlobs(ctx, p, r.Named)
	}
	lost, _ := p.Journal.EventsLostAfter(ctx, r.Events) // unreadable events are not counted
	words := ""
	for _, x := range lost {
		words += fmt.Sprintf(" It gives up %s of run %s.", view.CountWithNoun(x.Events, "event"), x.Run)
	}
	return &nexus.Error{
		Code: nexus.CodeJournalCorrupt, Message: "damaged: " + r.Why,
		Hint: fmt.Sprintf("The first %s are good. Keep them with nexus journal repair, or replace the journal with a backup: "+
			"nexus journal restore.%s", view.CountWithNoun(int(r.Events), "event"), words),
	}
}

// checkBlobs checks that the data named in events exists and is unchanged.
func checkBlobs(ctx context.Context, p *app.Repository, hashes []string) error {
	store, err := p.OpenBlobStore()
	if err != nil {
		return err
	}
	var bad []string
	for _, hash := range hashes {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the time is over: what was looked at is good
		}
		if _, err := store.Get(hash); err != nil {
			bad = append(bad, hash)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &nexus.Error{
		Code:    nexus.CodeJournalCorrupt,
		Message: fmt.Sprintf("%s that events name cannot be read, such as %.12s", view.CountWithNoun(len(bad), "blob"), bad[0]),
		Hint: "Get them from a backup: nexus journal restore. Without one, runs that name them cannot be resumed or shown in full; " +
			"nexus journal verify lists them.",
	}
}

// checkSandbox checks the sandbox of agents and gates, and the programs inside.
func (l *inspection) checkSandbox(ctx context.Context) {
	box, err := app.FindSandbox(ctx, l.conf)
	switch {
	case err != nil:
		l.add(checkOf("sandbox", "", err))
		return
	case !l.Run:
		l.add(checkBox(box), checkBounds(box), checkNetwork(l.app, box, l.conf.Network))
	}
	dir, err := l.app.WorkDir()
	if l.place != nil {
		dir = l.place.Repo.Work
	}
	if err == nil && l.includesAny("gates", "programs", "tests") {
		l.add(checkGates(ctx, box, app.WorkTreeRoot(dir), l.conf.Gates, l.Options)...)
	}
	if !l.Light && l.includesAny("ripgrep", "golangci-lint", "go", "environment") {
		l.add(checkTools(ctx, l.app, box, l.conf)...)
	}
	if err == nil && !l.Light && l.includesAny("code") {
		l.add(checkCode(app.WorkTreeRoot(dir), l.conf.Languages))
	}
	if !l.Light && l.includesAny("mcp") {
		l.add(checkServers(ctx, l.app, box)...)
	}
	if !l.Light && !l.Run && l.place != nil && l.includesAny("hooks") {
		l.add(checkHooks(ctx, l.app, l.place)...)
	}
	if !l.Light && !l.Run && l.place != nil && l.includesAny("plugins") {
		l.add(checkPlugins(ctx, l.app, l.place)...)
	}
}

// checkModels checks whether models are available.
func (l *inspection) checkModels(ctx context.Context) {
	switch {
	case l.Models != nil:
		if err := l.Models(); err != nil {
			l.add(checkOf("models", "", err))
		}
	case l.Light:
		l.add(checkModels(l.app, l.conf))
	case l.includesAny("key", "address", "prices", "provider", "models"):
		l.add(checkKeys(ctx, l.app, l.conf)...)
	}
}

// asNotice turns a blocking check into a notice: a run works without it.
func asNotice(c Check) Check {
	if c.State == Blocker {
		c.State = Notice
	}
	return c
}
