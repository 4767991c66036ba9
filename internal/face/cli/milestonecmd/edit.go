package milestonecmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/roadmap"
)

// roadmapChange is the JSON output of the commands that change the roadmap.
type roadmapChange struct {
	File       string              `json:"file"`
	Name       string              `json:"name"`
	Number     int                 `json:"number,omitzero"`
	Removed    string              `json:"removed,omitzero"` // the removed text
	Milestones []roadmap.Milestone `json:"milestones"`       // all of them, after the change
}

// printRoadmap prints the state of the roadmap after a change.
func printRoadmap(ctx context.Context, a *console.Console, name, did string, c roadmapChange) error {
	r, err := openRoadmap(ctx, a)
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

// indexBefore returns the index of the open milestone before which another is inserted, -1 for the
// end.
func (r *repoRoadmap) indexBefore(name string) (int, error) {
	if name == "" {
		return -1, nil
	}
	i, err := r.findMilestone(name)
	if err == nil && r.Milestones[i].Closed != nil {
		err = &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: r.Milestones[i].Name + " is closed; open milestones come before closed ones",
			Hint: "Name an open one, or leave --before out.",
		}
	}
	return i, err
}

func addCommand(a *console.Console) *cobra.Command {
	var d roadmap.MilestoneDraft
	before := ""
	const short = "add a milestone to the roadmap, at the end or before another"
	c := a.Command("add TITLE [flags]", short, func(ctx context.Context, args []string) error {
		d.Title = spec.SingleLine(args[0])
		if err := checkDraft(d); err != nil {
			return err
		}
		name := roadmap.MilestoneName(d.Title)
		err := changeRoadmap(ctx, a, func(r *repoRoadmap) ([]byte, error) {
			if i := r.Find(d.Title); i >= 0 || r.Find(name) >= 0 && r.Milestones[r.Find(name)].Name == name {
				return nil, &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: "there is a milestone " + name + " already",
					Hint: "Choose another title, or edit " + roadmap.File + ".",
				}
			}
			at, err := r.indexBefore(before)
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
		return printRoadmap(ctx, a, name, "is added", roadmapChange{})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
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

// checkDraft returns an error if a draft cannot be in a roadmap.
func checkDraft(d roadmap.MilestoneDraft) error {
	bad := func(message, hint string) error {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
	}
	if roadmap.MilestoneName(d.Title) == "" {
		return bad("the title "+view.Quote(d.Title)+" names nothing", "Give one with letters or digits, such as \"First version\".")
	}
	if d.Tag != "" && roadmap.IsBadTag(d.Tag) {
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
		err := changeRoadmap(ctx, a, func(r *repoRoadmap) ([]byte, error) {
			i, err := r.findMilestone(args[0])
			if err != nil {
				return nil, err
			}
			if name = r.Milestones[i].Name; r.Milestones[i].Closed != nil {
				return nil, alreadyClosedError(r.Milestones[i], "Closed ones keep their order.")
			}
			at, err := r.indexBefore(before)
			if err != nil {
				return nil, err
			}
			return r.Move(i, at), nil
		})
		if err != nil {
			return err
		}
		return printRoadmap(ctx, a, name, "is moved", roadmapChange{})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	c.Flags().StringVar(&before, "before", "", "put it before this `MILESTONE`, by name or number; the default is the end")
	a.JSONFlag(c)
	return c
}

func alreadyClosedError(m roadmap.Milestone, hint string) error {
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
		err := changeRoadmap(ctx, a, func(r *repoRoadmap) ([]byte, error) {
			i, err := r.findMilestone(args[0])
			if err != nil {
				return nil, err
			}
			if name = r.Milestones[i].Name; r.Milestones[i].Closed != nil && !force {
				return nil, alreadyClosedError(r.Milestones[i], "It is what the tag refers to. Remove it with --force; the tag stays.")
			}
			was = r.SourceOf(i)
			return r.Remove(i), nil
		})
		if err != nil {
			return err
		}
		return printRoadmap(ctx, a, name, "is removed; its text was:", roadmapChange{Removed: was})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	c.Flags().BoolVar(&force, "force", false, "also remove one that is closed")
	a.JSONFlag(c)
	return c
}

// acceptResult is the JSON output of `milestone accept`.
type acceptResult struct {
	Name      string                   `json:"name"`
	Criterion string                   `json:"criterion"`
	Text      string                   `json:"text"`
	Accepted  roadmap.PersonAcceptance `json:"accepted"`
}

func acceptCommand(a *console.Console) *cobra.Command {
	reason := ""
	const short = "record that a criterion is met, if no command can show it"
	c := a.Command("accept NAME CRITERION --reason TEXT [--json]", short, func(ctx context.Context, args []string) error {
		var said acceptResult
		if strings.TrimSpace(reason) == "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no reason was given",
				Hint: "Give your evidence: --reason TEXT. It is kept with your name in " + roadmap.File + ".",
			}
		}
		err := changeRoadmap(ctx, a, func(r *repoRoadmap) ([]byte, error) {
			i, err := r.findMilestone(args[0])
			if err != nil {
				return nil, err
			}
			m := r.Milestones[i]
			if m.Closed != nil {
				return nil, alreadyClosedError(m, "A closed milestone cannot be changed.")
			}
			j, err := personCriterion(m, args[1])
			if err != nil {
				return nil, err
			}
			said = acceptResult{m.Name, m.Criteria[j].ID, m.Criteria[j].Text, roadmap.PersonAcceptance{
				Date: a.Now().UTC().Format(time.DateOnly), By: a.UserName(), Reason: spec.SingleLine(reason), Of: m.Criteria[j].TextFingerprint(),
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
	c.Args = console.ArgCount(2, 2)
	c.Flags().StringVar(&reason, "reason", "", "what you saw, as `TEXT`")
	a.JSONFlag(c)
	return c
}

// personCriterion returns the index of a criterion that only a person can accept.
func personCriterion(m roadmap.Milestone, id string) (int, error) {
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
