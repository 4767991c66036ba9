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

// Cache describes the directories of entries.
type Cache struct {
	Own    string   // private directory; created when needed
	Shared []string // read-only, searched in this order
	Now    func() time.Time
}

// request is a request of the go command; see cmd/go/internal/cacheprog.
type request struct {
	ID       int64
	Command  string
	ActionID []byte `json:",omitempty"`
	OutputID []byte `json:",omitempty"`
	BodySize int64  `json:",omitempty"`
}

// response is the response to the request with the same ID.
type response struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// server is a running cache.
type server struct {
	Cache
	spare string // temporary directory if Own is full; empty until needed
}

// maxEntry limits the size of one cached output, in bytes.
const maxEntry = 1 << 30

// Serve answers requests until the go command closes the cache or its stream. A request that fails
// is answered with an error, and serving continues; an unreadable stream ends it. If the private
// directory is full, entries are stored in a temporary one until then: a go command whose entry
// was refused blames the program that it builds, or waits forever.
func (c Cache) Serve(in io.Reader, out io.Writer) error {
	s := &server{Cache: c}
	defer func() { _ = os.RemoveAll(s.spare) }() // of no use to anybody else; RemoveAll of "" does nothing
	return s.serve(in, out)
}

func (c *server) serve(in io.Reader, out io.Writer) error {
	d := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	w := bufio.NewWriter(out)
	send := func(r response) error {
		if err := json.NewEncoder(w).Encode(r); err != nil {
			return err
		}
		return w.Flush()
	}
	if err := send(response{KnownCommands: []string{"get", "put", "close"}}); err != nil {
		return err
	}
	for {
		var r request
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
		if err := send(c.answer(r, body)); err != nil || r.Command == "close" {
			return err
		}
	}
}

func (c *server) answer(r request, body []byte) response {
	var a response
	var err error
	switch r.Command {
	case "get":
		a = c.get(r.ActionID)
	case "put":
		if a, err = storeOutput(r, body, c.Own, c.Now()); err != nil {
			a, err = c.save(r, body, err)
		}
	case "close":
	default:
		err = fmt.Errorf("unknown command %q", r.Command)
	}
	if err != nil {
		a = response{Err: err.Error()}
	}
	a.ID = r.ID
	return a
}

// get looks up an action. Unreadable entries are misses.
func (c *server) get(action []byte) response {
	if len(action) == 0 {
		return response{Miss: true}
	}
	for _, dir := range append([]string{c.Own, c.spare}, c.Shared...) {
		if dir == "" {
			continue
		}
		if a, ok := readEntry(dir, hex.EncodeToString(action)); ok {
			return a
		}
	}
	return response{Miss: true}
}

// readEntry reads an entry of the form
// "v1 <action> <output> <size> <time in nanoseconds>".
func readEntry(dir, action string) (response, bool) {
	none := response{}
	data, err := os.ReadFile(entry(dir, action, "a"))
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
	path := entry(dir, f[2], "d")
	if info, err := os.Stat(path); err != nil || info.Size() != size {
		return none, false
	}
	at := time.Unix(0, nanos)
	return response{OutputID: output, Size: size, Time: &at, DiskPath: path}, true
}

// save stores an entry in the temporary directory if it could not be written to the private one.
func (c *server) save(r request, body []byte, why error) (response, error) {
	if c.spare == "" {
		dir, err := os.MkdirTemp("", "gocache-")
		if err != nil {
			return response{}, errors.Join(why, err)
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
func storeOutput(r request, body []byte, dir string, now time.Time) (response, error) {
	if len(r.ActionID) == 0 || len(r.OutputID) == 0 {
		return response{}, errors.New("put without an action or an output")
	}
	if int64(len(body)) != r.BodySize || r.BodySize > maxEntry {
		return response{}, fmt.Errorf("body of %d bytes, announced as %d", len(body), r.BodySize)
	}
	action, output := hex.EncodeToString(r.ActionID), hex.EncodeToString(r.OutputID)
	path := entry(dir, output, "d")
	if info, err := os.Stat(path); err != nil || info.Size() != r.BodySize {
		if err := write(path, body); err != nil {
			return response{}, err
		}
	}
	line := fmt.Sprintf("v1 %s %s %20d %20d\n", action, output, r.BodySize, now.UnixNano())
	if err := write(entry(dir, action, "a"), []byte(line)); err != nil {
		return response{}, err
	}
	return response{DiskPath: path, Size: r.BodySize}, nil
}

// entry returns the path of the go command's entry of a kind: "a" for an action, "d" for data.
func entry(dir, id, kind string) string {
	return filepath.Join(dir, id[:min(2, len(id))], id+"-"+kind)
}

func write(path string, data []byte) error {
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

// Program returns the value of GOCACHEPROG that serves these directories with the program at exe,
// whose subcommand gocache must call [Cache.Serve].
func Program(exe, own string, shared ...string) string {
	words := []string{quote(exe), "gocache", quote("--own=" + own)}
	for _, dir := range shared {
		words = append(words, quote("--shared="+dir))
	}
	return strings.Join(words, " ")
}

// quote quotes a word for the go command's splitting: in single or double quotes, without escapes.
func quote(word string) string {
	switch {
	case !strings.ContainsAny(word, " \t'\""):
		return word
	case strings.Contains(word, `"`):
		return "'" + word + "'"
	default:
		return `"` + word + `"`
	}
}
