// Package milestonecmd holds the commands that keep the roadmap of a repository: they change it, say what a milestone
// lacks, start the work on that, and close what is reached with a tag.
package milestonecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/roadmap"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	c := listCommand(a)
	c.AddCommand(
		addCommand(a), moveCommand(a), removeCommand(a), showCommand(a), acceptCommand(a), auditCommand(a),
		planCommand(a), runCommand(a), closeCommand(a),
	)
	return []*cobra.Command{c}
}

// road is the roadmap of a repository, as its checkout has it.
type road struct {
	roadmap.Roadmap

	place *app.Repository
	top   string // the directory that the file is below
	text  []byte
}

// open reads the roadmap. One that is not there is empty. The caller closes the place.
func open(ctx context.Context, a *console.Console) (*road, error) {
	p, err := a.Open(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	dir, err := a.WorkDir()
	r := &road{place: p, top: app.WorkTreeRoot(dir)}
	if err == nil {
		err = r.read()
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return r, nil
}

func (r *road) read() (err error) {
	r.text, err = os.ReadFile(filepath.Join(r.top, roadmap.File))
	if errors.Is(err, fs.ErrNotExist) {
		r.text, r.Roadmap = nil, empty()
		return nil
	}
	if err != nil {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the roadmap", Cause: err, Hint: "Make " + roadmap.File + " readable."}
	}
	var problems []spec.Problem
	r.Roadmap, problems = roadmap.Read(r.text)
	return wrong(problems)
}

// empty is a roadmap that nobody has begun.
func empty() roadmap.Roadmap {
	r, _ := roadmap.Read(nil)
	return r
}

// maxProblems is how many things are said to be wrong with a roadmap.
const maxProblems = 40

// wrong says what is wrong with the file, a line each.
func wrong(problems []spec.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("the roadmap " + roadmap.File + " cannot be used")
	for _, p := range problems[:min(len(problems), maxProblems)] {
		fmt.Fprintf(&b, "\n- %s", p)
	}
	if more := len(problems) - maxProblems; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: b.String(), Hint: "Correct these lines; docs/plan-and-approve.md shows a roadmap.",
	}
}

// find returns the index of the milestone that a name means.
func (r *road) find(name string) (int, error) {
	if i := r.Find(name); i >= 0 {
		return i, nil
	}
	hint := "nexus milestone lists them."
	if near := r.Near(name); near != "" {
		hint = "Did you mean " + near + "? " + hint
	}
	if len(r.Milestones) == 0 {
		hint = "There is none yet. Add one with nexus milestone add TITLE."
	}
	return 0, app.NotFound("milestone", name, hint)
}

// specs returns the texts of all specs that are there. Those that open milestones name have no mistakes.
func (r *road) specs() (map[string]string, error) {
	all := map[string]string{}
	names, err := filepath.Glob(filepath.Join(r.top, speccmd.Folder, "*.md"))
	if err != nil {
		return nil, err
	}
	for _, file := range names {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read a spec", Cause: err, Hint: "Make the file readable."}
		}
		all[strings.TrimSuffix(filepath.Base(file), ".md")] = string(data)
	}
	for _, m := range r.Milestones {
		for _, p := range m.Specs {
			if text, there := all[p.Text]; there && m.Closed == nil {
				if err := speccmd.Check(speccmd.Folder+"/"+p.Text+".md", []byte(text)); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// change changes the file while no other Nexus does, from what it says then. What comes of it has to be readable, or
// nothing is written. Nobody in a sandbox does: what is wanted of agents is not theirs to say.
func change(ctx context.Context, a *console.Console, edit func(r *road) ([]byte, error)) error {
	if a.Env(sandbox.Mark) != "" {
		return &nexus.Error{
			Code: nexus.CodeForbidden, Message: "agents may not change the roadmap", Hint: "Propose the change in your summary.",
		}
	}
	r, err := open(ctx, a)
	if err != nil {
		return err
	}
	defer r.place.Close()
	return disk.Lock(ctx, filepath.Join(r.place.State, "roadmap.lock"), func(context.Context) error {
		if err := r.read(); err != nil {
			return err
		}
		text, err := edit(r)
		if err != nil || text == nil {
			return err
		}
		if _, problems := roadmap.Read(text); len(problems) > 0 {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "the roadmap could not be read afterwards, so nothing was changed: " + problems[0].Text,
				Hint: "Change the wording, or edit " + roadmap.File + ".",
			}
		}
		return speccmd.Keep(r.top, roadmap.File, text)
	})
}

// named returns the name of a milestone with its number, for people.
func named(m roadmap.Milestone) string {
	if m.Number == 0 {
		return view.Clean(m.Name)
	}
	return fmt.Sprintf("%d. %s", m.Number, view.Clean(m.Name))
}
