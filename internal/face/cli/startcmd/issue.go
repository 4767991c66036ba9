package startcmd

import (
	"context"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
)

// fetch returns the goal that an issue or a text elsewhere holds, where a text is its address or number. It
// reports false for any other text.
func fetch(ctx context.Context, a *console.Console, o *progress.Order, src *source, text string) (goal string, ok bool, err error) {
	away := strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
	if strings.ContainsAny(text, " \t\n") || !away && !strings.Contains(text, "#") {
		return "", false, nil
	}
	r, err := a.IssueRef(ctx, text)
	switch {
	case err != nil:
		return "", false, err
	case r == forge.Ref{} && away:
		goal, err = forge.Client{}.Fetch(ctx, text)
		o.Goal.Source = text
		return strings.TrimSpace(goal), true, err
	case r == forge.Ref{}:
		return "", false, nil
	}
	i, err := forge.Client{}.Read(ctx, r)
	if err != nil {
		return "", false, err
	}
	a.Say("%s %s: %s", r.Kind, view.Clean(r.Project), view.Clean(i.Title))
	if i.Closed {
		a.Say("  it is closed already")
	}
	if i.Left > 0 {
		a.Say("  left out: %s of people who may not write to the project", view.Count(i.Left, "comment"))
	}
	if src.comment && r.Token == "" {
		return "", false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--comment writes to the issue, and there is no token for " + r.API,
			Hint: "Set GITHUB_TOKEN or GITLAB_TOKEN to a token that may comment, or leave --comment out.",
		}
	}
	o.Goal.Source, o.Goal.Comment = r.Web, src.comment
	return strings.TrimSpace(i.Goal(r)), true, nil
}
