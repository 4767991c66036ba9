// Package codedoc stores documents about the code of a repository: its parts, its conventions,
// its interfaces, its tests, and its known problems. An agent that only reads writes them, on
// request, and other agents receive the sections that are relevant to their task.
//
// A document is a Markdown file below [Dir]. Its head names the git objects of its source
// files, so that changes of these are detected, and the hash of its text, so that edits by a
// person are detected.
package codedoc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/frontmatter"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Dir is the directory of the documents, relative to the root of the repository.
const Dir = ".nexus/docs"

// Limits of a document.
const (
	MaxText    = 16 << 10 // most bytes of its text
	maxFile    = 64 << 10 // most bytes of its file
	maxSources = 60
)

// DocumentSourceFile is a source file of a document.
type DocumentSourceFile struct {
	Path string `json:"path"`
	Blob string `json:"blob"` // git object of the file at that time
}

// CodeDocument is a document. One without a head has no sources and no commit: a person wrote it.
type CodeDocument struct {
	Name   string               `json:"name"` // name of its file, without the extension
	Made   string               `json:"made,omitzero"`
	Commit string               `json:"commit,omitzero"`
	From   []DocumentSourceFile `json:"from,omitempty"`
	Text   string               `json:"-"` // Markdown

	sum string // hash of the generated text
}

// IsEdited reports whether a person wrote the text, or changed it.
func (d CodeDocument) IsEdited() bool { return d.sum == "" || d.sum != textChecksum(d.Text) }

// ChangedSources returns the source files that changed since the document was made; now returns the
// git object of a file, or "" if there is none.
func (d CodeDocument) ChangedSources(now func(path string) string) []string {
	var all []string
	for _, f := range d.From {
		if now(f.Path) != f.Blob {
			all = append(all, f.Path)
		}
	}
	return all
}

func textChecksum(text string) string {
	hash := sha256.Sum256([]byte(strings.TrimSpace(text)))
	return hex.EncodeToString(hash[:])
}

// String returns the file of a generated document.
func (d CodeDocument) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nmade: %s\ncommit: %s\ntext: %s\n", d.Made, d.Commit, textChecksum(d.Text))
	for _, f := range d.From {
		fmt.Fprintf(&b, "from: %s %s\n", f.Blob, f.Path)
	}
	return b.String() + "---\n\n" + strings.TrimSpace(d.Text) + "\n"
}

// ParseDocument reads the file of a document. Errors in its head name the line: a person may have
// edited it.
func ParseDocument(name string, data []byte) (CodeDocument, error) {
	d := CodeDocument{Name: strings.TrimSuffix(path.Base(name), ".md")}
	refuse := func(line int, hint, format string, args ...any) error {
		return frontmatter.NewMistake(line, fmt.Sprintf(format, args...), hint).Error(name)
	}
	if len(data) > maxFile {
		return CodeDocument{}, refuse(1, "Shorten it.", "the file has more than %d bytes", maxFile)
	}
	if f := frontmatter.CheckPlainText(string(data)); f != nil {
		return CodeDocument{}, f.Error(name)
	}
	file := frontmatter.SplitHead(string(data))
	d.Text = strings.TrimSpace(file.Body)
	if !file.HasHead {
		return d, nil
	}
	const again = "Restore the head, or remove all of it: then the document is your own."
	n := 1
	for line := range strings.Lines(file.Head) {
		n++
		key, value, _ := strings.Cut(line, ":")
		if why := d.setHeadField(key, strings.TrimSpace(value)); why != "" {
			return CodeDocument{}, refuse(n, again, "%s", why)
		}
	}
	switch {
	case !file.Closed:
		return CodeDocument{}, refuse(file.Lines, again, "the head has no end")
	case d.sum == "" || d.Commit == "" || len(d.From) == 0:
		return CodeDocument{}, refuse(n+1, again, "the head lacks a commit, the hash of the text or what it was made from")
	}
	return d, nil
}

// setHeadField sets a field of a head, and returns the problem with it, or "".
func (d *CodeDocument) setHeadField(key, value string) string {
	switch key {
	case "made":
		d.Made = value
	case "commit":
		if d.Commit = value; !git.IsObjectID(value) {
			return fmt.Sprintf("%q is not the name of a commit", value)
		}
	case "text":
		if d.sum = value; len(value) != 2*sha256.Size {
			return fmt.Sprintf("%q is not the hash of a text", value)
		}
	case "from":
		blob, file, _ := strings.Cut(value, " ")
		if !git.IsObjectID(blob) || file == "" || path.IsAbs(file) || path.Clean(file) != file || strings.HasPrefix(file, "..") {
			return fmt.Sprintf("%q is not the hash and the path of a file", value)
		}
		if len(d.From) == maxSources {
			return fmt.Sprintf("there are more than %d files", maxSources)
		}
		d.From = append(d.From, DocumentSourceFile{Path: file, Blob: blob})
	default:
		return fmt.Sprintf("unknown field %q; the fields are made, commit, text and from", key)
	}
	return ""
}

// DocumentSection is a part of a document below a heading of the second level.
type DocumentSection struct {
	Title string // empty for the text before the first heading
	Text  string // including its heading
}

// SplitSections splits the text of a document. Lines in a code fence are not headings.
func (d CodeDocument) SplitSections() []DocumentSection {
	var all []DocumentSection
	var lines []string
	title, fenced := "", false
	end := func() {
		text := strings.TrimSpace(strings.Join(lines, "\n"))
		titleAlone := strings.HasPrefix(text, "# ") && !strings.Contains(text, "\n")
		if text != "" && !titleAlone {
			all = append(all, DocumentSection{title, text})
		}
		lines = nil
	}
	for line := range strings.SplitSeq(d.Text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if rest, ok := strings.CutPrefix(line, "## "); ok && !fenced {
			end()
			title = strings.TrimSpace(rest)
		}
		lines = append(lines, line)
	}
	end()
	return all
}

// namedSources returns the sources that a section names.
func (d CodeDocument) namedSources(s DocumentSection) []string {
	var all []string
	for _, f := range d.From {
		if strings.Contains(s.Text, f.Path) && !slices.Contains(all, f.Path) {
			all = append(all, f.Path)
		}
	}
	return all
}
