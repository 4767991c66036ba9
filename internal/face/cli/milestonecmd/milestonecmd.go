// Package milestonecmd implements the commands for the roadmap of a repository: they change it,
// show the gaps of a milestone, start work on them, and close a reached milestone with a tag.
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
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/roadmap"
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

// repoRoadmap is the roadmap in a repository's checkout.
type repoRoadmap struct {
	roadmap.Roadmap

	place *app.Repository
	top   string // directory that contains the file
	text  []byte
}

// openRoadmap reads the roadmap. A missing one is empty. The caller closes the repository.
func openRoadmap(ctx context.Context, a *console.Console) (*repoRoadmap, error) {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	dir, err := a.WorkDir()
	r := &repoRoadmap{place: p, top: app.WorkTreeRoot(dir)}
	if err == nil {
		err = r.loadFile()
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return r, nil
}

func (r *repoRoadmap) loadFile() (err error) {
	r.text, err = os.ReadFile(filepath.Join(r.top, roadmap.File))
	if errors.Is(err, fs.ErrNotExist) {
		r.text, r.Roadmap = nil, emptyRoadmap()
		return nil
	}
	if err != nil {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the roadmap", Cause: err, Hint: "Make " + roadmap.File + " readable."}
	}
	var problems []spec.TextProblem
	r.Roadmap, problems = roadmap.ReadRoadmap(r.text)
	return roadmapError(problems)
}

// emptyRoadmap returns a roadmap without milestones.
func emptyRoadmap() roadmap.Roadmap {
	r, _ := roadmap.ReadRoadmap(nil)
	return r
}

// maxProblems limits the reported problems of a roadmap.
const maxProblems = 40

// roadmapError returns an error with the problems of the file, one per line.
func roadmapError(problems []spec.TextProblem) error {
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

// findMilestone returns the index of the milestone with that name.
func (r *repoRoadmap) findMilestone(name string) (int, error) {
	if i := r.Find(name); i >= 0 {
		return i, nil
	}
	hint := "nexus milestone lists them."
	if near := r.NearestName(name); near != "" {
		hint = "Did you mean " + near + "? " + hint
	}
	if len(r.Milestones) == 0 {
		hint = "There is none yet. Add one with nexus milestone add TITLE."
	}
	return 0, app.NotFoundError("milestone", name, hint)
}

// readSpecs returns the texts of all existing specs. The specs of open milestones must be valid.
func (r *repoRoadmap) readSpecs() (map[string]string, error) {
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

// changeRoadmap edits the file under a lock, starting from its current content. If the result cannot be
// parsed, nothing is written. It is refused inside a sandbox, because agents may not change their
// own goals.
func changeRoadmap(ctx context.Context, a *console.Console, edit func(r *repoRoadmap) ([]byte, error)) error {
	if a.Env(sandbox.Mark) != "" {
		return &nexus.Error{
			Code: nexus.CodeForbidden, Message: "agents may not change the roadmap", Hint: "Propose the change in your summary.",
		}
	}
	r, err := openRoadmap(ctx, a)
	if err != nil {
		return err
	}
	defer r.place.Close()
	return disk.WithLock(ctx, filepath.Join(r.place.State, "roadmap.lock"), func(context.Context) error {
		if err := r.loadFile(); err != nil {
			return err
		}
		text, err := edit(r)
		if err != nil || text == nil {
			return err
		}
		if _, problems := roadmap.ReadRoadmap(text); len(problems) > 0 {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "the roadmap could not be read afterwards, so nothing was changed: " + problems[0].Text,
				Hint: "Change the wording, or edit " + roadmap.File + ".",
			}
		}
		return speccmd.WriteRepoFile(r.top, roadmap.File, text)
	})
}

// numberedName returns the name of a milestone with its number, for people.
func numberedName(m roadmap.Milestone) string {
	if m.Number == 0 {
		return view.Clean(m.Name)
	}
	return fmt.Sprintf("%d. %s", m.Number, view.Clean(m.Name))
}
