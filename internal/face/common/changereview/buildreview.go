package changereview

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ReviewBuilder builds the review of a change for a person.
type ReviewBuilder struct {
	Repo   git.Repo // the private clone
	Who    string
	Seen   *ViewedFiles   // nil: viewed files are unknown
	Drafts *CommentDrafts // nil: drafts are unknown
}

// BuildReview returns a task's change in the form for a person's review.
func (v ReviewBuilder) BuildReview(ctx context.Context, s *state.State, t *state.TaskState) (TaskChangeReview, error) {
	base, commit := t.ChangedCommits()
	if commit == "" {
		return TaskChangeReview{}, &nexus.Error{
			Code: nexus.CodeNotFound, Message: string(t.ID) + " has changed nothing yet",
			Hint: fmt.Sprintf("Message its agent something with nexus tell %s TEXT, or wait until it has written.", t.ID),
		}
	}
	r := TaskChangeReview{
		Run: s.Run, Task: t.ID, Title: t.Title, Status: s.StatusOf(t), Base: base, Commit: commit,
		Files: []ReviewedFile{}, Comments: []ShownComment{}, Must: []string{}, Why: schedule.UnreviewableReason(s, t),
	}
	r.Open = r.Why == ""
	a := attemptWithShownChange(s, t)
	if a != nil {
		r.Attempt, r.Round, r.Wanted = a.ID, len(a.Rounds), s.PersonReviewReason(a)
		if a.Commit != "" {
			r.Approved = s.LandingApprover(t, a)
		}
		if q := s.LandingQuestion(a); q != nil && q.By == "" {
			r.Question = q.ID
		}
	}
	if t.Landed != nil {
		r.Landed = t.Landed.Commit
	}
	if err := v.addFiles(ctx, &r, a); err != nil {
		return r, err
	}
	if err := v.addComments(ctx, &r, s, t); err != nil {
		return r, err
	}
	return r, v.addChangesSinceReview(ctx, &r, t)
}

// attemptWithShownChange returns the attempt whose full change is shown.
func attemptWithShownChange(s *state.State, t *state.TaskState) *state.AttemptState {
	if t.Landed != nil {
		return s.AttemptByID(t.Landed.Attempt).UnpackedCopy()
	}
	for _, a := range slices.Backward(t.Attempts) {
		if a.Snapshot.Commit != "" {
			return a
		}
	}
	return t.CurrentAttempt()
}

// addFiles fills in the files, the riskiest first.
func (v ReviewBuilder) addFiles(ctx context.Context, r *TaskChangeReview, a *state.AttemptState) error {
	patch, err := v.Repo.Diff(ctx, r.Base, r.Commit)
	if err != nil {
		return fmt.Errorf("read the change of %s: %w", r.Task, err)
	}
	r.Cut = len(patch) >= diffreview.MostPatch
	changed, err := v.Repo.ChangedFiles(ctx, r.Base, r.Commit)
	if err != nil {
		return fmt.Errorf("list the files of %s: %w", r.Task, err)
	}
	ids := map[string]string{}
	for _, c := range changed {
		ids[c.Path] = c.ID + c.Mode
	}
	weaker := weakenedTests(a)
	order := map[string]diffreview.RatedFileRisk{}
	for _, f := range diffreview.ParseDiff(patch) {
		w := diffreview.RateFile(f, weaker)
		order[f.Path] = w
		one := ReviewedFile{DiffFile: f, Risk: w.Risk, Reasons: w.Reasons, Collapsed: w.Collapsed, Hash: contentHash(ids[f.Path], f.Old)}
		if one.Reasons == nil {
			one.Reasons = []string{}
		}
		if v.Seen != nil {
			was := v.Seen.marks[f.Path]
			one.Viewed, one.Reopened = was == one.Hash, was != "" && was != one.Hash
		}
		if one.Viewed {
			r.Seen++
		}
		r.Added, r.Deleted = r.Added+f.Added, r.Deleted+f.Deleted
		r.Files = append(r.Files, one)
	}
	slices.SortStableFunc(r.Files, func(x, y ReviewedFile) int {
		return diffreview.CompareRisk(order[x.Path], order[y.Path], x.Path, y.Path)
	})
	return nil
}

func contentHash(id, old string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + old))
	return hex.EncodeToString(sum[:8])
}

// weakenedTests returns the findings about tests that an attempt removed or weakened.
func weakenedTests(a *state.AttemptState) []nexus.Finding {
	if a == nil {
		return nil
	}
	for _, r := range slices.Backward(a.Rounds) {
		if r.Suspect != nil && r.Suspect.Tree == a.Snapshot.Tree {
			return r.Suspect.Findings
		}
	}
	return nil
}

