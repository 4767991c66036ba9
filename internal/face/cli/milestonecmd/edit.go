package milestonecmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/roadmap"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// changed is the JSON output of the commands that change the roadmap.
type changed struct {
	File       string              `json:"file"`
	Name       string              `json:"name"`
	Number     int                 `json:"number,omitzero"`
	Removed    string              `json:"removed,omitzero"` // the removed text
	Milestones []roadmap.Milestone `json:"milestones"`       // all of them, after the change
}

// answer prints the state of the roadmap after a change.
func answer(ctx context.Context, a *console.Console, name, did string, c changed) error {
	r, err := open(ctx, a)
	if err != nil {
		return err
	}
	defer r.place.Close()
	c.File, c.Name, c.Milestones = roadmap.File, name, r.Milestones
	if i := r.Find(name); i >= 0 {
		c.Number = r.Milestones[i].Number
	}
	return a.Answer(c, func(s view.Style) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s\n", view.Clean(name), did)
		if c.Removed != "" {
			b.WriteString(view.CleanText(c.Removed))
		}
		for _, m := range r.Milestones {
			if m.Closed == nil {
				fmt.Fprintf(&b, "%3d. %s  %s\n", m.Number, s.Bold(view.Clean(m.Name)), view.Clean(m.Title))
			}
		}
		return b.String()
	})
}

// before returns the index of the open milestone before which another is inserted, -1 for the
// end.
func (r *road) before(name string) (int, error) {
	if name == "" {
		return -1, nil
	}
	i, err := r.find(name)
	if err == nil && r.Milestones[i].Closed != nil {
		err = &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: r.Milestones[i].Name + " is closed; open milestones come before closed ones",
			Hint: "Name an open one, or leave --before out.",
		}
	}
	return i, err
}

