// Package directoryprovider replaces a provider by a person or a program: each request is a directory of
// files to read, and the answer is a file that is written beside them. It can be used to try
// prompts by hand, without a key.
//
//	DIR/0001/request.md    for people: first the new part, then the whole request
//	DIR/0001/request.json  for programs, written last: see [Request]
//	DIR/0001/answer.json   the expected answer: see [DirectoryAnswer]
//	DIR/0001/answer.md     the expected answer, if it is only text
//	DIR/0001/error.txt     the error in the answer, until it is fixed
//	DIR/0001/cancelled     the answer is no longer expected
package directoryprovider

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

// ModelName is the model of a bridge.
const ModelName = "hand"

// pollInterval is the polling interval for an answer.
const pollInterval = 100 * time.Millisecond

// maxAnswerSize is the size limit of an answer, in bytes.
const maxAnswerSize = 16 << 20

// DirectoryProvider exchanges requests and answers through a directory. Several processes may share one:
// each request uses the next free number. It waits for an answer until the context ends, since
// people are slow.
type DirectoryProvider struct{ Dir string }

var _ llm.Provider = DirectoryProvider{}

// Models implements [llm.Provider]. There is one model.
func (p DirectoryProvider) Models(context.Context) ([]llm.ModelInfo, error) {
	return []llm.ModelInfo{{Name: ModelName}}, nil
}

// Stream implements [llm.Model]. The usage is unknown, so it is estimated.
func (p DirectoryProvider) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	dir, err := p.writeRequest(r)
	if err != nil {
		return llm.Response{}, &llm.ModelCallError{Class: llm.Fatal, Code: "bridge", Cause: fmt.Errorf("write a request below %s: %w", p.Dir, err)}
	}
	a, err := awaitAnswer(ctx, dir)
	if err != nil {
		return llm.Response{}, &llm.ModelCallError{Class: llm.Fatal, Code: "bridge", Cause: err}
	}
	resp := a.toResponse(filepath.Base(dir))
	resp.Usage, resp.Estimated = llm.EstimateUsage(r, nexus.Usage{}, a.byteSize()), true
	if text := resp.Message.Text(); text != "" && heard != nil {
		heard(llm.AnswerDelta{Text: text})
	}
	return resp, nil
}

// writeRequest writes a request to a new directory and returns the directory. The JSON appears complete,
// and last.
func (p DirectoryProvider) writeRequest(r llm.Request) (dir string, err error) {
	data, err := json.Marshal(newRequest(r)) // not indented: that would change raw JSON
	if err != nil {
		return "", err
	}
	if dir, err = p.claimRequestDir(); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "request.md"), []byte(formatRequestForPeople(r)), 0o600); err != nil {
		return "", err
	}
	temporary := filepath.Join(dir, ".request.json")
	if err := os.WriteFile(temporary, append(data, '\n'), 0o600); err != nil {
		return "", err
	}
	return dir, os.Rename(temporary, filepath.Join(dir, "request.json"))
}

// claimRequestDir creates the directory of the next free number. Creating it reserves the number, also
// against other processes.
func (p DirectoryProvider) claimRequestDir() (string, error) {
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

// awaitAnswer waits for a complete and valid answer in dir. It writes the error of an invalid one to
// dir.
func awaitAnswer(ctx context.Context, dir string) (DirectoryAnswer, error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var before, told answerFileState
	for {
		select {
		case <-ctx.Done():
			cause := context.Cause(ctx)
			return DirectoryAnswer{}, errors.Join(cause, os.WriteFile(filepath.Join(dir, "cancelled"), []byte(cause.Error()+"\n"), 0o600))
		case <-tick.C:
		}
		file, now := findAnswer(dir)
		if file == "" || now != before { // a growing file is read later
			before = now
			continue
		}
		if now == told {
			continue
		}
		a, err := readAnswer(file)
		wrong := filepath.Join(dir, "error.txt")
		if err == nil {
			if err := os.Remove(wrong); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return DirectoryAnswer{}, err
			}
			return a, nil
		}
		if err := os.WriteFile(wrong, []byte(filepath.Base(file)+": "+err.Error()+"\n"), 0o600); err != nil {
			return DirectoryAnswer{}, err
		}
		told = now
	}
}

// answerFileState detects whether a file is still being written.
type answerFileState struct {
	size int64
	at   time.Time
}

// findAnswer returns the answer file in dir, or "".
func findAnswer(dir string) (file string, s answerFileState) {
	for _, name := range []string{"answer.json", "answer.md"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() {
			return filepath.Join(dir, name), answerFileState{info.Size(), info.ModTime()}
		}
	}
	return "", answerFileState{}
}

func readAnswer(file string) (DirectoryAnswer, error) {
	info, err := os.Stat(file)
	if err != nil {
		return DirectoryAnswer{}, err
	}
	if info.Size() > maxAnswerSize {
		return DirectoryAnswer{}, fmt.Errorf("it has %d bytes, the maximum is %d", info.Size(), maxAnswerSize)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return DirectoryAnswer{}, err
	}
	if filepath.Ext(file) == ".md" {
		data, err = json.Marshal(DirectoryAnswer{Text: string(data)})
		if err != nil {
			return DirectoryAnswer{}, err
		}
	}
	return ParseAnswer(data)
}
