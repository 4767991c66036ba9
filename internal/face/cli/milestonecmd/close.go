package milestonecmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/roadmap"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// ended is the JSON output of `milestone close`.
type ended struct {
	Name    string         `json:"name"`
	Closed  roadmap.Closed `json:"closed"`
	Message string         `json:"message"`            // of the tag
	Resumed bool           `json:"resumed,omitzero"`   // the tag existed: an earlier close was interrupted
	Again   bool           `json:"unchanged,omitzero"` // everything was done before
}

func closeCommand(a *console.Console) *cobra.Command {
	tag := ""
	const use, short = "close NAME [--tag TAG] [--target BRANCH] [--json]", "tag a milestone without gaps, and mark it as closed"
	c := a.Command(use, short, func(ctx context.Context, args []string) error {
		settings, _, err := a.Settings()
		if err != nil {
			return err
		}
		done, open, err := closed(ctx, a, settings, args[0], tag)
		if open != nil {
			a.Say("%s is not closed: it has gaps", open.Name)
			return tell(a, *open)
		}
		if err != nil {
			return err
		}
		return a.Answer(done, func(s view.Style) string { return drawClosed(s, done) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeInterrupted)
	c.Args = console.Takes(1, 1)
	c.Flags().StringVar(&tag, "tag", "", "`TAG` to make, if the roadmap names none")
	a.JSONFlag(c)
	a.SettingFlags(c, "sandbox", "target")
	return c
}

func drawClosed(s view.Style, e ended) string {
	at := fmt.Sprintf("%s at %s", view.Clean(e.Closed.Tag), view.ShortHash(e.Closed.Commit))
	if e.Again {
		return fmt.Sprintf("%s was closed on %s with the tag %s\n", view.Clean(e.Name), e.Closed.Date, at)
	}
	text := fmt.Sprintf("%s is closed with the tag %s\n", view.Clean(e.Name), at)
	if e.Resumed {
		text = fmt.Sprintf("%s is closed with the tag %s, which an earlier close had made\n", view.Clean(e.Name), at)
	}
	return text + s.Wrap("Commit "+roadmap.File+", and share the tag with: git push origin "+view.Clean(e.Closed.Tag), "") + "\n"
}

// closed makes the tag of a milestone without gaps, and then marks it as closed in the file. The
// tag names the milestone, so that the next close continues if this one is killed in between. If
// the milestone has gaps, it returns an audit instead.
func closed(ctx context.Context, a *console.Console, settings config.Config, name, tag string) (ended, *roadmap.Audit, error) {
	r, err := open(ctx, a)
	if err != nil {
		return ended{}, nil, err
	}
	defer r.place.Close()
	i, err := r.find(name)
	if err != nil {
		return ended{}, nil, err
	}
	m := r.Milestones[i]
	if m.Closed != nil {
		got, there, err := git.ReadTag(ctx, r.place.Repo, m.Closed.Tag)
		if err == nil && (!there || got.Commit != m.Closed.Commit) {
			err = closedAlready(m, "Its tag has moved; nexus milestone audit "+m.Name+" says more.")
		}
		return ended{Name: m.Name, Closed: *m.Closed, Message: got.Message, Again: true}, nil, err
	}
	t, resumed, err := r.tag(ctx, m, tag)
	if err != nil {
		return ended{}, nil, err
	}
	got, _, err := r.audit(ctx, a, settings, i, t.Commit)
	switch {
	case err != nil:
		return ended{}, nil, err
	case len(got.Gaps) > 0 && resumed:
		a.Say("the tag %s of this milestone exists already, on a commit where the milestone is not complete; choose another", t.Name)
		return ended{}, &got, nil
	case len(got.Gaps) > 0:
		return ended{}, &got, nil
	case resumed && strings.TrimSpace(message(got)) != strings.TrimSpace(t.Message):
		return ended{}, nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the tag " + t.Name + " was made for an earlier text of " + m.Name,
			Hint: "Choose another tag; an existing tag is never moved.",
		}
	case !resumed:
		t.Commit, t.Message = got.Commit, message(got)
	}
	done := ended{Name: m.Name, Message: t.Message, Resumed: resumed}
	done.Closed = roadmap.Closed{Date: a.Now().UTC().Format(time.DateOnly), Tag: t.Name, Commit: t.Commit}
	return done, nil, change(ctx, a, func(now *road) ([]byte, error) {
		i := now.Find(m.Name)
		if i < 0 || now.Source(i) != r.Source(slices.IndexFunc(r.Milestones, func(o roadmap.Milestone) bool { return o.Name == m.Name })) {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "milestone " + m.Name + " was changed while it was audited", Hint: "Close it again.",
			}
		}
		if !resumed {
			by := git.Identity{}
			by.Name, by.Email = git.Author(ctx, now.place.Repo, a.Env)
			by.Name = cmp.Or(by.Name, a.User())
			if err := git.MakeTag(ctx, now.place.Repo, t, by, a.Now()); err != nil {
				return nil, err
			}
		}
		return now.Close(i, done.Closed), nil
	})
}

func mapped(all []string, to func(string) string) (out []string) {
	for _, one := range all {
		out = append(out, to(one))
	}
	return out
}

// trailer starts the line of a tag's message that names the milestone.
const trailer = "Nexus-Milestone: "

// tag returns the tag that closes a milestone, and whether an interrupted close has made it. A
// tag from elsewhere is an error.
func (r *road) tag(ctx context.Context, m roadmap.Milestone, given string) (git.Tag, bool, error) {
	refuse := func(message, hint string) (git.Tag, bool, error) {
		return git.Tag{}, false, &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
	}
	name := cmp.Or(m.Tag, given)
	switch {
	case name == "":
		return refuse("milestone "+m.Name+" names no tag", "Write \"Tag: v0.1.0\" below its title in "+roadmap.File+", or give --tag.")
	case given != "" && given != name:
		return refuse(fmt.Sprintf("the roadmap says that the tag of %s is %s, not %s", m.Name, name, given), "Change it in "+roadmap.File+".")
	case roadmap.Bad(name):
		return refuse(view.Quote(name)+" cannot be a tag", "Choose one such as v0.1.0.")
	}
	t, there, err := git.ReadTag(ctx, r.place.Repo, name)
	if err != nil || !there {
		return git.Tag{Name: name}, false, err
	}
	if slices.Contains(strings.Split(t.Message, "\n"), trailer+m.Name) {
		return t, true, nil
	}
	return refuse("there is a tag "+name+" already, at "+view.ShortHash(t.Commit), "Choose another; a tag that is there is not moved.")
}

// message returns the tag's message: the landed changes and their evidence.
func message(a roadmap.Audit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nReached on %s.\n", a.Title, a.Branch)
	for _, t := range a.Traces {
		fmt.Fprintf(&b, "\n%s:\n", t.Title)
		for _, row := range t.Rows {
			if row.Later || !row.Asks {
				continue
			}
			fmt.Fprintf(&b, "- %s: %s", row.ID, row.Text)
			if run := t.RunOf(row); run != "" {
				b.WriteString(" (" + strings.Join(append([]string{"run " + string(run)}, mapped(row.Commits, view.ShortHash)...), ", ") + ")")
			}
			b.WriteString("\n")
		}
	}
	if len(a.Aims) > 0 {
		b.WriteString("\nGoals:\n")
	}
	for _, g := range a.Aims {
		fmt.Fprintf(&b, "- %s (run %s)\n", g.Text, g.Run)
	}
	if len(a.Shows) > 0 {
		b.WriteString("\nCriteria:\n")
	}
	for _, c := range a.Shows {
		by := c.By
		if c.Check != "" {
			by += ": " + c.Check
		}
		fmt.Fprintf(&b, "- %s: %s (%s)\n", c.ID, strings.Join(strings.Fields(c.Text), " "), by)
	}
	return b.String() + "\n" + trailer + a.Name
}
