// Package gocache lets the go command read from a shared build cache, and write new entries to a
// private one.
//
// It speaks the protocol of cmd/go/internal/cacheprog over a pair of streams: an entry is searched
// in the private directory and then in the shared ones; new entries are written only to the
// private one. So a worktree's first build is as fast as the user's next, and an agent's builds
// cannot affect anybody else. Both directories have the layout of GOCACHE.
package gocache

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// GoBuildCache describes the directories of entries.
type GoBuildCache struct {
	Own    string   // private directory; created when needed
	Shared []string // read-only, searched in this order
	Now    func() time.Time
}

// goCacheRequest is a request of the go command; see cmd/go/internal/cacheprog.
type goCacheRequest struct {
	ID       int64
	Command  string
	ActionID []byte `json:",omitempty"`
	OutputID []byte `json:",omitempty"`
	BodySize int64  `json:",omitempty"`
}

// goCacheResponse is the response to the request with the same ID.
type goCacheResponse struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// goCacheServer is a running cache.
type goCacheServer struct {
	GoBuildCache
	spare string // temporary directory if Own is full; empty until needed
}

// maxEntry limits the size of one cached output, in bytes.
const maxEntry = 1 << 30

// Serve answers requests until the go command closes the cache or its stream. A request that fails
// is answered with an error, and serving continues; an unreadable stream ends it. If the private
// directory is full, entries are stored in a temporary one until then: a go command whose entry
// was refused blames the program that it builds, or waits forever.
func (c GoBuildCache) Serve(in io.Reader, out io.Writer) error {
	s := &goCacheServer{GoBuildCache: c}
	defer func() { _ = os.RemoveAll(s.spare) }() // of no use to anybody else; RemoveAll of "" does nothing
	return s.serveRequests(in, out)
}

func (c *goCacheServer) serveRequests(in io.Reader, out io.Writer) error {
	d := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	w := bufio.NewWriter(out)
	send := func(r goCacheResponse) error {
		if err := json.NewEncoder(w).Encode(r); err != nil {
			return err
		}
		return w.Flush()
	}
	if err := send(goCacheResponse{KnownCommands: []string{"get", "put", "close"}}); err != nil {
		return err
	}
	for {
		var r goCacheRequest
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request of the go command: %w", err)
		}
		var body []byte
		if r.Command == "put" && r.BodySize > 0 {
			if err := d.Decode(&body); err != nil {
				return fmt.Errorf("read the body of request %d: %w", r.ID, err)
			}
		}
		if err := send(c.answerRequest(r, body)); err != nil || r.Command == "close" {
			return err
		}
	}
}

func (c *goCacheServer) answerRequest(r goCacheRequest, body []byte) goCacheResponse {
	var a goCacheResponse
	var err error
	switch r.Command {
	case "get":
		a = c.lookUpAction(r.ActionID)
	case "put":
		if a, err = storeOutput(r, body, c.Own, c.Now()); err != nil {
			a, err = c.storeInTempDir(r, body, err)
		}
	case "close":
	default:
		err = fmt.Errorf("unknown command %q", r.Command)
	}
	if err != nil {
		a = goCacheResponse{Err: err.Error()}
	}
	a.ID = r.ID
	return a
}

// lookUpAction looks up an action. Unreadable entries are misses.
func (c *goCacheServer) lookUpAction(action []byte) goCacheResponse {
	if len(action) == 0 {
		return goCacheResponse{Miss: true}
	}
	for _, dir := range append([]string{c.Own, c.spare}, c.Shared...) {
		if dir == "" {
			continue
		}
		if a, ok := readEntry(dir, hex.EncodeToString(action)); ok {
			return a
		}
	}
	return goCacheResponse{Miss: true}
}

// readEntry reads an entry of the form
// "v1 <action> <output> <size> <time in nanoseconds>".
func readEntry(dir, action string) (goCacheResponse, bool) {
	none := goCacheResponse{}
	data, err := os.ReadFile(entryPath(dir, action, "a"))
	if err != nil {
		return none, false
	}
	f := strings.Fields(string(data))
	if len(f) != 5 || f[0] != "v1" || f[1] != action {
		return none, false
	}
	output, err1 := hex.DecodeString(f[2])
	size, err2 := strconv.ParseInt(f[3], 10, 64)
	nanos, err3 := strconv.ParseInt(f[4], 10, 64)
	if errors.Join(err1, err2, err3) != nil || len(output) == 0 {
		return none, false
	}
	path := entryPath(dir, f[2], "d")
	if info, err := os.Stat(path); err != nil || info.Size() != size {
		return none, false
	}
	at := time.Unix(0, nanos)
	return goCacheResponse{OutputID: output, Size: size, Time: &at, DiskPath: path}, true
}

// storeInTempDir stores an entry in the temporary directory if it could not be written to the private one.
func (c *goCacheServer) storeInTempDir(r goCacheRequest, body []byte, why error) (goCacheResponse, error) {
	if c.spare == "" {
		dir, err := os.MkdirTemp("", "gocache-")
		if err != nil {
			return goCacheResponse{}, errors.Join(why, err)
		}
		c.spare = dir
	}
	a, err := storeOutput(r, body, c.spare, c.Now())
	if err != nil {
		err = errors.Join(why, err)
	}
	return a, err
}

// storeOutput writes the output, then the entry that names it, each atomically.
func storeOutput(r goCacheRequest, body []byte, dir string, now time.Time) (goCacheResponse, error) {
	if len(r.ActionID) == 0 || len(r.OutputID) == 0 {
		return goCacheResponse{}, errors.New("put without an action or an output")
	}
	if int64(len(body)) != r.BodySize || r.BodySize > maxEntry {
		return goCacheResponse{}, fmt.Errorf("body of %d bytes, announced as %d", len(body), r.BodySize)
	}
	action, output := hex.EncodeToString(r.ActionID), hex.EncodeToString(r.OutputID)
	path := entryPath(dir, output, "d")
	if info, err := os.Stat(path); err != nil || info.Size() != r.BodySize {
		if err := writeFile(path, body); err != nil {
			return goCacheResponse{}, err
		}
	}
	line := fmt.Sprintf("v1 %s %s %20d %20d\n", action, output, r.BodySize, now.UnixNano())
	if err := writeFile(entryPath(dir, action, "a"), []byte(line)); err != nil {
		return goCacheResponse{}, err
	}
	return goCacheResponse{DiskPath: path, Size: r.BodySize}, nil
}

// entryPath returns the path of the go command's entry of a kind: "a" for an action, "d" for data.
func entryPath(dir, id, kind string) string {
	return filepath.Join(dir, id[:min(2, len(id))], id+"-"+kind)
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// CacheProgCommand returns the value of GOCACHEPROG that serves these directories with the program at exe,
// whose subcommand gocache must call [GoBuildCache.Serve].
func CacheProgCommand(exe, own string, shared ...string) string {
	words := []string{quoteWord(exe), "gocache", quoteWord("--own=" + own)}
	for _, dir := range shared {
		words = append(words, quoteWord("--shared="+dir))
	}
	return strings.Join(words, " ")
}

// quoteWord quotes a word for the go command's splitting: in single or double quotes, without escapes.
func quoteWord(word string) string {
	switch {
	case !strings.ContainsAny(word, " \t'\""):
		return word
	case strings.Contains(word, `"`):
		return "'" + word + "'"
	default:
		return `"` + word + `"`
	}
}
