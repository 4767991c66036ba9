// Package tool contains the tools of an agent in a worktree: read, write, edit, list and
// search files, run commands, read git, ask, and finish.
//
// A [ToolSet] checks each call against the tool's JSON Schema and then runs exactly the value that
// it checked. Every error goes back to the model as a failed result with advice; no call ends
// a session. File tools never leave the root, whatever links the tree contains, and never
// touch paths that [policy.JudgePath] protects; commands run in a sandbox, after the policy
// allowed them.
package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/backgroundjob"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// AgentToolEnvironment is the environment of the tools. Dir is enough; a call that needs a missing field is
// refused with a reason.
type AgentToolEnvironment struct {
	Dir  string       // the worktree
	Root *os.Root     // Dir, opened; New opens it when nil
	Box  *sandbox.Box // runs commands; nil runs none
	// stores long output; nil keeps the last in memory
	Blob ResultStore
	// read-only git on the worktree, which cannot open hidden files
	Git func(ctx context.Context, args, hidden []string) (string, error)
	// masks keys in texts for the model; may be nil
	Mask func([]byte) []byte
	// asks a person; nil: nobody is available
	Ask func(ctx context.Context, question, fallback string) (string, error)
	Now func() time.Time // measures durations; may be nil

	// Agree asks a person about a command that needs approval, and about every command if Every
	// is set: the reason is empty if policy allows it. Nil asks nobody, and the command is
	// refused. An error is the reason for not running it.
	Agree func(ctx context.Context, command, reason string) error
	Every bool
	Rules policy.CommandPolicyContext // people's additions to the policy for commands; its Dir is set by New

	Vars     []string // environment of commands; nil means sandbox.Env()
	Readable []string // further paths that commands may read
	// directories outside of the worktree that agents may read, with commands and file tools:
	// toolchains, dependencies; nil: those of the box
	Caches   []string
	Writable []string // further directories that commands may write to
	Tmp      string   // directory that is mounted as /tmp; empty: a fresh one for each command
	Mark     string   // names the owner of commands; see proc.Sweep
	Writes   bool     // false: the tree is read-only
	Theirs   bool     // the tree is a person's own checkout
	// the role's prompt mentions that violations of the rule are possible and are undone
	Breaks bool
	Net    *egress.CommandNetworkAccess // network gateway for commands; nil: none

	// Replan records that the agent requests a new plan of its task; nil: there is no plan. Given
	// is the number of bytes of context that it requested before.
	Replan func(ctx context.Context, f nexus.ReplanRequested) error
	Given  int

	// Rule returns why a file may not be written though others may; nil: all may. If Over is set,
	// commands write to that directory (background commands, and commands beside them, to Over
	// with the suffix jobsSuffix) instead of to the tree. After each command Undo copies the
	// changes that the rule allows, or undoes those that it does not, and returns the latter. If
	// it is nil, the tree is read-only for commands.
	Rule func(name string) error
	Over string
	Undo func(ctx context.Context) ([]string, error)
	Note func(ctx context.Context) string // a note after a command; nil: none

	// Ignored returns the rule by which git ignores an untracked file, "" if none. Nil: unknown.
	Ignored func(ctx context.Context, name string) (rule string, err error)

	Hidden files.HiddenPathRules // files that are hidden from agents
	Learn  func(text string)     // receives secrets that Mask must mask; may be nil

	Scouts SubagentManager // manages the agent's subagents; nil: none
	Handin json.RawMessage // JSON Schema of finish's input; nil: summary and status
	Claims bool            // finish then also accepts checks of criteria
	Recall bool            // finish then also accepts lessons for the next agent

	tree *files.AgentTree              // NewToolSet creates it, and the fields below
	jobs *backgroundjob.BackgroundJobs // background commands
	lids *hiddenPaths                  // paths that commands may not open
}

// Tool is one tool of an agent.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // schema of the input, an object
	ReadOnly    bool            // changes nothing, so calls may run in parallel
	// Run receives input that fits the schema. An error is sent to the model.
	Run func(ctx context.Context, input json.RawMessage) (CallOutput, error)
	// Take replaces Run for long inputs: it receives the value that was parsed when the schema
	// was checked.
	Take func(ctx context.Context, input map[string]any) (CallOutput, error)
}

// CallOutput is the result of a tool.
type CallOutput struct {
	Text     string
	Failed   bool                   // the requested action was done, and failed
	Changed  bool                   // the tree may have changed
	Finished json.RawMessage        // the agent's submission, when it is done
	Over     string                 // the exceeded resource, if that ended it
	Judged   nexus.ToolCallDecision // decision of the policy; zero if only the role's rights count
	Most     int                    // bytes that the model sees, the rest is stored; 0 means 30,000
	Reached  []egress.DecisionCount // requested hosts, if the set does not know them
}

