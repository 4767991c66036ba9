package goalsource

import (
	"context"
	"net/url"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// fetchGoal returns the goal in an issue or a text elsewhere, if text is its address or number.
// It reports false for any other text. It fetches only addresses that the user typed on the
// command line: a file may come from a stranger, and a client driven by a model could reach
// everything that this machine reaches.
func (src *Source) fetchGoal(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, text string, typed bool) (goal string, ok bool, err error) {
	away := strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
	if strings.ContainsAny(text, " \t\n") || !away && !strings.Contains(text, "#") || !typed && !a.Host.Served {
		return "", false, nil
	}
	r, err := a.ParseIssueRef(ctx, text)
	switch {
	case a.Host.Served && (err != nil || away || r != forge.IssueRef{}):
		return "", false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the goal is an address, and a client may not have it fetched",
			Hint: "Give the text itself as the goal, or name the address on the command line: nexus run ADDRESS.",
		}
	case err != nil:
		return "", false, err
	case r == forge.IssueRef{} && away:
		goal, err = forge.Client{}.FetchText(ctx, text)
		o.Goal.Source = withoutSecrets(text)
		return strings.TrimSpace(goal), true, err
	case r == forge.IssueRef{}:
		return "", false, nil
	case src.Comment && r.Token == "":
		return "", false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--comment writes to the issue, but there is no token for " + r.API,
			Hint: "Set GITHUB_TOKEN or GITLAB_TOKEN to a token that may comment, or leave --comment out.",
		}
	}
	i, err := forge.Client{}.ReadIssue(ctx, r)
	if err != nil {
		return "", false, err
	}
	sayIssueRead(a, r, i)
	o.Goal.Source, o.Goal.Comment = r.Web, src.Comment
	return strings.TrimSpace(i.GoalText(r)), true, nil
}

// withoutSecrets returns an address without parts that may be secret.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// sayIssueRead prints which parts of an issue were read, and which were not.
func sayIssueRead(a *console.Console, r forge.IssueRef, i forge.Issue) {
	a.Say("%s %s: %s", r.Kind, view.EscapeForTerminal(r.Project), view.EscapeForTerminal(i.Title))
	if i.Closed {
		a.Say("  it is closed already")
	}
	if i.Unread {
		a.Say("  left out: its comments, because GitLab shows them only with a token, and GITLAB_TOKEN is not set")
	}
	switch {
	case i.Left > 0 && i.Unproved:
		a.Say("  left out: %s of people who do not belong to the project", view.CountWithNoun(i.Left, "comment"))
	case i.Left > 0:
		a.Say("  left out: %s of people who may not write to the project", view.CountWithNoun(i.Left, "comment"))
	}
	if i.Hidden > 0 {
		a.Say("  left out: %s that its page does not show", view.CountWithNoun(i.Hidden, "comment"))
	}
	if i.More {
		a.Say("  left out: the newest comments, there are too many")
	}
}
