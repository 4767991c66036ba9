package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

// OwnedPluginQuestion is a question to a plugin, with its owner and a short description of the
// answer.
type OwnedPluginQuestion struct {
	plugin.HostQuestion

	Of    nexus.PluginAnswered // task, attempt and session
	About func() string
}

// FactRecorder appends facts, and updates the owner's state with them.
type FactRecorder func(context.Context, ...nexus.Fact) error

// AskPlugin asks a plugin, which may read the directories in trees, and records its answers
// before they are used. It reports which questions have an answer.
func (s *RunEnvironment) AskPlugin(
	ctx context.Context, p plugin.DeclaredPlugin, k nexus.PluginKind, all []OwnedPluginQuestion, d AttemptFactRecorder, record FactRecorder, trees ...string,
) ([]bool, error) {
	spare, stop := d.Spare(ctx, false)
	defer stop()
	questions := make([]plugin.HostQuestion, len(all))
	for i, q := range all {
		questions[i] = q.HostQuestion
	}
	answers, failed := s.Plugins.AskPlugin(spare, p, k, questions, trees...)
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
			f.About = q.About()
			data, err := json.Marshal(q.Output)
			if err != nil {
				return has, err
			}
			if f.Output, err = s.Blobs.Put(data); err != nil {
				return has, err
			}
		}
		if err := record(ctx, f); err != nil {
			return has, err
		}
	}
	return has, failed
}

// AskReviewPlugins asks the review plugins for problems of a change from base to commit, whose files
// are in the tree. The question lacks only its tree.
func (w *AttemptWorker) AskReviewPlugins(
	ctx context.Context, tree *worktree.AttemptTree, base, commit string, q plugin.ReviewerInput, d AttemptFactRecorder, record FactRecorder,
) ([]review.ReviewerOpinion, error) {
	var all []review.ReviewerOpinion
	for _, p := range w.Site.Plugins.PluginsOfKind(nexus.PluginReviewer) {
		if q.Tree == "" {
			changed, err := tree.ChangedFiles(ctx, base, commit)
			if err != nil {
				return nil, err
			}
			q.Tree = tree.Dir
			for _, c := range changed {
				q.Files = append(q.Files, c.Path)
			}
		}
		out := &plugin.ReviewerOutput{}
		answered, err := w.Site.AskPlugin(ctx, p, nexus.PluginReviewer, []OwnedPluginQuestion{{
			HostQuestion: plugin.HostQuestion{Input: q, Output: out},
			Of:           nexus.PluginAnswered{Task: q.Task.ID, Attempt: q.Attempt},
			About:        func() string { return fmt.Sprintf("findings: %d", len(out.Findings)) },
		}}, d, record, tree.Dir)
		if err != nil {
			return nil, err
		}
		if answered[0] {
			all = append(all, review.OpinionOfPlugin(p.Name, *out, changeeffects.FileVersionsReader(ctx, w.Trees.PrivateRepo(), tree.Dir, base)))
		}
	}
	return all, nil
}

// maxTold limits the texts of all plugins in a first message.
const maxTold = 16_000 // most bytes of these texts

// contextPlugins returns the plugins that are asked for a text for a session's first message: those
// of coders and testers, and none for planners and judges.
func (s *AgentSessions) contextPlugins(t ConversationStretchRequest) []plugin.DeclaredPlugin {
	if t.Task.ID == "" || t.Role != nexus.Coder && t.Role != nexus.Tester {
		return nil
	}
	return s.Site.Plugins.PluginsOfKind(nexus.PluginContext)
}

// askContextPlugins asks plugins for texts for the agent of a session that begins.
func (s *AgentSessions) askContextPlugins(ctx context.Context, t ConversationStretchRequest, d AttemptFactRecorder) ([]prompt.PluginPromptText, error) {
	asked := s.contextPlugins(t)
	if len(asked) == 0 {
		return nil, nil
	}
	most := min(plugin.MaxText, maxTold/len(asked))
	var all []prompt.PluginPromptText
	for _, p := range asked {
		out := &plugin.ContextOutput{}
		answered, err := s.Site.AskPlugin(ctx, p, nexus.PluginContext, []OwnedPluginQuestion{{
			HostQuestion: plugin.HostQuestion{Input: plugin.ContextInput{
				Goal: t.Goal, Task: plugin.NewPluginTask(t.Task), Role: t.Role, Tree: t.Tree.Dir, Bytes: most,
			}, Output: out, For: t.Role},
			Of: nexus.PluginAnswered{Task: t.Task.ID, Attempt: t.Attempt.ID, Session: t.Session},
			About: func() string {
				if out.Text == "" {
					return ""
				}
				return fmt.Sprintf("a text of %d bytes for the prompt, of which at most %d are used", len(out.Text), most)
			},
		}}, d, t.Record, t.Tree.Dir)
		if err != nil {
			return nil, err
		}
		if answered[0] && out.Text != "" {
			all = append(all, prompt.PluginPromptText{By: p.Name, Title: out.Title, Text: out.Text, Bytes: most})
		}
	}
	return all, nil
}
