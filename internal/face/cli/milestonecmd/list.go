package milestonecmd

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/roadmap"
)

// doneCount is the done part of a total.
type doneCount struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

// listedMilestone is a milestone in the list.
type listedMilestone struct {
	Number   int                      `json:"number,omitzero"`
	Name     string                   `json:"name"`
	Title    string                   `json:"title"`
	State    string                   `json:"state"`    // open, reached, closed
	Criteria doneCount                `json:"criteria"` // criteria with evidence
	Verified doneCount                `json:"verified"` // requirements and criteria of specs, and goals
	Gaps     int                      `json:"gaps"`
	Tag      string                   `json:"tag,omitzero"`
	Closed   *roadmap.ClosedMilestone `json:"closed,omitempty"`
}

// milestoneList is the JSON output of `milestone`.
type milestoneList struct {
	File       string            `json:"file"`
	Branch     string            `json:"branch"`
	Commit     string            `json:"commit"`
	Milestones []listedMilestone `json:"milestones"`
	Unchecked  int               `json:"unchecked"` // milestones with checks that did not run on this commit
}

func listCommand(a *console.Console) *cobra.Command {
	const short = "list the milestones of the roadmap"
	c := a.Command("milestone [--target BRANCH] [--json]", short, func(ctx context.Context, _ []string) error {
		l, err := listMilestones(ctx, a)
		if err != nil {
			return err
		}
		return a.Answer(l, func(s view.Style) string { return drawList(s, l) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	a.JSONFlag(c)
	a.SettingFlags(c, "target")
	return c
}

func listMilestones(ctx context.Context, a *console.Console) (milestoneList, error) {
	l := milestoneList{File: roadmap.File, Milestones: []listedMilestone{}}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return l, err
	}
	r, err := openRoadmap(ctx, a)
	if err != nil {
		return l, err
	}
	defer r.place.Close()
	all, err := r.auditWithoutChecks(ctx, settings)
	if err != nil {
		return l, err
	}
	for _, one := range all {
		m := listedMilestone{
			Number: one.Number, Name: one.Name, Title: one.Title, State: "open", Criteria: doneCount{one.CountShown(), len(one.Shows)},
			Gaps: len(one.Gaps), Tag: one.Tag, Closed: one.Closed,
		}
		m.Verified.Done, m.Verified.Of = one.CountVerified()
		l.Branch, l.Commit = one.Branch, one.Commit
		switch {
		case one.Closed != nil:
			m.State = "closed"
		case m.Gaps == 0:
			m.State = "reached"
		case one.CountUnchecked() > 0:
			l.Unchecked++
		}
		l.Milestones = append(l.Milestones, m)
	}
	return l, nil
}

// auditWithoutChecks audits all milestones against the known facts without running their checks.
func (r *repoRoadmap) auditWithoutChecks(ctx context.Context, settings config.Config) ([]roadmap.MilestoneAudit, error) {
	if len(r.Milestones) == 0 {
		return nil, nil
	}
	k, err := r.auditFacts(ctx, settings, "")
	if err != nil {
		return nil, err
	}
	known := r.readRecordedChecks()
	var all []roadmap.MilestoneAudit
	for _, m := range r.Milestones {
		one := k
		if t := known[m.Name]; t.Commit == k.Commit {
			one.Evidence = maps.Clone(t.Evidence)
		}
		all = append(all, roadmap.AuditMilestone(m, one))
	}
	return all, nil
}

func drawList(s view.Style, l milestoneList) string {
	if len(l.Milestones) == 0 {
		return s.Wrap("there are no milestones yet; add one with: nexus milestone add TITLE", "") + "\n"
	}
	rows := make([][]string, len(l.Milestones))
	for i, m := range l.Milestones {
		number, state, gaps := fmt.Sprint(m.Number), m.State, fmt.Sprint(m.Gaps)
		criteria, verified := drawShare(s, m.Criteria.Done, m.Criteria.Of, ""), drawShare(s, m.Verified.Done, m.Verified.Of, "")
		switch {
		case m.Closed != nil && m.Gaps == 0:
			number, state, gaps, criteria, verified = "", s.Dim("closed "+m.Closed.Date), "", "", ""
		case m.Closed != nil:
			number, state, criteria, verified = "", s.Warn("closed, but see audit"), "", ""
		case m.State == "reached":
			state = s.Good(state)
		}
		rows[i] = []string{number, view.Clean(m.Name), state, criteria, verified, gaps, view.Clean(m.Tag), view.Clean(m.Title)}
	}
	var b strings.Builder
	b.WriteString(view.DrawTable(s, []string{"", "milestone", "state", "criteria", "verified", "gaps", "tag", "title"}, rows))
	if l.Unchecked > 0 {
		b.WriteString(s.Wrap(fmt.Sprintf("%s with checks that did not run on %s at %s: nexus milestone audit NAME runs them",
			view.Count(l.Unchecked, "milestone"), view.Clean(l.Branch), view.ShortHash(l.Commit)), "") + "\n")
	}
	return b.String()
}

func showCommand(a *console.Console) *cobra.Command {
	const short = "print a milestone, and its state without running checks"
	c := a.Command("show NAME [--json]", short, func(ctx context.Context, args []string) error {
		settings, _, err := a.LoadSettings()
		if err != nil {
			return err
		}
		r, err := openRoadmap(ctx, a)
		if err != nil {
			return err
		}
		defer r.place.Close()
		i, err := r.findMilestone(args[0])
		if err != nil {
			return err
		}
		all, err := r.auditWithoutChecks(ctx, settings)
		if err != nil {
			return err
		}
		return a.Answer(all[i], func(s view.Style) string { return view.CleanText(r.SourceOf(i)) + "\n" + drawAudit(s, all[i]) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	a.JSONFlag(c)
	a.SettingFlags(c, "target")
	return c
}
