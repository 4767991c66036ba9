// Package runarchive writes and reads a run as one file, for transport to another machine: its events,
// their blobs, and its commits.
//
// The file is a tar archive with these members in this order: manifest.json, events.jsonl,
// blobs/HASH for each blob, and objects.bundle if the run made commits. Names in the file are
// never used as paths: a member with any other name, of any other type or out of order is an
// error.
package runarchive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// Format is the version of the file that this program writes, and the newest that it can read.
const Format = 1

// RunArchiveManifest describes the content of a file.
type RunArchiveManifest struct {
	Format int               `json:"format"`
	Run    nexus.RunID       `json:"run"`
	Base   string            `json:"base"` // commit from which the run started; the repository must have it
	Events int               `json:"events"`
	Digest string            `json:"events_sha256"`
	Refs   map[string]string `json:"refs"` // commits by ref
	Bundle bool              `json:"bundle"`
}

// archivedEvent is a line of events.jsonl.
type archivedEvent struct {
	Seq  int64           `json:"seq"`
	At   time.Time       `json:"at"`
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

const (
	manifestName = "manifest.json"
	eventsName   = "events.jsonl"
	bundleName   = "objects.bundle"
	blobPrefix   = "blobs/"

	maxManifest = 8 << 20
	maxEvents   = 4 << 30
	maxBlob     = 1 << 30
)

// invalidFileError returns the error for a file that cannot be read.
func invalidFileError(why string, args ...any) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "this is no whole file of nexus journal export: " + fmt.Sprintf(why, args...),
		Hint: "Nothing was changed. Export the run again, and copy the file in binary mode.",
	}
}

// RunArchiveWriter writes a file. Call its methods in order.
type RunArchiveWriter struct{ tar *tar.Writer }

// NewRunPackWriter writes the manifest and the events. It sets the manifest's fields about the events.
func NewRunPackWriter(w io.Writer, m RunArchiveManifest, events []journal.ImportableEvent) (*RunArchiveWriter, error) {
	var lines bytes.Buffer
	for _, e := range events {
		line, err := json.Marshal(archivedEvent{e.Seq, e.At, e.Kind, e.Data})
		if err != nil {
			return nil, err
		}
		lines.Write(append(line, '\n'))
	}
	sum := sha256.Sum256(lines.Bytes())
	m.Format, m.Events, m.Digest = Format, len(events), hex.EncodeToString(sum[:])
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	p := &RunArchiveWriter{tar.NewWriter(w)}
	if err := p.writeMember(manifestName, int64(len(data)), bytes.NewReader(data)); err != nil {
		return nil, err
	}
	return p, p.writeMember(eventsName, int64(lines.Len()), &lines)
}

// WriteBlob writes a blob.
func (p *RunArchiveWriter) WriteBlob(hash string, data []byte) error {
	return p.writeMember(blobPrefix+hash, int64(len(data)), bytes.NewReader(data))
}

// WriteBundle writes the commits.
func (p *RunArchiveWriter) WriteBundle(size int64, r io.Reader) error {
	return p.writeMember(bundleName, size, r)
}

// Close ends the archive.
func (p *RunArchiveWriter) Close() error { return p.tar.Close() }

func (p *RunArchiveWriter) writeMember(name string, size int64, r io.Reader) error {
	if err := p.tar.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: size}); err != nil {
		return err
	}
	_, err := io.Copy(p.tar, r)
	return err
}

// RunArchiveReader reads a file. Call its methods in order.
type RunArchiveReader struct {
	Manifest RunArchiveManifest
	Events   []journal.ImportableEvent

	tar  *tar.Reader
	next *tar.Header // nil at the end
}

