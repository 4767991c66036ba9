package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

const maxRewritten = 8_000 // bytes of the changes of several files in the result for the agent

// FileReplacement is the replacement of one file.
type FileReplacement struct {
	Name string
	Old  string // the text that New was made from; a file with another text is not written
	New  string
	Made bool // the file does not exist yet
}

// Text returns the text of a file for a reader other than the agent; it does not count as read
// by the agent.
func (t *AgentTree) Text(name string) (string, error) {
	d, err := t.loadTextFile(name)
	return d.text, err
}

// RewriteFiles gives files new texts, all or none of them, and returns the changes.
func (t *AgentTree) RewriteFiles(all []FileReplacement) (string, error) {
	was := make([]loadedTextFile, len(all))
	data := make([][]byte, len(all))
	for i, r := range all {
		var err error
		if was[i], data[i], err = t.prepareRewrite(r); err != nil {
			return "", fmt.Errorf("nothing was changed: %w", err)
		}
	}
	for i, r := range all {
		old := &was[i]
		if r.Made {
			old = nil
		}
		if err := t.replaceFile(r.Name, data[i], old); err != nil {
			return "", t.rollBackRewrites(all[:i], was, data, err)
		}
	}
	var b strings.Builder
	for i, r := range all {
		changes := t.seen.changesSinceRead(r.Name, was[i].text)
		t.seen.rememberVersion(r.Name, r.New)
		if left := maxRewritten - b.Len(); left > 0 {
			fmt.Fprintf(&b, "%s:\n%s%s\n", r.Name, strings.TrimSuffix(unifiedDiff(was[i].text, r.New, min(left, maxDiff)), "\n"), changedSinceReadNote(was[i].text, changes))
		} else {
			fmt.Fprintf(&b, "%s: changed\n", r.Name)
		}
	}
	return b.String(), nil
}

// prepareRewrite checks whether a file may be written and is unchanged, and returns it with its
// replacement.
func (t *AgentTree) prepareRewrite(r FileReplacement) (d loadedTextFile, data []byte, err error) {
	name, err := t.CleanPath(r.Name, true)
	if err == nil {
		err = t.checkWritable(name)
	}
	if err != nil {
		return d, nil, err
	}
	if r.Made {
		if _, err := t.Root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return d, nil, fmt.Errorf("%s already exists", name)
		}
		d.mode = 0o644
	} else if d, err = t.loadTextFile(name); err != nil {
		return d, nil, err
	}
	if d.text != r.Old {
		return d, nil, fmt.Errorf("%s was changed by somebody else just now; try again", name)
	}
	if strings.ContainsRune(r.New, 0) || len(r.New) > maxFile {
		return d, nil, fmt.Errorf("%s would hold a NUL, or more than %d bytes", name, maxFile)
	}
	data, err = d.form.Write(r.New)
	return d, data, err
}

// rollBackRewrites restores the contents of files.
func (t *AgentTree) rollBackRewrites(all []FileReplacement, was []loadedTextFile, data [][]byte, why error) error {
	for i, r := range all {
		var err error
		if r.Made {
			err = t.Root.Remove(r.Name)
		} else {
			now := was[i]
			now.data = data[i]
			err = t.replaceFile(r.Name, was[i].data, &now)
		}
		if err != nil {
			return fmt.Errorf("%s stays changed, as do the files before it, because the change cannot be undone (%w): %w", path.Clean(r.Name), err, why)
		}
	}
	return fmt.Errorf("nothing was changed: %w", why)
}
