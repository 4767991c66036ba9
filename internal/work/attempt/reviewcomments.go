package attempt

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/decide/landingupdates"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
)

// commentsPrompt returns the message to the author of a change in a round that answers
// people's comments: the first batch (the others follow before the next model call), or the
// comments without an answer.
func (w *attemptWork) commentsPrompt(cause string) (text, why string, told state.Guidance) {
	if cause == nexus.AnswerCause {
		return diffreview.ReminderMessage(w.a.Reminded), "review", told
	}
	all := w.task.UndeliveredComments(w.a.ID)
	if len(all) == 0 { // a process that died had sent it
		return "A person reviewed your change, and said it above. " + diffreview.AnswerRules, "review", told
	}
	text, why = landingupdates.UpdateMessage(all[0])
	return text, why, all[0]
}

// recordCommentAnswers compares an author's answers to people's comments with the change, and
// records the result.
func (w *attemptWork) recordCommentAnswers(ctx context.Context) error {
	if len(w.a.Claims) == 0 {
		return nil
	}
	r, commit := w.a.LastRound(), w.a.Snapshot.Commit
	f := nexus.CommentsAnswered{Task: w.task.ID, Attempt: w.a.ID, Session: r.Session, Round: r.Round, Commit: commit}
	for _, claim := range w.a.Claims {
		one := nexus.CommentAnswer{Comment: claim.Comment, Reply: nexus.CommentReplyKind(claim.Status), Why: claim.Why}
		c, known := w.findComment(claim.Comment)
		if !known {
			continue // an agent invented it
		}
		var err error
		if one.Changed, err = w.changedSince(ctx, c, commit); err != nil {
			return err
		}
		f.Answers = append(f.Answers, one)
	}
	return w.recordFacts(ctx, f)
}

// findComment returns the comment with that ID that the author received.
func (w *attemptWork) findComment(id string) (nexus.ReviewComment, bool) {
	for _, c := range w.a.Open {
		if c.ID == id {
			return c, true
		}
	}
	c, ok := w.task.CommentByID(id)
	return c.ReviewComment, ok
}

// changedSince reports whether the lines of a comment changed up to a commit.
func (w *attemptWork) changedSince(ctx context.Context, c nexus.ReviewComment, commit string) (bool, error) {
	if c.Commit == "" || commit == "" || c.Commit == commit {
		return false, nil
	}
	patch, err := w.Worker.Trees.PrivateRepo().Diff(ctx, c.Commit, commit)
	if err != nil {
		return false, fmt.Errorf("compare with what %s was about: %w", c.ID, err)
	}
	return diffreview.ChangesCommentSubject(diffreview.ParseDiff(patch), c), nil
}

// recordRiskyFiles records which files of accepted work are risky, if those need a person's review.
func (w *attemptWork) recordRiskyFiles(ctx context.Context, snap nexus.TreeSnapshotted) error {
	if w.view.Limits.Review.People != nexus.ReviewRisky {
		return nil
	}
	patch, err := w.Worker.Trees.PrivateRepo().Diff(ctx, w.a.Base, snap.Commit)
	if err != nil {
		return err
	}
	weaker, err := changeeffects.FindSuspects(ctx, w.Worker.Trees.PrivateRepo(), w.a.Base, w.a.Base, snap.Commit)
	if err != nil {
		return err
	}
	return w.recordFacts(ctx, nexus.ChangeRiskRated{Attempt: w.a.ID, Tree: snap.Tree, Risky: diffreview.RiskyFiles(patch, weaker)})
}

// applySuggestions applies people's suggestions, in a round without an agent. After a crash,
// suggestions that are already in the tree are detected.
func (w *attemptWork) applySuggestions(ctx context.Context, step repair.RepairStep) error {
	if r := w.a.LastRound(); r == nil || r.Role != nexus.Reviser || r.Verdict != nil {
		f := nexus.RoundStarted{Attempt: w.a.ID, Round: len(w.a.Rounds) + 1, Role: nexus.Reviser, Cause: step.Cause}
		if err := w.recordFacts(ctx, f); err != nil {
			return err
		}
	}
	f := nexus.SuggestionsApplied{Task: w.task.ID, Attempt: w.a.ID}
	from := w.a.Snapshot.Commit
	if err := w.tree.Restore(ctx, from); err != nil { // a process may have died in the middle
		return fmt.Errorf("restore the worktree of %s: %w", w.a.ID, err)
	}
	at := from
	for _, c := range w.a.Sent.Apply {
		why, err := w.applySuggestion(ctx, c, at)
		if err != nil {
			return err
		}
		if why != "" {
			f.Refused = append(f.Refused, nexus.UnappliedSuggestion{Comment: c.ID, Why: why})
			continue
		}
		f.Applied = append(f.Applied, c.ID)
		snap, err := w.snapshotTree(ctx) // the next suggestion finds its lines in it
		if err != nil {
			return err
		}
		at = snap.Commit
	}
	snap, err := w.recordSnapshot(ctx)
	if err != nil {
		return err
	}
	f.Commit = snap.Commit
	return w.recordFacts(ctx, f)
}

// maxReplaced is the largest file, in bytes, in which lines are replaced.
const maxReplaced = 8 << 20

// applySuggestion replaces the lines of a suggestion, as they are now, and returns why that
// cannot be done, or "".
func (w *attemptWork) applySuggestion(ctx context.Context, c nexus.ReviewComment, at string) (why string, err error) {
	start := c.Start
	if c.Commit != at {
		patch, err := w.Worker.Trees.PrivateRepo().Diff(ctx, c.Commit, at)
		if err != nil {
			return "", fmt.Errorf("compare with what %s was about: %w", c.ID, err)
		}
		if f, changed := diffreview.FindFile(diffreview.ParseDiff(patch), c.File); changed {
			moved, ok := f.ShiftLines(c.Start, c.LastLine())
			if !ok || f.Path != c.File {
				return "the lines have changed since", nil
			}
			start = moved
		}
	}
	if !filepath.IsLocal(c.File) || path.Clean(c.File) != c.File {
		return "it names no file of the change", nil
	}
	root, err := os.OpenRoot(w.tree.Dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Lstat(c.File)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxReplaced {
		return "there is no such file that could be changed", nil
	}
	data, err := root.ReadFile(c.File)
	if err != nil {
		return "the file cannot be read", nil
	}
	text, ok := diffreview.ReplaceLines(string(data), start, start+c.LastLine()-c.Start, c.Replace.Text)
	if !ok {
		return "the file has no such lines", nil
	}
	if err := root.WriteFile(c.File, []byte(text), info.Mode().Perm()); err != nil {
		return "", fmt.Errorf("write what %s suggests: %w", c.ID, err)
	}
	return "", nil
}
