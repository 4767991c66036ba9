package changereview

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CommentDrafts are a person's unsent comments on a task's change. They decide nothing, so they are
// stored beside the journal, like [ViewedFiles], one line for each: a process that dies in the
// middle loses at most that line.
type CommentDrafts struct {
	file string
	All  []nexus.ReviewComment // in the order in which they were written; each has an ID: d1, d2, ...
}

// draftFileLine is a line of the file: a comment, or the IDs of removed drafts.
type draftFileLine struct {
	Comment *nexus.ReviewComment `json:"comment,omitempty"`
	Gone    []string             `json:"gone,omitempty"`
	At      time.Time            `json:"at"`
}

// LoadDrafts reads a person's unsent comments. It skips unreadable lines.
func LoadDrafts(state string, run nexus.RunID, task nexus.TaskID, who string) (*CommentDrafts, error) {
	d := &CommentDrafts{file: PersonNotePath(state, run, task, who, ".drafts")}
	data, err := os.ReadFile(d.file)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read comments that were not sent: %w", err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		var l draftFileLine
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		if l.Comment != nil {
			n++ // an ID is not used twice, even after its draft is gone
			l.Comment.ID = "d" + strconv.Itoa(n)
			d.All = append(d.All, *l.Comment)
		}
		d.removeDrafts(l.Gone)
	}
	return d, nil
}

func (d *CommentDrafts) removeDrafts(gone []string) {
	d.All = slices.DeleteFunc(d.All, func(c nexus.ReviewComment) bool { return slices.Contains(gone, c.ID) })
}

// LockFile returns the file that is locked while drafts are sent, so that none is sent twice.
func (d *CommentDrafts) LockFile() string { return d.file + ".lock" }

// UnsentDrafts returns the drafts that are not among the sent comments: a process that died before it
// could record it has sent those.
func (d *CommentDrafts) UnsentDrafts(sent []ShownComment, who string) []nexus.ReviewComment {
	return slices.DeleteFunc(slices.Clone(d.All), func(c nexus.ReviewComment) bool {
		return slices.ContainsFunc(sent, func(s ShownComment) bool { return s.By == who && sameWords(s.ReviewComment, c) })
	})
}

// sameWords reports whether two comments have the same text and position.
func sameWords(x, y nexus.ReviewComment) bool {
	replace := func(c nexus.ReviewComment) nexus.SuggestedReplacement {
		if c.Replace == nil {
			return nexus.SuggestedReplacement{Text: "\x00"}
		}
		return *c.Replace
	}
	return x.File == y.File && x.Side == y.Side && x.Start == y.Start && x.LastLine() == y.LastLine() && x.Kind == y.Kind && x.Body == y.Body &&
		x.Commit == y.Commit && replace(x) == replace(y)
}

// Add stores comments as drafts.
func (d *CommentDrafts) Add(all []nexus.ReviewComment, at time.Time) error {
	lines := make([]draftFileLine, len(all))
	for i := range all {
		lines[i] = draftFileLine{Comment: &all[i], At: at}
	}
	return d.appendLines(lines...)
}

// Remove records that comments are no longer drafts.
func (d *CommentDrafts) Remove(ids []string, at time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	d.removeDrafts(ids)
	return d.appendLines(draftFileLine{Gone: ids, At: at})
}

// appendLines appends lines to the file in one write.
func (d *CommentDrafts) appendLines(lines ...draftFileLine) error {
	text := []byte("\n") // a truncated last line does not corrupt them
	for _, l := range lines {
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	if err := os.MkdirAll(filepath.Dir(d.file), 0o700); err != nil {
		return fmt.Errorf("keep comments that were not sent: %w", err)
	}
	f, err := os.OpenFile(d.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep comments that were not sent: %w", err)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}