// CallOutcome is the result of one call.
type CallOutcome struct {
	Result   llm.ToolResult
	About    string // beginning of the result, one line for people
	Changed  bool   // the tree may have changed
	Finished json.RawMessage
	Duration time.Duration
	Over     string                 // the resource that its command exceeded, if that ended it
	Judged   nexus.ToolCallDecision // whether the call was allowed
	Reached  []nexus.RequestedHost  // hosts that commands requested since the call before
}

// ToolSet is the tools of one agent. It may be used by many goroutines once it is built.
type ToolSet struct {
	env   AgentToolEnvironment
	tools []*toolWithSchema
}

// toolWithSchema is a tool with its schema, which is compiled on first use.
type toolWithSchema struct {
	Tool
	foreign bool // not one of Nexus' own
	schema  func() (*jsonschema.Resolved, error)
}

// NewToolSet returns the named tools, in Nexus's order.
func NewToolSet(e AgentToolEnvironment, names ...string) (*ToolSet, error) {
	if e.Root == nil {
		root, err := os.OpenRoot(e.Dir)
		if err != nil {
			return nil, fmt.Errorf("open worktree: %w", err)
		}
		e.Root = root
	}
	if e.Vars == nil {
		e.Vars = sandbox.AgentCommandEnv()
	}
	if e.Now == nil {
		e.Now = func() time.Time { return time.Time{} }
	}
	if e.Caches == nil {
		e.Caches = e.Box.ReadableDirs()
	}
	if e.Blob == nil {
		e.Blob = &inMemoryResultStore{}
	}
	e.tree = files.NewAgentTree(e.Dir, e.Root)
	e.tree.Writes, e.tree.Rule, e.tree.Hidden, e.tree.Caches = e.Writes, e.Rule, e.Hidden.WithMasker(), e.Caches
	e.lids = newHiddenPaths(e)
	if e.Box != nil {
		e.jobs = backgroundjob.NewBackgroundJobs(ShellPath(), e.Box.Run)
	}
	s := &ToolSet{env: e}
	known := builtinTools(e)
	for _, name := range names {
		if !slices.ContainsFunc(known, func(t Tool) bool { return t.Name == name }) {
			return nil, fmt.Errorf("no tool %q", name)
		}
	}
	for _, t := range known {
		if slices.Contains(names, t.Name) {
			s.addOrReplace(t, false)
		}
	}
	return s, nil
}

// Close kills background commands and releases the worktree, except a Root that was given. The
// set must not be used after it.
func (s *ToolSet) Close() {
	defer s.env.tree.Close()
	if s.env.jobs != nil {
		s.env.jobs.Close()
	}
	s.env.lids.restoreMovedFiles() // a background command may have moved it last
}

// AgentTree returns the worktree in the agent's view, for tools that are added.
func (s *ToolSet) AgentTree() *files.AgentTree { return s.env.tree }

// HasTool reports whether a tool is in the set.
func (s *ToolSet) HasTool(name string) bool { return s.findTool(name) != nil }

// BuiltinToolNames returns the names of the tools that New knows.
func BuiltinToolNames() []string {
	var names []string
	for _, t := range builtinTools(AgentToolEnvironment{}) {
		names = append(names, t.Name)
	}
	return names
}

func builtinTools(e AgentToolEnvironment) []Tool {
	return []Tool{
		readFileTool(e), writeFileTool(e), editFileTool(e), searchCodeTool(e), listFilesTool(e), shellTool(e), jobTool(e), gitTool(e), contextRequestTool(e), replanRequestTool(e), subagentTool(e), askTool(e), finishTool(e),
	}
}

// Add adds a tool after the others; one with the same name is replaced.
func (s *ToolSet) Add(t Tool) { s.addOrReplace(t, true) }

func (s *ToolSet) addOrReplace(t Tool, foreign bool) {
	c := &toolWithSchema{Tool: t, foreign: foreign, schema: sync.OnceValues(func() (*jsonschema.Resolved, error) { return resolveSchema(t.Schema) })}
	if i := slices.IndexFunc(s.tools, func(o *toolWithSchema) bool { return o.Name == t.Name }); i >= 0 {
		s.tools[i] = c
		return
	}
	s.tools = append(s.tools, c)
}

// Specs returns the descriptions of the tools for the model, always in the same order.
func (s *ToolSet) Specs() []llm.ToolDescription {
	specs := make([]llm.ToolDescription, 0, len(s.tools))
	for _, t := range s.tools {
		shown := t.Schema
		if !t.foreign && (t.Name != "finish" || s.env.Handin == nil) {
			shown = withoutBounds(shown)
		}
		specs = append(specs, llm.ToolDescription{Name: t.Name, Description: t.Description, Schema: shown})
	}
	return specs
}

