package reviewcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// maxBatch limits the size of a batch, in bytes.
const maxBatch = 4 << 20

// readBatchData reads a batch: a list of comments, or an object with comments, resolve, apply and approve.
func (d *reviewSession) readBatchData(ctx context.Context, v *nexus.ChangeReview) error {
	in := d.console.In
	if d.Batch != "-" {
		f, err := os.Open(d.Batch)
		if err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "read the batch", Cause: err,
				Hint: "Give a file with JSON, or - for standard input.",
			}
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxBatch+1))
	if err != nil {
		return fmt.Errorf("read the batch: %w", err)
	}
	bad := func(why string) error {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the batch cannot be read: " + why,
			Hint: `Write {"comments": [{"file": "a.go", "start": 3, "kind": "must", "body": "TEXT"}], "resolve": ["c1"]} (docs/review-and-land.md).`,
		}
	}
	if len(data) > maxBatch {
		return bad(fmt.Sprintf("it has more than %d bytes", maxBatch))
	}
	if err := ReadBatch(data, v); err != nil {
		return bad(err.Error())
	}
	for i := range v.Comments {
		c := &v.Comments[i]
		c.ID = ""
		c.Commit = cmp.Or(c.Commit, d.review.Commit)
		if c.File == "" {
			continue
		}
		if err := d.fillQuotedLines(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// fillQuotedLines fills in the lines that a comment is about, from the commit that its author reviewed,
// which need not be the last one.
func (d *reviewSession) fillQuotedLines(ctx context.Context, c *nexus.ReviewComment) error {
	f, err := d.findFile(c.File)
	if err != nil {
		return err
	}
	if c.Start == 0 || c.Hunk != "" {
		return nil
	}
	looked := []diffreview.DiffFile{f.DiffFile}
	if c.Commit != d.review.Commit {
		patch, err := d.reader.Repo.Diff(ctx, d.review.Base, c.Commit)
		if err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s has no commit %s", d.task.ID, view.QuoteForTerminal(c.Commit)), Cause: err,
				Hint: fmt.Sprintf("Leave it out, or take that of nexus review %s --json.", d.task.ID),
			}
		}
		looked = diffreview.ParseDiff(patch)
	}
	c.Hunk = diffreview.CommentExcerpt(looked, *c)
	return nil
}

// ReadBatch reads a batch into a review. It may not change the review's base and commit.
func ReadBatch(data []byte, v *nexus.ChangeReview) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var in nexus.ChangeReview
	var err error
	if strings.HasPrefix(strings.TrimSpace(string(data)), "[") {
		err = d.Decode(&in.Comments)
	} else {
		err = d.Decode(&in)
	}
	if err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	for i, c := range in.Comments {
		if c.Kind == "" {
			in.Comments[i].Kind = nexus.ShouldComment
		}
		if c.Start < 0 || c.End < 0 || c.End > 0 && c.End < c.Start {
			return fmt.Errorf("comment %d: %d-%d is not a range of lines", i+1, c.Start, c.End)
		}
		if c.Side != "" && c.Side != nexus.OldSide && c.Side != nexus.NewSide {
			return fmt.Errorf("comment %d: the side %q is neither old nor new", i+1, c.Side)
		}
	}
	v.Comments, v.Approve = in.Comments, v.Approve || in.Approve
	v.Resolve, v.Apply = append(v.Resolve, in.Resolve...), append(v.Apply, in.Apply...)
	v.Commit = cmp.Or(in.Commit, v.Commit) // an approval names the reviewed commit
	return nil
}

// editComments lets the person write comments into the change in their editor. The file is kept until its
// comments are in the journal; false means that there are none.
func (d *reviewSession) editComments(v *nexus.ChangeReview) (bool, error) {
	diff, err := d.reader.Repo.Diff(context.Background(), d.review.Base, d.review.Commit)
	if err != nil {
		return false, err
	}
	file := changereview.PersonNotePath(d.place.State, d.run.ID, d.task.ID, d.console.UserName(), ".patch")
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, err
	case diffreview.PatchCommit(string(old)) != d.review.Commit:
		return false, &nexus.Error{
			Code: nexus.CodeInvalidInput,
			Message: fmt.Sprintf("the comments that you started are about commit %.12s, and %s is at %.12s now",
				diffreview.PatchCommit(string(old)), d.task.ID, d.review.Commit),
			Hint: fmt.Sprintf("They are in %s. Move that file away, and start again with nexus review %s --editor.", file, d.task.ID),
		}
	}
	if old == nil {
		title := fmt.Sprintf("%s %s", d.task.ID, d.task.Title)
		if err := writeFileAtomically(file, diffreview.ReviewPatch(title, d.review.Commit, diff)); err != nil {
			return false, err
		}
	}
	name := cmp.Or(d.console.Env("VISUAL"), d.console.Env("EDITOR"), "vi")
	if err := console.OpenEditor(name, file); err != nil {
		return false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "run the editor " + view.QuoteForTerminal(name), Cause: err,
			Hint: "Set EDITOR to an installed editor that waits until you are done, such as code --wait. What you wrote is in " + file + ".",
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	comments, err := diffreview.ReadPatchComments(string(data), diff)
	if err != nil {
		return false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the patch cannot be read: " + err.Error(),
			Hint: fmt.Sprintf("Nothing was sent and nothing is lost: it is kept in %s. Correct the line with nexus review %s --editor.",
				file, d.task.ID),
		}
	}
	if len(comments) == 0 && len(v.Resolve) == 0 && len(v.Apply) == 0 && !v.Approve {
		return false, os.Remove(file)
	}
	for i := range comments {
		comments[i].Commit = d.review.Commit
	}
	v.Comments = comments
	d.kept = file
	return true, nil
}

// writeFileAtomically writes a file completely or not at all.
func writeFileAtomically(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	part := file + ".part"
	if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(part, file)
}
