package speccmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/traceability"
)

// repoRoadmap is the roadmap of a repository's checkout, with the data that its progress is computed from.
type repoRoadmap struct {
	spec.Roadmap

	console  *console.Console
	settings config.Config
	place    *app.Repository
	top      string // directory that contains the file
	facts    traceability.MilestoneFacts
}

// openRoadmap reads the roadmap, which is empty if there is no file, and the runs. The caller closes
// the repository.
func openRoadmap(ctx context.Context, a *console.Console) (*repoRoadmap, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	dir, err := a.WorkDir()
	r := &repoRoadmap{console: a, settings: settings, place: p, top: app.WorkTreeRoot(dir)}
	if err == nil {
		err = r.readFile()
	}
	if err == nil && len(r.Milestones) > 0 {
		err = r.readFacts(ctx)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return r, nil
}

func (r *repoRoadmap) readFile() error {
	text, err := os.ReadFile(filepath.Join(r.top, spec.RoadmapFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the roadmap", Cause: err, Hint: "Make " + spec.RoadmapFile + " readable."}
	}
	var problems []spec.TextProblem
	r.Roadmap, problems = spec.ReadRoadmap(text)
	return problemError("the roadmap "+spec.RoadmapFile, "Correct these lines; docs/plan-and-approve.md shows a roadmap.", problems)
}

// readFacts fills in the data that the progress of milestones is computed from, except the results of
// their checks.
func (r *repoRoadmap) readFacts(ctx context.Context) (err error) {
	k := &r.facts
	if k.Branch, k.Commit, err = r.branchTip(ctx); err != nil {
		return err
	}
	if k.Specs, err = r.readSpecs(); err != nil {
		return err
	}
	lands, err := r.landedPredicate(ctx, k.Commit)
	if err != nil {
		return err
	}
	k.Past, err = PastRuns(ctx, r.place, lands)
	return err
}

// branchTip returns the branch on which milestones are reached, and its last commit.
func (r *repoRoadmap) branchTip(ctx context.Context) (branch, commit string, err error) {
	if r.settings.Target == "" {
		if commit, branch, err = r.place.Repo.Head(ctx); err == nil && branch == "" {
			err = &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no branch is checked out", Hint: "Name the branch that milestones are compared with: --target.",
			}
		}
		return branch, commit, err
	}
	if branch, err = r.place.ResolveTarget(ctx, nil, r.settings.Target); err != nil {
		return "", "", err
	}
	commit, err = r.place.Repo.Resolve(ctx, "refs/heads/"+branch)
	return branch, commit, err
}

// readSpecs returns the texts of all existing specs. Those that a milestone names must be valid.
func (r *repoRoadmap) readSpecs() (map[string]string, error) {
	all := map[string]string{}
	names, err := filepath.Glob(filepath.Join(r.top, Folder, "*.md"))
	if err != nil {
		return nil, err
	}
	for _, file := range names {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read a spec", Cause: err, Hint: "Make the file readable."}
		}
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		all[name] = string(data)
		if slices.ContainsFunc(r.Milestones, func(m spec.Milestone) bool { return slices.Contains(m.Specs, name) }) {
			if err := Check(Folder+"/"+name+".md", data); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// maxHistory limits the commits whose trees are compared with a run's tree.
const maxHistory = 1_000

// landedPredicate returns a function that reports whether a commit contains a run's landed changes: its
// commits or, after a squash, its tree. Changes that were reverted since do not count.
func (r *repoRoadmap) landedPredicate(ctx context.Context, commit string) (func(*state.State) bool, error) {
	out, err := r.place.Repo.Run(ctx, "log", "--format=%T", fmt.Sprintf("--max-count=%d", maxHistory), "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	trees := strings.Fields(out)
	reverted, err := r.revertedCommits(ctx, commit)
	if err != nil {
		return nil, err
	}
	return func(s *state.State) bool {
		if len(s.Landings) == 0 || slices.ContainsFunc(s.Landings, func(l *state.CompletedLanding) bool { return reverted[l.Commit] }) {
			return false
		}
		if s.Result != nil && slices.Contains(trees, s.Result.Verdict.Tree) {
			return true
		}
		_, err := r.place.Repo.Run(ctx, "merge-base", "--is-ancestor", s.Tip, commit)
		return err == nil // a missing commit is not part of it
	}, nil
}

// revert matches the commit in the message of git revert.
var revert = regexp.MustCompile(`(?m)^This reverts commit ([0-9a-f]{40,64})`)

// revertedCommits returns the commits that later commits revert, according to the messages of git
// revert, unless the revert was reverted in turn.
func (r *repoRoadmap) revertedCommits(ctx context.Context, commit string) (map[string]bool, error) {
	out, err := r.place.Repo.Run(ctx, "log", "-z", "--format=%H%n%B", "--grep=^This reverts commit ",
		fmt.Sprintf("--max-count=%d", maxHistory), "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for text := range strings.SplitSeq(out, "\x00") { // the newest first
		by, body, _ := strings.Cut(text, "\n")
		if all[by] {
			continue
		}
		for _, m := range revert.FindAllStringSubmatch(body, -1) {
			all[m[1]] = true
		}
	}
	return all, nil
}

// findMilestone returns the milestone with a name or number; "next" is the first that is not tagged.
func (r *repoRoadmap) findMilestone(ctx context.Context, name string) (spec.Milestone, error) {
	if m, ok := r.Find(strings.TrimSpace(name)); ok {
		return m, nil
	}
	if name == "next" {
		for _, m := range r.Milestones {
			if _, tagged, err := r.readTag(ctx, m); err != nil || !tagged {
				return m, err
			}
		}
	}
	hint := "nexus spec --roadmap lists them."
	switch near := r.NearestName(name); {
	case len(r.Milestones) == 0:
		hint = "There is none yet: write " + spec.RoadmapFile + "; docs/plan-and-approve.md shows one."
	case near != "":
		hint = "Did you mean " + near + "? " + hint
	}
	return spec.Milestone{}, app.NotFoundError("milestone", name, hint)
}

// trailer starts the line of a tag's message that names the milestone, and hashes its text.
const trailer = "Nexus-Milestone: "

// readTag returns the tag of a milestone, and whether it is the milestone's: made for its present text,
// or at the commit that a line "Closed:" records.
func (r *repoRoadmap) readTag(ctx context.Context, m spec.Milestone) (t git.Tag, its bool, err error) {
	if m.Tag == "" {
		return git.Tag{}, false, nil
	}
	t, there, err := git.ReadTag(ctx, r.place.Repo, m.Tag)
	if err != nil || !there {
		return git.Tag{}, false, err
	}
	if m.Commit != "" {
		return t, t.Commit == m.Commit, nil
	}
	lines := strings.Split(t.Message, "\n")
	return t, slices.Contains(lines, trailer+m.Name+" "+m.Fingerprint()), nil
}

// milestoneProgress computes the progress of a milestone. Its checks run, on a clean checkout of the branch's
// tip, only if it is asked for.
func (r *repoRoadmap) milestoneProgress(ctx context.Context, m spec.Milestone, runChecks bool) (traceability.MilestoneProgress, error) {
	number := 1 + slices.IndexFunc(r.Milestones, func(o spec.Milestone) bool { return o.Name == m.Name })
	t, its, err := r.readTag(ctx, m)
	if err != nil {
		return traceability.MilestoneProgress{}, err
	}
	if its {
		return traceability.MilestoneProgress{
			Number: number, State: traceability.MilestoneTagged, Milestone: m, Branch: r.facts.Branch, Commit: t.Commit, Parts: []traceability.MilestonePart{},
		}, nil
	}
	k := r.facts
	if runChecks {
		var checks []string
		for _, c := range m.Criteria {
			if c.Check != "" {
				checks = append(checks, c.Check)
			}
		}
		if k.Evidence, err = checkcmd.RunCriteriaChecks(ctx, r.console, r.place, r.settings, k.Commit, checks); err != nil {
			return traceability.MilestoneProgress{}, err
		}
	}
	p := traceability.TraceMilestone(m, k)
	p.Number = number
	if part, wrong := tagPart(m, t); wrong {
		p.Parts, p.State = append(p.Parts, part), traceability.MilestoneOpen
	}
	return p, nil
}

// tagPart returns what is wrong with the tag of a milestone that does not count.
func tagPart(m spec.Milestone, t git.Tag) (traceability.MilestonePart, bool) {
	part := traceability.MilestonePart{Name: "tag", Text: m.Tag}
	switch {
	case m.Commit != "" && t.Name == "":
		part.Why, part.Next = "the tag "+m.Tag+" is not in this repository", "git fetch --tags"
	case m.Commit != "":
		part.Why = fmt.Sprintf("the tag %s is at %.10s, and the milestone was closed at %.10s", m.Tag, t.Commit, m.Commit)
		part.Next = "git show " + m.Tag
	case t.Name != "":
		part.Why = fmt.Sprintf("there is a tag %s already, at %.10s, for something else or for an earlier text; a tag is never moved", m.Tag, t.Commit)
		part.Next = "write another tag below its title in " + spec.RoadmapFile
	default:
		return part, false
	}
	return part, true
}

// roadmapList is the JSON output of the roadmap.
type roadmapList struct {
	File       string                           `json:"file"`
	Branch     string                           `json:"branch"`
	Commit     string                           `json:"commit"`
	Milestones []traceability.MilestoneProgress `json:"milestones"`
}

// showRoadmap lists the milestones, or shows or tags one.
func showRoadmap(ctx context.Context, o *Options) error {
	if o.Tag && o.Console.Env(sandbox.Mark) != "" {
		return &nexus.Error{Code: nexus.CodeForbidden, Message: "agents may not tag a milestone", Hint: "Say in your summary that it is reached."}
	}
	r, err := openRoadmap(ctx, o.Console)
	if err != nil {
		return err
	}
	defer r.place.Close()
	if o.Milestone != "" {
		return r.showMilestone(ctx, o)
	}
	l := roadmapList{File: spec.RoadmapFile, Branch: r.facts.Branch, Commit: r.facts.Commit, Milestones: []traceability.MilestoneProgress{}}
	for _, m := range r.Milestones {
		p, err := r.milestoneProgress(ctx, m, false)
		if err != nil {
			return err
		}
		l.Milestones = append(l.Milestones, p)
	}
	return o.Console.Answer(l, func(s view.OutputStyle) string { return view.DrawRoadmap(s, l.Milestones) })
}

// showMilestone runs the checks of a milestone, prints its progress, and tags it on request.
func (r *repoRoadmap) showMilestone(ctx context.Context, o *Options) error {
	m, err := r.findMilestone(ctx, o.Milestone)
	if err != nil {
		return err
	}
	if o.Tag && m.Tag == "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "milestone " + m.Name + " names no tag",
			Hint: "Write \"Tag: v0.1.0\" below its title in " + spec.RoadmapFile + ".",
		}
	}
	p, err := r.milestoneProgress(ctx, m, true)
	if err != nil {
		return err
	}
	if o.Tag && p.State == traceability.MilestoneReached {
		if err := r.makeTag(ctx, p); err != nil {
			return err
		}
		p.State = traceability.MilestoneTagged
		o.Console.Say("share the tag with: git push origin %s", view.EscapeForTerminal(m.Tag))
	}
	if err := o.Console.Answer(p, func(s view.OutputStyle) string { return view.DrawMilestone(s, p) }); err != nil {
		return err
	}
	if len(p.Missing()) == 0 {
		return nil
	}
	if o.Tag {
		o.Console.Say("%s is not tagged: it is not reached", m.Name)
	}
	return console.ExitError(console.CodePartial)
}

// makeTag tags the commit on which a milestone is reached.
func (r *repoRoadmap) makeTag(ctx context.Context, p traceability.MilestoneProgress) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nReached on %s.\n\n", p.Title, p.Branch)
	for _, one := range p.Parts {
		fmt.Fprintf(&b, "- %s: %s (%s)\n", one.Name, spec.SingleLine(one.Text), one.By)
	}
	fmt.Fprintf(&b, "\n%s%s %s", trailer, p.Name, p.Fingerprint())
	by := git.CommitIdentity{}
	by.Name, by.Email = git.ReadUserIdentity(ctx, r.place.Repo, r.console.Env)
	by.Name = cmp.Or(by.Name, r.console.UserName())
	return git.MakeTag(ctx, r.place.Repo, git.Tag{Name: p.Tag, Commit: p.Commit, Message: b.String()}, by, r.console.Now())
}

// MissingGoal returns what a milestone still lacks, as the goal of a run.
func MissingGoal(ctx context.Context, a *console.Console, name string) (string, error) {
	r, err := openRoadmap(ctx, a)
	if err != nil {
		return "", err
	}
	defer r.place.Close()
	m, err := r.findMilestone(ctx, name)
	if err != nil {
		return "", err
	}
	p, err := r.milestoneProgress(ctx, m, true)
	if err != nil {
		return "", err
	}
	refuse := func(message, hint string) (string, error) {
		return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
	}
	s, work := p.MissingSpec(r.facts.Specs)
	show := "nexus spec --roadmap " + m.Name
	switch {
	case p.State == traceability.MilestoneTagged:
		return refuse("milestone "+m.Name+" is reached and has the tag "+m.Tag, "Add another milestone to "+spec.RoadmapFile+" for more work.")
	case !work && len(p.Missing()) > 0:
		return refuse("no run can add what milestone "+m.Name+" lacks", show+" lists it, with the commands to continue with.")
	case !work:
		return refuse("milestone "+m.Name+" lacks nothing", "Tag it with "+show+" --tag.")
	}
	a.Say("the goal is what %s lacks: %s", m.Name, view.CountWithNoun(len(s.Requirements)+len(s.Criteria), "part"))
	return string(spec.FormatMarkdown(s)), nil
}
