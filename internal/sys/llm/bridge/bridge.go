// Package bridge replaces a provider by a person or a program: each request is a directory of
// files to read, and the answer is a file that is written beside them. It can be used to try
// prompts by hand, without a key.
//
//	DIR/0001/request.md    for people: first the new part, then the whole request
//	DIR/0001/request.json  for programs, written last: see [Request]
//	DIR/0001/answer.json   the expected answer: see [Answer]
//	DIR/0001/answer.md     the expected answer, if it is only text
//	DIR/0001/error.txt     the error in the answer, until it is fixed
//	DIR/0001/cancelled     the answer is no longer expected
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

// Name is the model of a bridge.
const Name = "hand"

// interval is the polling interval for an answer.
const interval = 100 * time.Millisecond

// limit is the size limit of an answer, in bytes.
const limit = 16 << 20

// Provider exchanges requests and answers through a directory. Several processes may share one:
// each request uses the next free number. It waits for an answer until the context ends, since
// people are slow.
type Provider struct{ Dir string }

var _ llm.Provider = Provider{}

// Models implements [llm.Provider]. There is one model.
func (p Provider) Models(context.Context) ([]llm.ModelInfo, error) {
	return []llm.ModelInfo{{Name: Name}}, nil
}

// Stream implements [llm.Model]. The usage is unknown, so it is estimated.
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

// ask writes a request to a new directory and returns the directory. The JSON appears complete,
// and last.
func (p Provider) ask(r llm.Request) (dir string, err error) {
	data, err := json.Marshal(newAsked(r)) // not indented: that would change raw JSON
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

// claim creates the directory of the next free number. Creating it reserves the number, also
// against other processes.
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

// await waits for a complete and valid answer in dir. It writes the error of an invalid one to
// dir.
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
		if file == "" || now != before { // a growing file is read later
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

// stamp detects whether a file is still being written.
type stamp struct {
	size int64
	at   time.Time
}

// find returns the answer file in dir, or "".
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
