// Package newproject starts a project from an idea in an empty directory: interview, stack, a first commit
// with passed gates, plan and work.
package newproject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalinterview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/precheck"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// Options are what a person chose about a new project.
type Options struct {
	Stack string // requested stack; empty: the best fit
	Bare  bool   // no plan is made after the first commit
}

// Flags adds the flags of commands that start a project.
func (g *Options) Flags(c *cobra.Command) {
	c.Flags().StringVar(&g.Stack, "stack", "", "start the project with this `STACK` instead of the best fit")
}

// Start turns an idea in an empty directory into a run: interview, stack, a first commit with
// passed gates, plan and work.
func (g Options) Start(ctx context.Context, a *console.Console, dir string, o *progress.RunCommandOptions) error {
	if err := g.checkStack(o.Goal.Text); err != nil {
		return err // before a person is asked, or anything is created
	}
	settings, _, err := a.LoadSettings()
	if err == nil {
		err = a.CheckModels(settings, o.RunOptions)
	}
	if err != nil {
		return err // nothing is created if no model could do the work
	}
	if dir, err = prepareProjectDir(ctx, a, dir); err != nil {
		return err
	}
	by := git.CommitIdentity{}
	by.Name, by.Email = git.ReadUserIdentity(ctx, git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}, a.Env)
	if !git.IsEmptyRepo(ctx, dir) || !hasInitialCommit(ctx, dir) {
		if err := git.CreateRepoWithEmptyCommit(ctx, dir, by, founding); err != nil {
			return err
		}
	}
	a.Dir = dir
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	idea, asked, err := interviewAboutIdea(ctx, a, p, o)
	if err != nil {
		return err
	}
	if err := g.commitSkeleton(ctx, a, dir, idea, by); err != nil {
		return err
	}
	if asked != nil {
		err = goalinterview.AddLaterToBacklog(ctx, a, p, asked)
	}
	if err != nil || g.Bare {
		return err
	}
	if err := precheck.Check(ctx, a, p, &o.RunOptions); err != nil {
		return err
	}
	if err := planconsent.Set(a, p, o, a.HasPerson()); err != nil {
		return err
	}
	return progress.RunAndShow(ctx, a, p, *o)
}

// hasInitialCommit reports whether the empty start commit exists.
func hasInitialCommit(ctx context.Context, dir string) bool {
	_, err := git.FindRepo(ctx, dir)
	return err == nil
}

// checkStack refuses an unsupported stack before a person is asked.
func (g Options) checkStack(idea string) error {
	_, err := g.chooseStack(idea)
	return err
}

// chooseStack returns the stack for an idea.
func (g Options) chooseStack(idea string) (stack.ProjectStackChoice, error) {
	c, why := stack.ChooseStack(idea, g.Stack, sandbox.IsInstalled)
	if why == "" {
		return c, nil
	}
	return c, &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: why,
		Hint: "Install its tools, or name another stack with --stack. A project of any stack works once it has a commit: then use nexus run.",
	}
}

// interviewAboutIdea asks about the idea, or continues the postponed interview of an earlier call. The spec
// then becomes the goal. It returns the text for the choice of the stack, and the
// interview, nil if there was none.
func interviewAboutIdea(ctx context.Context, a *console.Console, p *app.Repository, o *progress.RunCommandOptions) (string, *state.State, error) {
	settings, _, err := a.LoadSettings()
	if err != nil || settings.Interview == string(clarify.WhenNever) || spec.LooksLikeSpec(o.Goal.Text) {
		return o.Goal.Text, nil, err
	}
	asking := *o
	asking.Headless = o.Headless || o.Yes
	s, err := earlierInterview(ctx, p, o.Goal.Text)
	if err != nil {
		return "", nil, err
	}
	if s != nil {
		asking.Run = s.Run
	}
	if s == nil || s.Status != nexus.StatusDone {
		if s, err = progress.ConductInterview(ctx, a, p, &asking); err != nil {
			return "", nil, err
		}
	}
	o.Spent, o.Asked = s.Ledger.SpentMoney(), len(s.Questions)
	goalinterview.SayUnconfirmedAssumptions(a, &s.Interview)
	idea := []string{o.Goal.Text}
	for _, e := range s.Interview.Exchanges {
		idea = append(idea, e.Answer)
	}
	idea = append(idea, s.Interview.Draft.Notes...)
	o.Goal.Text = string(spec.FormatMarkdown(s.Interview.BuildSpec()))
	return strings.Join(idea, "\n"), s, nil
}

