package improveloopworker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// errNoForge is the error that there is no forge to push branches to.
var errNoForge = errors.New("no forge is set for pull requests")

// updatePullRequest pushes the branch of a theme, and lists the waiting results in its pull
// request. It forces nothing, and pushes nothing to a branch whose pull request people ended.
// It finds a branch that is on the forge already, and a pull request that a dead process
// opened.
func (h *LocalLoopExecutor) updatePullRequest(ctx context.Context, f nexus.PullRequestUpdateStarted, l *improveloop.ImproveLoop) ([]nexus.Fact, error) {
	ref := h.order.Forge
	if ref == nil {
		return nil, errNoForge
	}
	if p := l.OpenPullRequest(f.Branch); p != nil && p.Number > 0 { // people may have ended it since the last check
		how, err := h.fetchPullRequestDecision(ctx, p)
		if err != nil {
			return nil, appendHint(err)
		}
		if how != "" {
			return l.PullRequestEndedFacts(p, how), nil
		}
	}
	items := l.LandedItemsOn(f.Branch)
	if len(items) == 0 && l.OpenPullRequest(f.Branch) == nil {
		return []nexus.Fact{nexus.PullRequestUpdateFailed{Branch: f.Branch, Commit: f.Commit, Why: "no result waits there now"}}, nil
	}
	if facts, err := h.recoverEndedPullRequest(ctx, f, l); err != nil || len(facts) > 0 {
		return facts, err
	}
	address, user := ref.CloneAddress()
	to := git.RemoteRepo{URL: address, User: user, Token: ref.Token}
	if err := h.place.Repo.Push(ctx, to, f.Branch, f.Commit); err != nil {
		return nil, appendHint(err)
	}
	made, fresh, err := h.order.Client.OpenOrUpdatePullRequest(ctx, *ref, forge.PullRequest{
		Branch: f.Branch, Base: l.Target, Title: pullRequestTitle(f.Branch, len(items)), Body: h.app.Mask.MaskText(pullRequestBody(items)),
	})
	if err != nil {
		return nil, appendHint(err)
	}
	return []nexus.Fact{nexus.PullRequestUpdated{Branch: f.Branch, Commit: f.Commit, Number: made.Number, Web: made.Web, New: fresh}}, nil
}

// recoverEndedPullRequest returns the facts for a pull request that a process opened before it died
// without recording it, and that people ended since. It is recorded, and nothing is pushed or
// opened again.
func (h *LocalLoopExecutor) recoverEndedPullRequest(ctx context.Context, f nexus.PullRequestUpdateStarted, l *improveloop.ImproveLoop) ([]nexus.Fact, error) {
	if p := l.OpenPullRequest(f.Branch); p != nil && p.Number > 0 {
		return nil, nil
	}
	all, err := h.order.Client.EndedPullRequests(ctx, *h.order.Forge, forge.PullRequest{Branch: f.Branch, Base: l.Target})
	if err != nil {
		return nil, appendHint(err)
	}
	for _, one := range all {
		if !l.IsOwnPullRequest(f.Branch, one.Commit, one.Number) {
			continue
		}
		told := nexus.PullRequestUpdated{Branch: f.Branch, Commit: one.Commit, Number: one.Number, Web: one.Web, New: true}
		l.Apply(nexus.Event{Run: l.Run, At: h.app.Now(), Fact: told})
		return append([]nexus.Fact{told}, l.PullRequestEndedFacts(l.OpenPullRequest(f.Branch), pullRequestDecision(one))...), nil
	}
	return nil, nil
}

// appendHint returns an error with its remedy in the text: no person sees more than the text.
func appendHint(err error) error {
	if e, ok := errors.AsType[*nexus.Error](err); ok && e.Hint != "" {
		return fmt.Errorf("%w; %s", err, e.Hint)
	}
	return err
}

// pullRequestTitle returns the title of a theme's pull request.
func pullRequestTitle(branch string, results int) string {
	theme := strings.TrimPrefix(branch, nexus.Theme)
	if results == 1 {
		return "nexus improve: " + theme
	}
	return fmt.Sprintf("nexus improve: %s (%d results)", theme, results)
}

// maxListed is the number of results that a pull request names.
const maxListed = 100

// pullRequestBody describes the results that wait on a branch, and the options of a person. A finding
// is text of the repository: it is written as code, so that a forge interprets no word of it.
func pullRequestBody(items []*improveloop.LoopItem) string {
	var b strings.Builder
	b.WriteString("`nexus improve` found this, did it, and waits for you. Every commit builds, and passed the same gates and review " +
		"as any other work of Nexus.\n\n")
	if len(items) == 0 {
		b.WriteString("Nothing of it is left: what was here made something worse, and was reverted.\n\n")
	} else {
		b.WriteString("| what | finding | run |\n|---|---|---|\n")
	}
	for _, i := range items[:min(len(items), maxListed)] {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", inlineCode(i.Wanted.Title), inlineCode(i.Wanted.Finding), inlineCode(string(i.ID)))
	}
	if more := len(items) - maxListed; more > 0 {
		fmt.Fprintf(&b, "\nand %d more.\n", more)
	}
	b.WriteString("\nMerge it to accept, close it to reject. Commits that you add are not overwritten.\n")
	return b.String()
}

// inlineCode writes a text as code, which a forge shows unchanged, also within a table.
func inlineCode(text string) string {
	text = strings.Join(strings.Fields(strings.NewReplacer("`", "'", "|", "/").Replace(text)), " ")
	return "`" + text + "`"
}

// readClosedPullRequests reads the decisions of people about pull requests, and about their waiting
// results. A pull request that cannot be read continues to wait; notes explain why.
func (h *LocalLoopExecutor) readClosedPullRequests(ctx context.Context, l *improveloop.ImproveLoop) (facts []nexus.Fact, notes []string) {
	if h.order.Forge == nil {
		return nil, nil
	}
	for _, p := range l.Pulls {
		if p.Number == 0 {
			continue
		}
		how, err := h.fetchPullRequestDecision(ctx, p)
		if err != nil {
			notes = append(notes, fmt.Sprintf("pull request %d: %v", p.Number, err))
		} else if how != "" {
			facts = append(facts, l.PullRequestEndedFacts(p, how)...)
		}
	}
	return facts, notes
}

// fetchPullRequestDecision returns the decision of people about a pull request, "" while it is open.
func (h *LocalLoopExecutor) fetchPullRequestDecision(ctx context.Context, p *improveloop.ThemePullRequest) (string, error) {
	is, err := h.order.Client.GetPullRequest(ctx, *h.order.Forge, p.Number)
	if err != nil {
		return "", err
	}
	return pullRequestDecision(is), nil
}

// pullRequestDecision returns the decision of people about a pull request, "" while it is open.
func pullRequestDecision(p forge.PullRequest) string {
	return map[forge.PullRequestState]string{forge.PullMerged: nexus.ResultMerged, forge.PullClosed: nexus.ResultRejected}[p.State]
}
