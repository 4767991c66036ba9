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

// ConformanceResult is the result of one check of a plugin.
type ConformanceResult struct {
	Name   string          `json:"name"`
	OK     bool            `json:"ok"`
	Detail string          `json:"detail,omitzero"` // what went wrong, or the plugin's text
	Answer json.RawMessage `json:"answer,omitempty"`
}

// sampleText is the content of the file a.txt in samples.
const sampleText = "A text.\nTODO: more of it\n"

// SampleQuestion returns a sample question for a kind of plugin about a repository, and the value for its
// answer. The tree has a file a.txt with a text, the work of a task.
func SampleQuestion(k nexus.PluginKind, repo, tree string, at time.Time) HostQuestion {
	task := PluginTask{
		ID: "T1", Title: "Write a text", Brief: "Write a text about plugins.", Kind: nexus.CodeTask, Files: []string{"a.txt"},
		Criteria: []PluginCriterion{{"It builds", "build"}},
	}
	const goal = "Write texts"
	switch k {
	case nexus.PluginRouter:
		return HostQuestion{Input: RouterInput{
			Goal: goal, Task: task, Complexity: nexus.Complexities(),
			Tiers: []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong}, Strategies: RouterStrategies(),
		}, Output: &RouterOutput{}}
	case nexus.PluginReviewer:
		diff := "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n"
		for line := range strings.Lines(sampleText) {
			diff += "+" + line
		}
		return HostQuestion{Input: ReviewerInput{
			Goal: goal, Task: task, Attempt: "T1.1", Tree: tree, Files: []string{"a.txt"}, Diff: diff,
		}, Output: &ReviewerOutput{}}
	case nexus.PluginContext:
		return HostQuestion{Input: ContextInput{Goal: goal, Task: task, Role: nexus.Coder, Tree: tree, Bytes: MaxText}, Output: &ContextOutput{}}
	case nexus.PluginReporter:
		e := hookcmd.SampleEvent(nexus.HookRunEnd, at)
		e.Dir = repo
		return HostQuestion{Input: e, Output: &EmptyReporterOutput{}}
	default:
		return HostQuestion{Input: DiscoveryInput{Tree: repo, Most: maxFindings}, Output: &DiscoveryOutput{}}
	}
}

// CheckConformance checks that a plugin follows the protocol, and returns the results in order. It stops
// when further checks would be pointless. It returns an error only if ctx ended, or if the files
// of the questions cannot be written.
func (p DeclaredPlugin) CheckConformance(ctx context.Context, r *usercmd.UserCommandRunner, at time.Time) ([]ConformanceResult, error) {
	var all []ConformanceResult
	tried := func(name string, err error, detail string, answer any) bool {
		c := ConformanceResult{Name: name, OK: err == nil, Detail: detail}
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
	tree, err := createSampleTree(r.CommandDataDir("plugins", p.Name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tree) }() // nothing else uses it
	s, err := p.StartSession(ctx, r, tree)
	if err != nil {
		if ctx.Err() == nil {
			tried("says hello", err, "", nil)
		}
		return all, ctx.Err()
	}
	defer s.Close()
	tried("says hello", nil, fmt.Sprintf("%s %s, protocol %d", s.Hello.Name, s.Hello.Version, s.Hello.Protocol), nil)
	for _, k := range p.Kinds {
		q := SampleQuestion(nexus.PluginKind(k), r.Dir, tree, at)
		err := s.Ask(ctx, nexus.PluginKind(k), "260102-150405-abc", q.Input, q.Output)
		if ctx.Err() != nil {
			return all, context.Cause(ctx)
		}
		if !tried("answers as a "+k, cmp.Or(err, unusableAnswerError(q.Output)), "", q.Output) && s.broken != nil {
			return all, nil
		}
	}
	k := nexus.PluginKind(p.Kinds[0])
	more := SampleQuestion(k, r.Dir, tree, at)
	err = s.Ask(ctx, k, "260102-150405-abc", inputOfLaterVersion(more.Input), more.Output)
	if tried("ignores fields that it does not know", err, "", nil) || s.broken == nil {
		odd := SampleQuestion(k, r.Dir, tree, at)
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

// unusableAnswerError returns an error for an answer with unusable parts.
func unusableAnswerError(o PluginOutput) error {
	if found, ok := o.(*DiscoveryOutput); ok && len(found.Bad) > 0 {
		return errors.New(found.Bad[0])
	}
	return nil
}

// createSampleTree creates a tree for samples next to a directory.
func createSampleTree(own string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		return "", err
	}
	tree, err := os.MkdirTemp(filepath.Dir(own), ".sample-")
	if err != nil {
		return "", err
	}
	return tree, os.WriteFile(filepath.Join(tree, "a.txt"), []byte(sampleText), 0o600)
}

// inputOfLaterVersion returns an input as a later version of this program may write it.
func inputOfLaterVersion(input any) map[string]any {
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
func (s *PluginSession) closeAndWait() error {
	_ = s.process.CloseInput()
	late := time.AfterFunc(exitTime, func() { s.kill(errLate) })
	defer late.Stop()
	result, err := s.process.Result()
	switch {
	case errors.Is(err, errLate):
		return fmt.Errorf("it was killed after %s", exitTime)
	case err != nil:
		return err
	case result.Exit != 0:
		said := sanitize.TruncateText(sanitize.RevealHidden(strings.TrimSpace(s.runner.MaskText(result.Stderr))), maxWhy)
		return fmt.Errorf("exit code %d: %s", result.Exit, said)
	}
	return nil
}

// exitTime limits the time for a plugin's exit after the end of its input. In a run it is killed
// sooner.
const exitTime = 5 * time.Second
