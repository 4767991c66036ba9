package worker

import (
	"context"
	"encoding/json"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
)

// PluginQuestion is a question to a plugin, whom it concerns, and how its answer
// is told in a few words.
type PluginQuestion struct {
	plugin.Question

	Of    nexus.PluginAnswered // task, attempt and session
	About func() string
}

// AskPlugin asks a plugin, which may read the directories in trees, and records
// how it answered before anybody uses it. It reports which questions have an
// answer.
func (s *Site) AskPlugin(ctx context.Context, p plugin.Plugin, k nexus.PluginKind, all []PluginQuestion, d Desk, record func(context.Context, ...nexus.Fact) error, trees ...string) ([]bool, error) {
	spare, stop := d.Spare(ctx, false)
	defer stop()
	questions := make([]plugin.Question, len(all))
	for i, q := range all {
		questions[i] = q.Question
	}
	answers, failed := s.Plugins.Ask(spare, p, k, questions, trees...)
	has := make([]bool, len(all))
	if spare.Err() != nil {
		return has, context.Cause(spare)
	}
	for i, f := range answers {
		if f.State == "" {
			continue
		}
		q := all[i]
		f.Task, f.Attempt, f.Session = q.Of.Task, q.Of.Attempt, q.Of.Session
		if has[i] = f.State == nexus.PluginOK; has[i] {
			f.About = s.masked(q.About())
			data, err := json.Marshal(q.Output)
			if err != nil {
				return has, err
			}
			if f.Output, err = s.Blobs.Put([]byte(s.masked(string(data)))); err != nil {
				return has, err
			}
		}
		if err := record(ctx, f); err != nil {
			return has, err
		}
	}
	return has, failed
}
