package codedoc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/textindex"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// DocStore gives access to the documents of a repository.
type DocStore struct {
	Top    string   // the user's checkout; empty: there is none
	Show   []string // patterns of files that agents may read though they may contain secrets
	Tokens int64    // limit of the sections that a session receives; 0: none
}

// InvalidDocument is a file that is no valid document, with the reason.
type InvalidDocument struct {
	Name string
	Err  error
}

// LoadDocuments reads the documents, by name. Other files are ignored, and links are not followed.
func (s DocStore) LoadDocuments() (docs []CodeDocument, problems []InvalidDocument, err error) {
	if s.Top == "" {
		return nil, nil, nil
	}
	root, err := os.OpenRoot(s.Top)
	if err != nil {
		return nil, nil, filewrite.WrapError("read the documents", err)
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	for _, t := range DocumentTopics() {
		name := path.Join(Dir, t.Name+".md")
		data, err := readLimited(root, name)
		var d CodeDocument
		if err == nil {
			d, err = ParseDocument(name, data)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problems = append(problems, InvalidDocument{t.Name, err})
		default:
			docs = append(docs, d)
		}
	}
	return docs, problems, nil
}

// readLimited reads a regular file, up to one byte more than the limit.
func readLimited(root *os.Root, name string) ([]byte, error) {
	if err := refuseLinks(root, name); err != nil {
		return nil, err
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return data, errors.Join(err, f.Close())
}

// refuseLinks refuses links: their target may be chosen by somebody else.
func refuseLinks(root *os.Root, name string) error {
	for at, dirs := "", strings.Split(name, "/"); len(dirs) > 0; dirs = dirs[1:] {
		at = path.Join(at, dirs[0])
		info, err := root.Lstat(filepath.FromSlash(at))
		switch {
		case err != nil:
			return err
		case len(dirs) > 1 && !info.IsDir() || len(dirs) == 1 && !info.Mode().IsRegular():
			return &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: at + ": it is not a plain file or directory",
				Hint: "Replace it with the file or directory itself.",
			}
		}
	}
	return nil
}

// WriteDocument replaces a document atomically: if the process is killed, the file is the old one or
// the new one.
func (s DocStore) WriteDocument(d CodeDocument) (file string, err error) {
	file = path.Join(Dir, d.Name+".md")
	root, err := os.OpenRoot(s.Top)
	if err != nil {
		return file, filewrite.WrapError("write "+file, err)
	}
	defer func() { _ = root.Close() }() // the file was closed on its own
	if err := refuseLinks(root, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	next := filepath.FromSlash(path.Join(Dir, ".new-"+rand.Text()))
	err = root.MkdirAll(filepath.FromSlash(Dir), 0o755)
	if err == nil {
		err = root.WriteFile(next, []byte(d.String()), 0o644)
	}
	if err == nil {
		err = root.Rename(next, filepath.FromSlash(file))
	}
	if err != nil {
		_ = root.Remove(next)
	}
	return file, filewrite.WrapError("write "+file, err)
}

// SourceBlobsAt returns a function for the git object of each source of some documents in a
// commit.
func SourceBlobsAt(ctx context.Context, repo git.Repo, commit string, docs []CodeDocument) (func(path string) string, error) {
	var paths []string
	for _, d := range docs {
		for _, f := range d.From {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	blobs, err := memory.BlobIDsOfPaths(ctx, repo, commit, slices.Compact(paths))
	if err != nil {
		return nil, fmt.Errorf("look at the sources of the documents: %w", err)
	}
	return func(path string) string { return blobs[path] }, nil
}

// RelevantDocumentSection is a section that is relevant to a task.
type RelevantDocumentSection struct {
	Doc, Title string
	Text       string
	Note       string // warning about an outdated document; empty: it is up to date
	Why        string // reason for which it is relevant
	Tokens     int64
	Left       string // reason for which it is omitted; empty: it is included
}

// mostChanged is the share of a document's sources that may have changed while it is still
// included, marked as outdated.
const mostChanged = 0.5

// FindRelevantSections returns the sections that are relevant to a task, the best first: those that its
// session receives, and those that are omitted.
func (s DocStore) FindRelevantSections(ctx context.Context, repo git.Repo, commit string, w memoryentry.MemoryTaskQuery, cost func(string) int64) ([]RelevantDocumentSection, error) {
	if s.Tokens <= 0 || s.Top == "" || commit == "" {
		return nil, nil
	}
	docs, _, err := s.LoadDocuments() // unreadable documents are skipped; nexus docs reports them
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	now, err := SourceBlobsAt(ctx, repo, commit, docs)
	if err != nil {
		return nil, err
	}
	var all []memoryentry.EntryCandidate
	of, notes, left := map[string]RelevantDocumentSection{}, map[string]string{}, map[string]string{}
	for _, d := range docs {
		if s.hasHiddenSource(d) {
			continue
		}
		notes[d.Name], left[d.Name] = stalenessNote(d, d.ChangedSources(now))
		for i, sec := range d.SplitSections() {
			id := fmt.Sprintf("%s#%d", d.Name, i)
			e := memoryentry.MemoryEntry{ID: id, Text: sec.Text}
			for _, f := range d.namedSources(sec) {
				e.Files = append(e.Files, memoryentry.SubjectFile{Path: f})
			}
			of[id] = RelevantDocumentSection{Doc: d.Name, Title: sec.Title, Text: sec.Text, Note: notes[d.Name], Left: left[d.Name]}
			all = append(all, memoryentry.EntryCandidate{MemoryEntry: e})
		}
	}
	if err := scoreCandidates(ctx, all, w.Text); err != nil {
		return nil, err
	}
	var told []RelevantDocumentSection
	for _, c := range memoryentry.ChooseEntries(all, w, time.Time{}, s.Tokens, func(e memoryentry.MemoryEntry) int64 {
		if of[e.ID].Left != "" {
			return 0 // it costs nothing
		}
		return cost(e.Text)
	}) {
		t := of[c.ID]
		if t.Why, t.Tokens = c.Why, cost(t.Text); t.Left == "" && c.Left != "" {
			t.Left = fmt.Sprintf("it needs about %d tokens, more than are left for documents", t.Tokens)
		}
		told = append(told, t)
	}
	return told, nil
}

// stalenessNote returns the warning for a document whose sources changed, and the reason if it is
// omitted.
func stalenessNote(d CodeDocument, changed []string) (note, left string) {
	switch {
	case len(d.From) == 0:
		return "written by a person", ""
	case float64(len(changed)) > mostChanged*float64(len(d.From)):
		return "", fmt.Sprintf("out of date: %d of the %d files that it was made from changed", len(changed), len(d.From))
	case len(changed) > 0:
		some := strings.Join(changed[:min(len(changed), 5)], ", ")
		return fmt.Sprintf("out of date: of the %d files that it was made from, %d changed since: %s", len(d.From), len(changed), some), ""
	}
	return "", ""
}

// hasHiddenSource reports whether a source of a document is hidden from agents.
func (s DocStore) hasHiddenSource(d CodeDocument) bool {
	rules := files.HiddenPathRules{Show: s.Show}
	root, err := os.OpenRoot(s.Top)
	if err != nil {
		return true // unknown: assume that it is hidden
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	return slices.ContainsFunc(d.From, func(f DocumentSourceFile) bool {
		return rules.NameReason(f.Path) != "" || rules.IsIgnored(root, f.Path)
	})
}

// scoreCandidates sets how well the words of candidates match those of a text.
func scoreCandidates(ctx context.Context, all []memoryentry.EntryCandidate, text string) error {
	texts := make([]textindex.IndexedText, len(all))
	for i, c := range all {
		texts[i] = textindex.IndexedText{Name: c.ID, Body: c.Text, Tags: strings.Join(c.FilePaths(), " ")}
	}
	x, err := textindex.NewTextIndex(ctx, texts)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }() // it is in memory
	words := memoryentry.LowerCaseWords(text)
	hits, err := x.Search(ctx, words[:min(len(words), maxWords)], len(all)+1)
	for _, h := range hits {
		i := slices.IndexFunc(all, func(c memoryentry.EntryCandidate) bool { return c.ID == h.Name })
		all[i].Match = h.Match
	}
	return err
}

// maxWords limits the words of a task that are searched for.
const maxWords = 200
