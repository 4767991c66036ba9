// Package bridge asks a person or a program instead of a provider: each
// request is a directory with files to read, and the answer is a file that is
// put beside them. Prompts can be tried with it by hand, without a key.
//
//	DIR/0001/request.md    for people: what is new, then all that was sent
//	DIR/0001/request.json  for programs, written last: see [Request]
//	DIR/0001/answer.json   awaited: see [Answer]
//	DIR/0001/answer.md     awaited instead, where the answer is text alone
//	DIR/0001/error.txt     what is wrong with the answer, until it is right
//	DIR/0001/cancelled     nobody waits for the answer any more
package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Name is the model that a bridge serves.
const Name = "hand"

// interval is how often it is looked whether an answer is there.
const interval = 100 * time.Millisecond

// limit bounds an answer, in bytes.
const limit = 16 << 20

// Provider asks through a directory. Several processes may share one: each
// request takes the next free number. It waits for an answer for as long as
// the context lets it, since people take their time.
type Provider struct{ Dir string }

var _ llm.Provider = Provider{}

// Models implements [llm.Provider]. Whoever answers is one model.
func (p Provider) Models(context.Context) ([]llm.ModelInfo, error) {
	return []llm.ModelInfo{{Name: Name}}, nil
}

// Stream implements [llm.Model]. Nothing that a request costs is known, so its
// usage is estimated.
func (p Provider) Stream(ctx context.Context, r llm.Request, heard func(llm.Delta)) (llm.Response, error) {
	dir, err := p.ask(r)
	if err != nil {
		return llm.Response{}, &llm.Error{Class: llm.Fatal, Code: "bridge", Cause: fmt.Errorf("write a request below %s: %w", p.Dir, err)}
	}
	a, err := await(ctx, dir)
	if err != nil {
		return llm.Response{}, &llm.Error{Class: llm.Fatal, Code: "bridge", Cause: err}
	}
	resp := a.response(filepath.Base(dir))
	resp.Usage, resp.Estimated = llm.EstimateUsage(r, nexus.Usage{}, a.size()), true
	if text := resp.Message.Text(); text != "" && heard != nil {
		heard(llm.Delta{Text: text})
	}
	return resp, nil
}

// ask writes a request into a new directory and returns that. The JSON appears
// whole, and last.
func (p Provider) ask(r llm.Request) (dir string, err error) {
	data, err := json.Marshal(newAsked(r)) // not indented: that would change what it holds
	if err != nil {
		return "", err
	}
	if dir, err = p.claim(); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "request.md"), []byte(describe(r)), 0o600); err != nil {
		return "", err
	}
	temporary := filepath.Join(dir, ".request.json")
	if err := os.WriteFile(temporary, append(data, '\n'), 0o600); err != nil {
		return "", err
	}
	return dir, os.Rename(temporary, filepath.Join(dir, "request.json"))
}

// claim makes the directory of the next free number. Making it is what claims
// it, also against other processes.
func (p Provider) claim() (string, error) {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return "", err
	}
	last := 0
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			last = max(last, n)
		}
	}
	for {
		last++
		dir := filepath.Join(p.Dir, fmt.Sprintf("%04d", last))
		if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}

// await returns the answer in dir once it is there, whole and valid. It says
// in dir what is wrong with one that is not.
func await(ctx context.Context, dir string) (Answer, error) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var before, told stamp
	for {
		select {
		case <-ctx.Done():
			cause := context.Cause(ctx)
			return Answer{}, errors.Join(cause, os.WriteFile(filepath.Join(dir, "cancelled"), []byte(cause.Error()+"\n"), 0o600))
		case <-tick.C:
		}
		file, now := find(dir)
		if file == "" || now != before { // a file that still grows is looked at later
			before = now
			continue
		}
		if now == told {
			continue
		}
		a, err := read(file)
		wrong := filepath.Join(dir, "error.txt")
		if err == nil {
			if err := os.Remove(wrong); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return Answer{}, err
			}
			return a, nil
		}
		if err := os.WriteFile(wrong, []byte(filepath.Base(file)+": "+err.Error()+"\n"), 0o600); err != nil {
			return Answer{}, err
		}
		told = now
	}
}

// stamp tells whether a file is still being written.
type stamp struct {
	size int64
	at   time.Time
}

// find returns the answer in dir, empty while there is none.
func find(dir string) (file string, s stamp) {
	for _, name := range []string{"answer.json", "answer.md"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() {
			return filepath.Join(dir, name), stamp{info.Size(), info.ModTime()}
		}
	}
	return "", stamp{}
}

func read(file string) (Answer, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Answer{}, err
	}
	if info.Size() > limit {
		return Answer{}, fmt.Errorf("it has %d bytes, the maximum is %d", info.Size(), limit)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return Answer{}, err
	}
	if filepath.Ext(file) == ".md" {
		data, err = json.Marshal(Answer{Text: string(data)})
		if err != nil {
			return Answer{}, err
		}
	}
	return Parse(data)
}