// addComments fills in people's comments, with their current positions.
func (v ReviewBuilder) addComments(ctx context.Context, r *TaskChangeReview, s *state.State, t *state.TaskState) error {
	moved := map[string][]diffreview.DiffFile{}
	for _, c := range t.Comments {
		one := ShownComment{
			ReviewComment: c.ReviewComment, By: c.By, At: c.At, State: commentState(c), Resolved: c.Resolved, Refused: c.Refused,
			Note: commentNote(c), Answers: []ShownCommentAnswer{},
		}
		for _, a := range c.Answers {
			one.Answers = append(one.Answers, ShownCommentAnswer{
				CommentAnswer: a.CommentAnswer, Attempt: a.Attempt, Round: a.Round,
				Commit: a.Commit, At: a.At,
			})
		}
		var err error
		if one.Line, err = v.currentLine(ctx, moved, c.ReviewComment, r.Commit); err != nil {
			return err
		}
		if c.BlocksLanding() {
			r.Must = append(r.Must, c.ID)
		}
		r.Comments = append(r.Comments, one)
		for i := range r.Files {
			if c.File != "" && (r.Files[i].Path == c.File || r.Files[i].Old == c.File) {
				r.Files[i].Comments = append(r.Files[i].Comments, c.ID)
			}
		}
	}
	for _, q := range s.Requests { // not processed by the conductor yet
		if q.Verb == nexus.VerbReview && q.Task == t.ID && q.Review != nil {
			for _, c := range q.Review.Comments {
				r.Comments = append(r.Comments, ShownComment{ReviewComment: c, By: q.By, State: "sent", Line: c.Start, Answers: []ShownCommentAnswer{}})
			}
		}
	}
	return v.addDrafts(ctx, moved, r)
}

// addDrafts fills in the person's unsent comments.
func (v ReviewBuilder) addDrafts(ctx context.Context, moved map[string][]diffreview.DiffFile, r *TaskChangeReview) error {
	if v.Drafts == nil {
		return nil
	}
	for _, c := range v.Drafts.UnsentDrafts(r.Comments, v.Who) {
		line, err := v.currentLine(ctx, moved, c, r.Commit)
		if err != nil {
			return err
		}
		r.Drafts = append(r.Drafts, DraftComment{c, line})
	}
	return nil
}

// currentLine returns the line at which a comment's first line is in a commit.
func (v ReviewBuilder) currentLine(ctx context.Context, moved map[string][]diffreview.DiffFile, c nexus.ReviewComment, commit string) (int, error) {
	if c.Start == 0 || c.Side == nexus.OldSide || c.Commit == commit || c.Commit == "" {
		return c.Start, nil
	}
	files, known := moved[c.Commit]
	if !known {
		patch, err := v.Repo.Diff(ctx, c.Commit, commit)
		if err != nil {
			return 0, fmt.Errorf("compare with what %s was about: %w", c.ID, err)
		}
		files = diffreview.ParseDiff(patch)
		moved[c.Commit] = files
	}
	f, changed := diffreview.FindFile(files, c.File)
	if !changed {
		return c.Start, nil
	}
	line, ok := f.ShiftLines(c.Start, c.LastLine())
	if !ok {
		return 0, nil
	}
	return line, nil
}

func commentState(c state.TaskComment) string {
	switch {
	case c.Applied != "":
		return "applied"
	case c.Resolved != "":
		return "resolved"
	case len(c.Answers) > 0:
		return "answered"
	case c.Refused != "":
		return "refused"
	case c.Told != "":
		return "told"
	default:
		return "open"
	}
}

// commentNote returns the remark that is shown beside a comment.
func commentNote(c state.TaskComment) string {
	if last, ok := c.LastAnswer(); ok && last.Reply == nexus.CommentFixed && !last.Changed {
		return view.ReplyText(last.CommentAnswer)
	}
	return ""
}

// addChangesSinceReview fills in the changes since the person's last review.
func (v ReviewBuilder) addChangesSinceReview(ctx context.Context, r *TaskChangeReview, t *state.TaskState) error {
	var last *state.PersonChangeReview
	for i, l := range t.Looks {
		if l.By == v.Who && l.Commit != "" {
			last = &t.Looks[i]
		}
	}
	if last == nil {
		return nil
	}
	w := &ChangesSinceReview{Base: last.Base, Commit: last.Commit, At: last.At, Files: []diffreview.DiffFile{}}
	r.Since = w
	from := last.Commit
	if last.Base != "" && last.Base != r.Base { // as it would be on the current base
		m, err := v.Repo.Merge(ctx, last.Base, r.Base, last.Commit)
		if err != nil {
			return fmt.Errorf("move what was reviewed to the base of today: %w", err)
		}
		w.Rebased, from = true, m.Tree
		if len(m.Conflicts) > 0 {
			w.Why = "what was reviewed does not merge with what landed since in " + nexus.JoinWords(m.Conflicts) +
				": they are shown with the marks of the conflict"
		}
	}
	patch, err := v.Repo.Diff(ctx, from, r.Commit)
	if err != nil {
		return fmt.Errorf("compare with the last review: %w", err)
	}
	if files := diffreview.ParseDiff(patch); files != nil {
		w.Files = files
	}
	return nil
}
