package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// Conformance is the result of one check of a plugin.
type Conformance struct {
	Name   string          `json:"name"`
	OK     bool            `json:"ok"`
	Detail string          `json:"detail,omitzero"` // what went wrong, or the plugin's text
	Answer json.RawMessage `json:"answer,omitempty"`
}

// sampled is the content of the file a.txt in samples.
const sampled = "A text.\nTODO: more of it\n"

// Sample returns a sample question for a kind of plugin about a repository, and the value for its
// answer. The tree has a file a.txt with a text, the work of a task.
func Sample(k nexus.PluginKind, repo, tree string, at time.Time) Question {
	task := Task{
		ID: "T1", Title: "Write a text", Brief: "Write a text about plugins.", Kind: nexus.CodeTask, Files: []string{"a.txt"},
		Criteria: []Criterion{{"It builds", "build"}},
	}
	const goal = "Write texts"
	switch k {
	case nexus.PluginRouter:
		return Question{Input: RouterInput{
			Goal: goal, Task: task, Complexity: nexus.Complexities(),
			Tiers: []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong}, Strategies: Strategies(),
		}, Output: &RouterOutput{}}
	case nexus.PluginReviewer:
		diff := "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n"
		for line := range strings.Lines(sampled) {
			diff += "+" + line
		}
		return Question{Input: ReviewerInput{
			Goal: goal, Task: task, Attempt: "T1.1", Tree: tree, Files: []string{"a.txt"}, Diff: diff,
		}, Output: &ReviewerOutput{}}
	case nexus.PluginContext:
		return Question{Input: ContextInput{Goal: goal, Task: task, Role: nexus.Coder, Tree: tree, Bytes: MaxText}, Output: &ContextOutput{}}
	case nexus.PluginReporter:
		e := hookcmd.Sample(nexus.HookRunEnd, at)
		e.Dir = repo
		return Question{Input: e, Output: &ReporterOutput{}}
	default:
		return Question{Input: DiscoveryInput{Tree: repo, Most: maxFindings}, Output: &DiscoveryOutput{}}
	}
}

// Conform checks that a plugin follows the protocol, and returns the results in order. It stops
// when further checks would be pointless. It returns an error only if ctx ended, or if the files
// of the questions cannot be written.
func (p Plugin) Conform(ctx context.Context, r *usercmd.Runner, at time.Time) ([]Conformance, error) {
	var all []Conformance
	tried := func(name string, err error, detail string, answer any) bool {
		c := Conformance{Name: name, OK: err == nil, Detail: detail}
		if err != nil {
			c.Detail = err.Error()
			if failed, ok := errors.AsType[*Error](err); ok {
				c.Detail = fmt.Sprintf("%s: %s", failed.State, failed.Why)
			}
		} else if answer != nil {
			c.Answer, _ = json.Marshal(answer) // cannot fail: it was decoded
		}
		all = append(all, c)
		return c.OK
	}
	tree, err := sampleTree(r.Own("plugins", p.Name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tree) }() // nothing else uses it
	s, err := p.Open(ctx, r, tree)
	if err != nil {
		if ctx.Err() == nil {
			tried("says hello", err, "", nil)
		}
		return all, ctx.Err()
	}
	defer s.Close()
	tried("says hello", nil, fmt.Sprintf("%s %s, protocol %d", s.Hello.Name, s.Hello.Version, s.Hello.Protocol), nil)
	for _, k := range p.Kinds {
		q := Sample(nexus.PluginKind(k), r.Dir, tree, at)
		err := s.Ask(ctx, nexus.PluginKind(k), "260102-150405-abc", q.Input, q.Output)
		if ctx.Err() != nil {
			return all, context.Cause(ctx)
		}
		if !tried("answers as a "+k, cmp.Or(err, bad(q.Output)), "", q.Output) && s.broken != nil {
			return all, nil
		}
	}
	k := nexus.PluginKind(p.Kinds[0])
	more := Sample(k, r.Dir, tree, at)
	err = s.Ask(ctx, k, "260102-150405-abc", newer(more.Input), more.Output)
	if tried("ignores fields that it does not know", err, "", nil) || s.broken == nil {
		odd := Sample(k, r.Dir, tree, at)
		err := s.Ask(ctx, k, "260102-150405-abc", map[string]any{}, odd.Output)
		if failed, ok := errors.AsType[*Error](err); ok && failed.State == nexus.PluginFailed {
			err = nil // such an answer is permitted
		}
		tried("survives a question with nothing in it", err, "", nil)
	}
	if ctx.Err() == nil && s.broken == nil {
		tried("ends when its input does", s.closeAndWait(), "", nil)
	}
	return all, ctx.Err()
}

// bad returns an error for an answer with unusable parts.
func bad(o Output) error {
	if found, ok := o.(*DiscoveryOutput); ok && len(found.Bad) > 0 {
		return errors.New(found.Bad[0])
	}
	return nil
}

// sampleTree creates a tree for samples next to a directory.
func sampleTree(own string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		return "", err
	}
	tree, err := os.MkdirTemp(filepath.Dir(own), ".sample-")
	if err != nil {
		return "", err
	}
	return tree, os.WriteFile(filepath.Join(tree, "a.txt"), []byte(sampled), 0o600)
}

// newer returns an input as a later version of this program may write it.
func newer(input any) map[string]any {
	data, err := json.Marshal(input)
	m := map[string]any{}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return m // cannot fail: inputs are objects
	}
	m["a_later_field"] = map[string]any{"of": []any{"a", 1, true}}
	return m
}

// closeAndWait closes the plugin's input, and returns an error if the plugin does not end by
// itself.
func (s *Session) closeAndWait() error {
	_ = s.process.CloseInput()
	late := time.AfterFunc(leaving, func() { s.kill(errLate) })
	defer late.Stop()
	result, err := s.process.Result()
	switch {
	case errors.Is(err, errLate):
		return fmt.Errorf("it was killed after %s", leaving)
	case err != nil:
		return err
	case result.Exit != 0:
		said := sanitize.Cut(sanitize.Show(strings.TrimSpace(s.runner.Text(result.Stderr))), maxWhy)
		return fmt.Errorf("exit code %d: %s", result.Exit, said)
	}
	return nil
}

// leaving limits the time for a plugin's exit after the end of its input. In a run it is killed
// sooner.
const leaving = 5 * time.Second