func addCommand(a *console.Console) *cobra.Command {
	var d roadmap.Draft
	before := ""
	const short = "add a milestone to the roadmap, at the end or before another"
	c := a.Command("add TITLE [flags]", short, func(ctx context.Context, args []string) error {
		d.Title = spec.Line(args[0])
		if err := usable(d); err != nil {
			return err
		}
		name := roadmap.Slug(d.Title)
		err := change(ctx, a, func(r *road) ([]byte, error) {
			if i := r.Find(d.Title); i >= 0 || r.Find(name) >= 0 && r.Milestones[r.Find(name)].Name == name {
				return nil, &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: "there is a milestone " + name + " already",
					Hint: "Choose another title, or edit " + roadmap.File + ".",
				}
			}
			at, err := r.before(before)
			if err != nil {
				return nil, err
			}
			for _, s := range d.Specs {
				if _, err := os.Stat(filepath.Join(r.top, speccmd.Folder, s+".md")); err != nil {
					a.Say("there is no spec %s yet; write it with: nexus spec GOAL --name %s", view.Quote(s), s)
				}
			}
			return r.Add(d, at), nil
		})
		if err != nil {
			return err
		}
		return answer(ctx, a, name, "is added", changed{})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(1, 1)
	f := c.Flags()
	f.StringVar(&before, "before", "", "put it before this `MILESTONE`, by name or number; the default is the end")
	f.StringVar(&d.About, "about", "", "`TEXT` for people about it")
	f.StringVar(&d.Tag, "tag", "", "`TAG` that closes it, such as v0.1.0")
	f.StringArrayVar(&d.Specs, "spec", nil, "`NAME` of a spec that belongs to it; may be repeated")
	f.StringArrayVar(&d.Goals, "goal", nil, "`TEXT` of a goal that belongs to it; may be repeated")
	f.StringArrayVar(&d.Criteria, "criterion", nil,
		"`TEXT` of a criterion for reaching it, such as \"It starts (check: \\`sh start.sh\\`)\"; may be repeated")
	a.JSONFlag(c)
	return c
}

// usable returns an error if a draft cannot be in a roadmap.
func usable(d roadmap.Draft) error {
	bad := func(message, hint string) error {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
	}
	if roadmap.Slug(d.Title) == "" {
		return bad("the title "+view.Quote(d.Title)+" names nothing", "Give one with letters or digits, such as \"First version\".")
	}
	if d.Tag != "" && roadmap.Bad(d.Tag) {
		return bad(view.Quote(d.Tag)+" cannot be a tag", "Choose one such as v0.1.0.")
	}
	for flag, texts := range map[string][]string{"spec": d.Specs, "goal": d.Goals, "criterion": d.Criteria} {
		for _, t := range texts {
			if strings.TrimSpace(t) == "" {
				return bad("--"+flag+" is given, and empty", "Give a text, or leave the flag out.")
			}
		}
	}
	return nil
}

func moveCommand(a *console.Console) *cobra.Command {
	before := ""
	const short = "move a milestone to the end, or before another"
	c := a.Command("move NAME [--before MILESTONE] [--json]", short, func(ctx context.Context, args []string) error {
		name := ""
		err := change(ctx, a, func(r *road) ([]byte, error) {
			i, err := r.find(args[0])
			if err != nil {
				return nil, err
			}
			if name = r.Milestones[i].Name; r.Milestones[i].Closed != nil {
				return nil, closedAlready(r.Milestones[i], "Closed ones keep their order.")
			}
			at, err := r.before(before)
			if err != nil {
				return nil, err
			}
			return r.Move(i, at), nil
		})
		if err != nil {
			return err
		}
		return answer(ctx, a, name, "is moved", changed{})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(1, 1)
	c.Flags().StringVar(&before, "before", "", "put it before this `MILESTONE`, by name or number; the default is the end")
	a.JSONFlag(c)
	return c
}

func closedAlready(m roadmap.Milestone, hint string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Hint: hint,
		Message: fmt.Sprintf("milestone %s was closed on %s with the tag %s", m.Name, m.Closed.Date, m.Closed.Tag),
	}
}

func removeCommand(a *console.Console) *cobra.Command {
	force := false
	const short = "remove a milestone from the roadmap, and print its text"
	c := a.Command("remove NAME [--force] [--json]", short, func(ctx context.Context, args []string) error {
		name, was := "", ""
		err := change(ctx, a, func(r *road) ([]byte, error) {
			i, err := r.find(args[0])
			if err != nil {
				return nil, err
			}
			if name = r.Milestones[i].Name; r.Milestones[i].Closed != nil && !force {
				return nil, closedAlready(r.Milestones[i], "It is what the tag refers to. Remove it with --force; the tag stays.")
			}
			was = r.Source(i)
			return r.Remove(i), nil
		})
		if err != nil {
			return err
		}
		return answer(ctx, a, name, "is removed; its text was:", changed{Removed: was})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(1, 1)
	c.Flags().BoolVar(&force, "force", false, "also remove one that is closed")
	a.JSONFlag(c)
	return c
}

// accepted is the JSON output of `milestone accept`.
type accepted struct {
	Name      string             `json:"name"`
	Criterion string             `json:"criterion"`
	Text      string             `json:"text"`
	Accepted  roadmap.Acceptance `json:"accepted"`
}

func acceptCommand(a *console.Console) *cobra.Command {
	reason := ""
	const short = "record that a criterion is met, if no command can show it"
	c := a.Command("accept NAME CRITERION --reason TEXT [--json]", short, func(ctx context.Context, args []string) error {
		var said accepted
		if strings.TrimSpace(reason) == "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no reason was given",
				Hint: "Give your evidence: --reason TEXT. It is kept with your name in " + roadmap.File + ".",
			}
		}
		err := change(ctx, a, func(r *road) ([]byte, error) {
			i, err := r.find(args[0])
			if err != nil {
				return nil, err
			}
			m := r.Milestones[i]
			if m.Closed != nil {
				return nil, closedAlready(m, "A closed milestone cannot be changed.")
			}
			j, err := criterion(m, args[1])
			if err != nil {
				return nil, err
			}
			said = accepted{m.Name, m.Criteria[j].ID, m.Criteria[j].Text, roadmap.Acceptance{
				Date: a.Now().UTC().Format(time.DateOnly), By: a.User(), Reason: spec.Line(reason), Of: m.Criteria[j].Fingerprint(),
			}}
			return r.Accept(i, j, said.Accepted), nil
		})
		if err != nil {
			return err
		}
		return a.Answer(said, func(view.Style) string {
			by, why := view.Clean(said.Accepted.By), view.Clean(said.Accepted.Reason)
			return fmt.Sprintf("%s of %s is accepted by %s: %s\n", said.Criterion, said.Name, by, why)
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(2, 2)
	c.Flags().StringVar(&reason, "reason", "", "what you saw, as `TEXT`")
	a.JSONFlag(c)
	return c
}

// criterion returns the index of a criterion that only a person can accept.
func criterion(m roadmap.Milestone, id string) (int, error) {
	var ids []string
	for i, c := range m.Criteria {
		if !strings.EqualFold(c.ID, id) {
			ids = append(ids, c.ID)
			continue
		}
		if c.Check != "" {
			return 0, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s has a check, %s, which says whether it is met", c.ID, view.Quote(c.Check)),
				Hint: "Make the check pass, or change it in " + roadmap.File + ".",
			}
		}
		return i, nil
	}
	hint := "It has " + strings.Join(ids, ", ") + "."
	if len(ids) == 0 {
		hint = "It has none; write them into " + roadmap.File + "."
	}
	return 0, &nexus.Error{Code: nexus.CodeNotFound, Message: "milestone " + m.Name + " has no criterion " + view.Quote(id), Hint: hint}
}
