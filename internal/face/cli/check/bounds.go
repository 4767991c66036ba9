package check

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/bounds"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/critic"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/provide"
	"github.com/nexus-ai-builder/nexus/internal/face/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/done"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/measure"
)

// bounded reports whether the change is held to the definition of done.
func (f checkFlags) bounded() bool {
	return f.base != "" && (len(f.gates) == 0 || slices.Contains(f.gates, "done"))
}

// bound holds the change since the base to the definition of done, and puts
// that behind what the gates said. What only warns changes no verdict.
func bound(ctx context.Context, a *frame.App, f checkFlags, dir string, c config.Config, all []nexus.Evidence, taken measure.Taken) (verdict.Verdict, error) {
	if !f.bounded() {
		return verdict.Of(all), nil
	}
	user, err := git.Find(ctx, dir)
	if err != nil {
		return verdict.Verdict{}, err
	}
	commit, err := user.Resolve(ctx, f.base)
	if err != nil {
		return verdict.Verdict{}, err
	}
	repo, tree, remove, err := critic.Working(ctx, user)
	if err != nil {
		return verdict.Verdict{}, err
	}
	defer remove()
	found, decides, err := provide.Meter(c, a.Env).Judge(ctx, measure.Change{Repo: repo, Base: commit, Tree: tree, Taken: taken, Dirs: []string{dir}})
	if err != nil {
		return verdict.Verdict{}, err
	}
	only := len(f.gates) > 0 && !slices.ContainsFunc(f.gates, func(n string) bool { return n != "done" })
	if only && len(decides) == 0 {
		decides = append(decides, nexus.Evidence{Gate: "done", State: nexus.Pass, Tree: tree, Command: "hold the change to the definition of done"})
	}
	v := verdict.Of(append(slices.Clip(all), decides...))
	for _, e := range found {
		if !bounds.Decides(c.Done, e) {
			v.Gates = append(v.Gates, e)
		}
	}
	return v, nil
}

// apart takes a name that stands for no command off those that were asked for.
func apart(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n+": " == done.Prefix })
}