// earlierInterview returns the last interview about the same idea, nil for none.
func earlierInterview(ctx context.Context, p *app.Repository, idea string) (*state.State, error) {
	all, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(all) {
		if s, err := p.Replay(ctx, r.ID); err == nil && s.Goal.Goal.Mode == nexus.Interview && s.Goal.Goal.Text == idea {
			return s, nil
		}
	}
	return nil, nil
}

// commitSkeleton makes the first commit: the files of the stack's skeleton, once their gates pass in the
// sandbox. If they fail, the files are removed again.
func (g Options) commitSkeleton(ctx context.Context, a *console.Console, dir, idea string, by git.CommitIdentity) (err error) {
	c, err := g.chooseStack(idea)
	if err != nil {
		return err
	}
	a.Say("stack: %s, because %s", c.Stack.Name, strings.Join(c.Why, "; "))
	for _, not := range c.Not {
		a.Say("  not %s", not)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the new project: %w", err)
	}
	defer func() { _ = root.Close() }()
	files := c.Stack.Skeleton.FilesFor(projectName(dir))
	if left := leftoverStacks(ctx, dir); len(left) > 0 && !slices.Contains(left, c.Stack.Name) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: view.QuoteForTerminal(dir) + " has the first files of a " + left[0] + " project already",
			Hint: "Start it with --stack " + left[0] + ", or delete them.",
		}
	}
	for _, f := range files {
		if err := errors.Join(root.MkdirAll(filepath.Dir(f.Path), 0o755), root.WriteFile(f.Path, []byte(f.Text), 0o644)); err != nil {
			return &nexus.Error{Code: nexus.CodeStorage, Message: "write " + f.Path, Cause: err, Hint: "Make the directory writable."}
		}
	}
	said, err := passedGates(ctx, a)
	if err != nil {
		return errors.Join(err, removeFiles(root, files))
	}
	commit, err := git.ReplaceEmptyCommit(ctx, dir, by, "Begin with a "+c.Stack.Name+" project that builds, lints and passes its tests")
	if err != nil {
		return err
	}
	a.Say("first commit %.9s: %s", commit, said)
	return nil
}

// removeFiles removes files, and directories that become empty.
func removeFiles(root *os.Root, files []stack.SkeletonFile) (err error) {
	for _, f := range files {
		err = errors.Join(err, root.Remove(f.Path))
	}
	for _, f := range files {
		for dir := filepath.Dir(f.Path); dir != "." && root.Remove(dir) == nil; {
			dir = filepath.Dir(dir)
		}
	}
	return err
}

// passedGates returns the passed gates. It is an error if build, lint and tests did not all pass.
func passedGates(ctx context.Context, a *console.Console) (string, error) {
	all, err := checkcmd.RunWorkingTreeGates(ctx, a)
	if err != nil {
		return "", err
	}
	var passed, not []string
	for _, e := range all {
		if e.Passed() {
			passed = append(passed, detect.StepOfGate(e.Gate))
		} else {
			not = append(not, strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", e.Gate, e.State, e.Why), ": "))
		}
	}
	for _, need := range []string{"build", "lint", "test"} {
		if !slices.Contains(passed, need) && len(not) == 0 {
			not = append(not, need+": there is no such gate")
		}
	}
	if len(not) > 0 {
		return "", &nexus.Error{
			Code: nexus.CodeNotReady, Message: "the first commit is not green: " + strings.Join(not, "; "),
			Hint: "Install or repair the tools of the stack, or name another with --stack, and start again.",
		}
	}
	return strings.Join(passed, ", ") + " pass", nil
}

// projectName returns the name of a project from its directory, valid for every stack.
func projectName(dir string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		if unicode.IsUpper(r) && r < unicode.MaxASCII {
			return unicode.ToLower(r)
		}
		return '_'
	}, filepath.Base(dir))
	name = strings.Trim(name, "_0123456789")
	if name == "" || slices.Contains([]string{"test", "tests", "main", "src"}, name) {
		return "project"
	}
	return name
}
