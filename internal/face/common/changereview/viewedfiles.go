package changereview

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ViewedFiles records the file versions of a task's change that a person has viewed. It is a
// personal note and decides nothing, so it is stored beside the journal, one line for each mark:
// a process that dies in the middle loses at most that line.
type ViewedFiles struct {
	file  string
	marks map[string]string // by path: the hash of the viewed version
}

// viewedFileLine is a line of the file.
type viewedFileLine struct {
	File string    `json:"file"`
	Hash string    `json:"hash,omitzero"` // empty: it is no longer viewed
	At   time.Time `json:"at"`
}

// PersonNotePath returns the file in the state directory with a person's notes on a task.
func PersonNotePath(state string, run nexus.RunID, task nexus.TaskID, who, ending string) string {
	return filepath.Join(state, "reviews", url.PathEscape(string(run)), url.PathEscape(string(task))+"@"+url.PathEscape(who)+ending)
}

// LoadViewedFiles reads a person's viewed files. It skips unreadable lines.
func LoadViewedFiles(state string, run nexus.RunID, task nexus.TaskID, who string) (*ViewedFiles, error) {
	s := &ViewedFiles{file: PersonNotePath(state, run, task, who, ".jsonl"), marks: map[string]string{}}
	data, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which files were viewed: %w", err)
	}
	for line := range bytes.Lines(data) {
		var m viewedFileLine
		if json.Unmarshal(line, &m) == nil && m.File != "" {
			s.marks[m.File] = m.Hash
		}
	}
	return s, nil
}

// MarkFile records that a file was viewed in a version, or, without a hash, that it was not.
func (s *ViewedFiles) MarkFile(file, hash string, at time.Time) error {
	line, err := json.Marshal(viewedFileLine{File: file, Hash: hash, At: at})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return fmt.Errorf("note which files were viewed: %w", err)
	}
	f, err := os.OpenFile(s.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("note which files were viewed: %w", err)
	}
	_, err = f.Write(append([]byte("\n"), append(line, '\n')...)) // a truncated last line does not corrupt it
	s.marks[file] = hash
	return errors.Join(err, f.Close())
}
