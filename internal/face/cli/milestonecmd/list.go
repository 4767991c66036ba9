package milestonecmd

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/roadmap"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// part is the done part of a total.
type part struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

// listed is a milestone in the list.
type listed struct {
	Number   int             `json:"number,omitzero"`
	Name     string          `json:"name"`
	Title    string          `json:"title"`
	State    string          `json:"state"`    // open, reached, closed
	Criteria part            `json:"criteria"` // criteria with evidence
	Verified part            `json:"verified"` // requirements and criteria of specs, and goals
	Gaps     int             `json:"gaps"`
	Tag      string          `json:"tag,omitzero"`
	Closed   *roadmap.Closed `json:"closed,omitempty"`
}

// listing is the JSON output of `milestone`.
type listing struct {
	File       string   `json:"file"`
	Branch     string   `json:"branch"`
	Commit     string   `json:"commit"`
	Milestones []listed `json:"milestones"`
	Unchecked  int      `json:"unchecked"` // milestones with checks that did not run on this commit
}

func listCommand(a *console.Console) *cobra.Command {
	const short = "list the milestones of the roadmap"
	c := a.Command("milestone [--target BRANCH] [--json]", short, func(ctx context.Context, _ []string) error {
		l, err := list(ctx, a)
		if err != nil {
			return err
		}
		return a.Answer(l, func(s view.Style) string { return drawList(s, l) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	a.JSONFlag(c)
	a.SettingFlags(c, "target")
	return c
}

func list(ctx context.Context, a *console.Console) (listing, error) {
	l := listing{File: roadmap.File, Milestones: []listed{}}
	settings, _, err := a.Settings()
	if err != nil {
		return l, err
	}
	r, err := open(ctx, a)
	if err != nil {
		return l, err
	}
	defer r.place.Close()
	all, err := r.glance(ctx, settings)
	if err != nil {
		return l, err
	}
	for _, one := range all {
		m := listed{
			Number: one.Number, Name: one.Name, Title: one.Title, State: "open", Criteria: part{one.Shown(), len(one.Shows)},
			Gaps: len(one.Gaps), Tag: one.Tag, Closed: one.Closed,
		}
		m.Verified.Done, m.Verified.Of = one.Verified()
		l.Branch, l.Commit = one.Branch, one.Commit
		switch {
		case one.Closed != nil:
			m.State = "closed"
		case m.Gaps == 0:
			m.State = "reached"
		case one.Unchecked() > 0:
			l.Unchecked++
		}
		l.Milestones = append(l.Milestones, m)
	}
	return l, nil
}

// glance audits all milestones against the known facts without running their checks.
func (r *road) glance(ctx context.Context, settings config.Config) ([]roadmap.Audit, error) {
	if len(r.Milestones) == 0 {
		return nil, nil
	}
	k, err := r.facts(ctx, settings, "")
	if err != nil {
		return nil, err
	}
	known := r.recall()
	var all []roadmap.Audit
	for _, m := range r.Milestones {
		one := k
		if t := known[m.Name]; t.Commit == k.Commit {
			one.Evidence = maps.Clone(t.Evidence)
		}
		all = append(all, roadmap.AuditMilestone(m, one))
	}
	return all, nil
}

func drawList(s view.Style, l listing) string {
	if len(l.Milestones) == 0 {
		return s.Wrap("there are no milestones yet; add one with: nexus milestone add TITLE", "") + "\n"
	}
	rows := make([][]string, len(l.Milestones))
	for i, m := range l.Milestones {
		number, state, gaps := fmt.Sprint(m.Number), m.State, fmt.Sprint(m.Gaps)
		criteria, verified := share(s, m.Criteria.Done, m.Criteria.Of, ""), share(s, m.Verified.Done, m.Verified.Of, "")
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
	b.WriteString(view.Table(s, []string{"", "milestone", "state", "criteria", "verified", "gaps", "tag", "title"}, rows))
	if l.Unchecked > 0 {
		b.WriteString(s.Wrap(fmt.Sprintf("%s with checks that did not run on %s at %s: nexus milestone audit NAME runs them",
			view.Count(l.Unchecked, "milestone"), view.Clean(l.Branch), view.ShortHash(l.Commit)), "") + "\n")
	}
	return b.String()
}

func showCommand(a *console.Console) *cobra.Command {
	const short = "print a milestone, and its state without running checks"
	c := a.Command("show NAME [--json]", short, func(ctx context.Context, args []string) error {
		settings, _, err := a.Settings()
		if err != nil {
			return err
		}
		r, err := open(ctx, a)
		if err != nil {
			return err
		}
		defer r.place.Close()
		i, err := r.find(args[0])
		if err != nil {
			return err
		}
		all, err := r.glance(ctx, settings)
		if err != nil {
			return err
		}
		return a.Answer(all[i], func(s view.Style) string { return view.CleanText(r.Source(i)) + "\n" + draw(s, all[i]) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(1, 1)
	a.JSONFlag(c)
	a.SettingFlags(c, "target")
	return c
}