var (
	runIDPattern  = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z-]{0,63}$`)
	hashPattern   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	commitPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// OpenPack reads and checks the manifest and the events.
func OpenPack(r io.Reader) (*RunArchiveReader, error) {
	p := &RunArchiveReader{tar: tar.NewReader(r)}
	if err := p.nextMember(); err != nil {
		return nil, err
	}
	data, err := p.readMember(manifestName, maxManifest)
	if err != nil {
		return nil, err
	}
	if err := p.Manifest.parseJSON(data); err != nil {
		return nil, err
	}
	lines, err := p.readMember(eventsName, maxEvents)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(lines); hex.EncodeToString(sum[:]) != p.Manifest.Digest {
		return nil, invalidFileError("its events are not those that were written")
	}
	p.Events, err = parseEvents(lines)
	if err == nil && len(p.Events) != p.Manifest.Events {
		err = invalidFileError("it has %d of %d events", len(p.Events), p.Manifest.Events)
	}
	return p, err
}

// parseJSON reads a manifest and refuses values that no export writes.
func (m *RunArchiveManifest) parseJSON(data []byte) error {
	if err := json.Unmarshal(data, m); err != nil {
		return invalidFileError("its manifest is not JSON")
	}
	switch {
	case m.Format > Format:
		return &nexus.Error{
			Code: nexus.CodeJournalNewer, Message: fmt.Sprintf("the file has format %d, and this nexus reads up to %d", m.Format, Format),
			Hint: "A newer nexus wrote it; use that version or a newer one. Nothing was changed.",
		}
	case m.Format < 1:
		return invalidFileError("its manifest names no format")
	case !runIDPattern.MatchString(string(m.Run)):
		return invalidFileError("its run has no proper name")
	case !commitPattern.MatchString(m.Base):
		return invalidFileError("its base is no commit")
	}
	for ref, commit := range m.Refs {
		own, ok := strings.CutPrefix(ref, "refs/nexus/"+string(m.Run)+"/")
		if !ok || own == "" || !commitPattern.MatchString(commit) {
			return invalidFileError("a ref in it is not the run's own")
		}
	}
	return nil
}

func parseEvents(lines []byte) ([]journal.ImportableEvent, error) {
	var all []journal.ImportableEvent
	s := bufio.NewScanner(bytes.NewReader(lines))
	s.Buffer(nil, max(len(lines), 1)+1)
	for s.Scan() {
		var e archivedEvent
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			return nil, invalidFileError("event %d is not JSON", len(all)+1)
		}
		if n := len(all); n > 0 && e.Seq <= all[n-1].Seq || e.Seq < 1 {
			return nil, invalidFileError("event %d is out of order", len(all)+1)
		}
		all = append(all, journal.ImportableEvent{Seq: e.Seq, At: e.At, Kind: e.Kind, Data: e.Data})
	}
	return all, s.Err()
}

// ReadBlobs calls take for each blob, after checking its hash.
func (p *RunArchiveReader) ReadBlobs(take func(hash string, data []byte) error) error {
	for p.next != nil && strings.HasPrefix(p.next.Name, blobPrefix) {
		hash := strings.TrimPrefix(p.next.Name, blobPrefix)
		if !hashPattern.MatchString(hash) {
			return invalidFileError("a member of it has a name that is not ours")
		}
		data, err := p.readMember(p.next.Name, maxBlob)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
			return invalidFileError("the blob %.12s is damaged", hash)
		}
		if err := take(hash, data); err != nil {
			return err
		}
	}
	return nil
}

// ReadBundle calls take with the commits, if there are any, and checks that nothing follows.
func (p *RunArchiveReader) ReadBundle(take func(io.Reader) error) error {
	if p.Manifest.Bundle {
		if p.next == nil || p.next.Name != bundleName {
			return invalidFileError("its commits are missing")
		}
		counted := &countingReader{r: p.tar}
		if err := take(counted); err != nil {
			return err
		}
		if counted.err != nil || counted.n != p.next.Size {
			return invalidFileError("its commits are cut off")
		}
		if err := p.nextMember(); err != nil {
			return err
		}
	}
	if p.next != nil {
		return invalidFileError("a member of it has a name that is not ours")
	}
	return nil
}

type countingReader struct {
	r   io.Reader
	n   int64
	err error // an error other than the end
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// readMember reads the member that must be next, and advances.
func (p *RunArchiveReader) readMember(name string, most int64) ([]byte, error) {
	switch {
	case p.next == nil || p.next.Name != name:
		return nil, invalidFileError("%s is missing", name)
	case p.next.Size > most:
		return nil, invalidFileError("%s is larger than %d bytes", name, most)
	}
	data, err := io.ReadAll(p.tar)
	if err != nil {
		return nil, invalidFileError("%s is cut off", name)
	}
	return data, p.nextMember()
}

// nextMember reads the next member's header, which must be that of a regular file.
func (p *RunArchiveReader) nextMember() error {
	h, err := p.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		p.next = nil
		return nil
	case err != nil:
		return invalidFileError("it is cut off or no archive")
	case h.Typeflag != tar.TypeReg || isSparse(h):
		return invalidFileError("a member of it is no plain file")
	}
	p.next = h
	return nil
}

// isSparse reports whether a member has holes, which are read as zeros: a few bytes in the archive
// may expand to more than the disk can store.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}
