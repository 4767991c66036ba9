package milestonecmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/roadmap"
)

// closeResult is the JSON output of `milestone close`.
type closeResult struct {
	Name    string                  `json:"name"`
	Closed  roadmap.ClosedMilestone `json:"closed"`
	Message string                  `json:"message"`            // of the tag
	Resumed bool                    `json:"resumed,omitzero"`   // the tag existed: an earlier close was interrupted
	Again   bool                    `json:"unchanged,omitzero"` // everything was done before
}

func closeCommand(a *console.Console) *cobra.Command {
	tag := ""
	const use, short = "close NAME [--tag TAG] [--target BRANCH] [--json]", "tag a milestone without gaps, and mark it as closed"
	c := a.Command(use, short, func(ctx context.Context, args []string) error {
		settings, _, err := a.LoadSettings()
		if err != nil {
			return err
		}
		done, open, err := closeMilestone(ctx, a, settings, args[0], tag)
		if open != nil {
			a.Say("%s is not closed: it has gaps", open.Name)
			return printAudit(a, *open)
		}
		if err != nil {
			return err
		}
		return a.Answer(done, func(s view.Style) string { return drawClosed(s, done) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeInterrupted)
	c.Args = console.ArgCount(1, 1)
	c.Flags().StringVar(&tag, "tag", "", "`TAG` to make, if the roadmap names none")
	a.JSONFlag(c)
	a.SettingFlags(c, "sandbox", "target")
	return c
}

func drawClosed(s view.Style, e closeResult) string {
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

// closeMilestone makes the tag of a milestone without gaps, and then marks it as closed in the file. The
// tag names the milestone, so that the next close continues if this one is killed in between. If
// the milestone has gaps, it returns an audit instead.
func closeMilestone(ctx context.Context, a *console.Console, settings config.Config, name, tag string) (closeResult, *roadmap.MilestoneAudit, error) {
	r, err := openRoadmap(ctx, a)
	if err != nil {
		return closeResult{}, nil, err
	}
	defer r.place.Close()
	i, err := r.findMilestone(name)
	if err != nil {
		return closeResult{}, nil, err
	}
	m := r.Milestones[i]
	if m.Closed != nil {
		got, there, err := git.ReadTag(ctx, r.place.Repo, m.Closed.Tag)
		if err == nil && (!there || got.Commit != m.Closed.Commit) {
			err = alreadyClosedError(m, "Its tag has moved; nexus milestone audit "+m.Name+" says more.")
		}
		return closeResult{Name: m.Name, Closed: *m.Closed, Message: got.Message, Again: true}, nil, err
	}
	t, resumed, err := r.closingTag(ctx, m, tag)
	if err != nil {
		return closeResult{}, nil, err
	}
	got, _, err := r.auditMilestone(ctx, a, settings, i, t.Commit)
	switch {
	case err != nil:
		return closeResult{}, nil, err
	case len(got.Gaps) > 0 && resumed:
		a.Say("the tag %s of this milestone exists already, on a commit where the milestone is not complete; choose another", t.Name)
		return closeResult{}, &got, nil
	case len(got.Gaps) > 0:
		return closeResult{}, &got, nil
	case resumed && strings.TrimSpace(tagMessage(got)) != strings.TrimSpace(t.Message):
		return closeResult{}, nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the tag " + t.Name + " was made for an earlier text of " + m.Name,
			Hint: "Choose another tag; an existing tag is never moved.",
		}
	case !resumed:
		t.Commit, t.Message = got.Commit, tagMessage(got)
	}
	done := closeResult{Name: m.Name, Message: t.Message, Resumed: resumed}
	done.Closed = roadmap.ClosedMilestone{Date: a.Now().UTC().Format(time.DateOnly), Tag: t.Name, Commit: t.Commit}
	return done, nil, changeRoadmap(ctx, a, func(now *repoRoadmap) ([]byte, error) {
		i := now.Find(m.Name)
		if i < 0 || now.SourceOf(i) != r.SourceOf(slices.IndexFunc(r.Milestones, func(o roadmap.Milestone) bool { return o.Name == m.Name })) {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "milestone " + m.Name + " was changed while it was audited", Hint: "Close it again.",
			}
		}
		if !resumed {
			by := git.CommitIdentity{}
			by.Name, by.Email = git.ReadAuthor(ctx, now.place.Repo, a.Env)
			by.Name = cmp.Or(by.Name, a.UserName())
			if err := git.MakeTag(ctx, now.place.Repo, t, by, a.Now()); err != nil {
				return nil, err
			}
		}
		return now.Close(i, done.Closed), nil
	})
}

func mapStrings(all []string, to func(string) string) (out []string) {
	for _, one := range all {
		out = append(out, to(one))
	}
	return out
}

// trailer starts the line of a tag's message that names the milestone.
const trailer = "Nexus-Milestone: "

// closingTag returns the tag that closes a milestone, and whether an interrupted close has made it. A
// tag from elsewhere is an error.
func (r *repoRoadmap) closingTag(ctx context.Context, m roadmap.Milestone, given string) (git.Tag, bool, error) {
	refuse := func(message, hint string) (git.Tag, bool, error) {
		return git.Tag{}, false, &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
	}
	name := cmp.Or(m.Tag, given)
	switch {
	case name == "":
		return refuse("milestone "+m.Name+" names no tag", "Write \"Tag: v0.1.0\" below its title in "+roadmap.File+", or give --tag.")
	case given != "" && given != name:
		return refuse(fmt.Sprintf("the roadmap says that the tag of %s is %s, not %s", m.Name, name, given), "Change it in "+roadmap.File+".")
	case roadmap.IsBadTag(name):
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

// tagMessage returns the tag's message: the landed changes and their evidence.
func tagMessage(a roadmap.MilestoneAudit) string {
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
				b.WriteString(" (" + strings.Join(append([]string{"run " + string(run)}, mapStrings(row.Commits, view.ShortHash)...), ", ") + ")")
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