// ReadOnly reports whether calls of the tool may run in parallel.
func (s *ToolSet) ReadOnly(name string) bool {
	t := s.findTool(name)
	return t != nil && t.ReadOnly
}

func (s *ToolSet) findTool(name string) *toolWithSchema {
	for _, t := range s.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Answer runs one call. It always has a result for the model.
func (s *ToolSet) Answer(ctx context.Context, c llm.ToolCall) CallOutcome {
	began := s.env.Now()
	out, err := s.runCall(ctx, c)
	if err != nil {
		out.Text, out.Failed, out.Finished = err.Error(), true, nil
	}
	reached := out.Reached
	if c.Tool == "shell" || c.Tool == "job" {
		reached = s.env.Net.TakeDecisions()
		if no := egress.RefusalText(reached); no != "" {
			out.Text = strings.TrimSuffix(out.Text, "\n") + "\n" + no
		}
	}
	text := s.truncateResult(sanitize.RevealHidden(s.maskSecrets(out.Text)), cmp.Or(out.Most, files.MaxAnswer))
	return CallOutcome{
		Result:   llm.ToolResult{ID: c.ID, Text: text, Failed: out.Failed},
		About:    printableLine(text),
		Changed:  out.Changed,
		Finished: out.Finished,
		Over:     out.Over,
		Judged:   s.callJudgement(c.Tool, out.Judged, err),
		Reached:  egress.RequestedHostsOf(reached),
		Duration: s.env.Now().Sub(began),
	}
}

// callJudgement returns whether a call was allowed. A call that the policy did not judge is allowed
// or refused by the rights of the role.
func (s *ToolSet) callJudgement(tool string, j nexus.ToolCallDecision, err error) nexus.ToolCallDecision {
	refused, no := errors.AsType[*files.FileRefusedError](err)
	switch {
	case j != (nexus.ToolCallDecision{}):
		return j
	case no:
		return nexus.ToolCallDecision{Decision: string(policy.Deny), Rule: refused.Rule, Why: printableLine(refused.Text), By: "policy", Refused: true}
	case s.findTool(tool) == nil:
		return nexus.ToolCallDecision{Decision: string(policy.Deny), Rule: "role.tools", Why: "the role does not have it", By: "role", Refused: true}
	case tool == "ask" || tool == "finish":
		return nexus.ToolCallDecision{}
	default:
		return nexus.ToolCallDecision{Decision: string(policy.Allow), Rule: "role.tools", By: "role"}
	}
}

// maskSecrets masks keys in a complete text: a cut could hide one.
func (s *ToolSet) maskSecrets(text string) string {
	if s.env.Mask != nil {
		text = string(s.env.Mask([]byte(text)))
	}
	return text
}

func (s *ToolSet) runCall(ctx context.Context, c llm.ToolCall) (CallOutput, error) {
	t := s.findTool(c.Tool)
	if t == nil {
		if own := equivalentTool(c.Tool); own != "" && s.HasTool(own) {
			return CallOutput{}, fmt.Errorf("there is no tool %q; use %s", c.Tool, own)
		}
		return CallOutput{}, fmt.Errorf("there is no tool %q; use one of %s", c.Tool, s.joinToolNames())
	}
	if ctx.Err() != nil {
		return CallOutput{}, fmt.Errorf("not run: %w", context.Cause(ctx))
	}
	schema, err := t.schema()
	if err != nil {
		return CallOutput{}, fmt.Errorf("the schema of %s is broken: %w", t.Name, err)
	}
	object, input, err := checkInput(t.Name, schema, c.Input)
	if err != nil {
		return CallOutput{}, fmt.Errorf("the input of %s is not valid, nothing was done: %w%s", t.Name, err, amendHint(t.Name, schema))
	}
	if t.Take != nil {
		return t.Take(ctx, object)
	}
	return t.Run(ctx, input)
}

// amendHint explains how to correct a refused input without writing it again in full: a plan may
// have a hundred tasks.
func amendHint(tool string, schema *jsonschema.Resolved) string {
	if tool != "finish" || schema.Schema().Properties["amend"] == nil {
		return ""
	}
	return ". Submit only what changes, with keep: tasks that you correct in tasks, and the rest stays as you wrote it"
}

func (s *ToolSet) joinToolNames() string {
	var names string
	for i, t := range s.tools {
		if i > 0 {
			names += ", "
		}
		names += t.Name
	}
	return names
}
