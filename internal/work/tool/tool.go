// Package tool holds what an agent can do in a worktree: read, write, edit,
// list and search files, run commands, look at git, ask, and finish.
//
// A [Set] checks each call against the tool's JSON Schema and then runs the
// very value that it checked. Whatever goes wrong goes back to the model as a
// failed result that says what to do instead; no call ends a session. File
// tools never leave the root, whatever links the tree holds, and never touch
// what [policy.JudgePath] protects; commands run in a sandbox, after the policy
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
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/job"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// Env is what the tools work with. Dir is enough; what is missing is refused
// with a reason when the model asks for it.
type Env struct {
	Dir  string                                                               // the worktree
	Root *os.Root                                                             // Dir, opened; New opens it when nil
	Box  *sandbox.Box                                                         // runs commands; nil runs none
	Blob Store                                                                // keeps long output; nil keeps the last in memory
	Git  func(ctx context.Context, args, hidden []string) (string, error)     // read-only git on the worktree, which cannot open what is hidden
	Mask func([]byte) []byte                                                  // takes keys out of what the model sees; may be nil
	Ask  func(ctx context.Context, question, fallback string) (string, error) // asks a person; nil: nobody is there
	Now  func() time.Time                                                     // measures durations; may be nil

	// Agree asks a person about a command that is not simply allowed, and
	// about every command where Every is set: the reason is empty where policy
	// allows it. Nil asks nobody, and the command is refused. An error is why
	// it is not run.
	Agree func(ctx context.Context, command, reason string) error
	Every bool
	Rules policy.Rules // what people add to the policy for commands; its Dir is ours to set

	Vars     []string        // environment of commands; nil means sandbox.Env()
	Readable []string        // further paths that commands may read
	Caches   []string        // directories outside of the worktree that agents may read, with commands and file tools: toolchains, dependencies; nil means those that the box shows
	Writable []string        // further directories that commands may write to
	Tmp      string          // directory that stands for /tmp; empty means a fresh one for each command
	Mark     string          // names the owner of commands; see sandbox.Sweep
	Writes   bool            // false: the tree is read-only
	Theirs   bool            // the tree is a person's own checkout
	Breaks   bool            // the role is told that it may break what the rule keeps from it, which is undone
	Net      *egress.Gateway // out of the box, for commands; nil: there is none

	// Replan records that the agent wants its task planned again; nil: there is
	// no plan. Given is how many bytes it was shown at its request before.
	Replan func(ctx context.Context, f nexus.ReplanAsked) error
	Given  int

	// Rule says why a file may not be written though others may; nil: all may.
	// Where Over is set, commands write to that directory (those that run in the
	// background, and beside them, to Over with jobsSuffix behind it) instead of to the
	// tree. After each command Undo takes over what the rule allows, or takes back
	// what it does not, and says which files that were. Where it is nil, commands
	// find the tree read-only.
	Rule func(name string) error
	Over string
	Undo func(ctx context.Context) ([]string, error)
	Note func(ctx context.Context) string // what else is to be said after a command; nil: nothing

	// Ignored names the rule by which git leaves a file out that is not tracked, ""
	// for none. Nil: unknown.
	Ignored func(ctx context.Context, name string) (rule string, err error)

	Hidden files.HiddenRules // what agents are not shown
	Learn  func(text string) // hears of secrets that Mask is to take out; may be nil

	Scouts Subagents       // whom the agent may send; nil: nobody
	Handin json.RawMessage // JSON Schema of finish's input; nil means summary and status
	Claims bool            // with those it takes checks of criteria
	Recall bool            // with those it takes what the next agent should know

	tree *files.Tree  // New makes it, and those below
	jobs *job.Jobs    // what runs in the background
	lids *hiddenPaths // what commands may not open
}

// Tool is one thing that an agent can do.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of the input, an object
	ReadOnly    bool            // changes nothing, so calls may run side by side
	// Run gets input that fits the schema. An error is told to the model.
	Run func(ctx context.Context, input json.RawMessage) (Output, error)
	// Take takes the place of Run where inputs are long: it gets what was read
	// when the schema was checked.
	Take func(ctx context.Context, input map[string]any) (Output, error)
}

// Output is what a tool gives back.
type Output struct {
	Text     string
	Failed   bool                   // it did what was asked, and that failed
	Changed  bool                   // the tree may be different now
	Finished json.RawMessage        // what the agent submits, when it is done
	Over     string                 // what it used too much of, if that ended it
	Judged   nexus.Judgement        // by the policy; nothing where only the role's rights count
	Most     int                    // bytes that the model sees, the rest is kept; 0 means 30,000
	Reached  []egress.DecisionCount // hosts that were asked for, where the set does not know
}

// Answer is what became of one call.
type Answer struct {
	Result   llm.Result
	About    string // beginning of the result, one line for people
	Changed  bool   // the tree may be different now
	Finished json.RawMessage
	Duration time.Duration
	Over     string              // what its command used too much of, if that ended it
	Judged   nexus.Judgement     // whether it might be made
	Reached  []nexus.HostReached // hosts that commands asked for since the call before
}

// Set is the tools of one agent. It may be used by many goroutines once it
// is made.
type Set struct {
	env   Env
	tools []*checked
}

// checked is a tool with its schema made ready when it is first needed.
type checked struct {
	Tool
	foreign bool // not one of Nexus' own
	schema  func() (*jsonschema.Resolved, error)
}

// New returns the named tools, in the order that Nexus lists them.
func New(e Env, names ...string) (*Set, error) {
	if e.Root == nil {
		root, err := os.OpenRoot(e.Dir)
		if err != nil {
			return nil, fmt.Errorf("open worktree: %w", err)
		}
		e.Root = root
	}
	if e.Vars == nil {
		e.Vars = sandbox.QuietEnv()
	}
	if e.Now == nil {
		e.Now = func() time.Time { return time.Time{} }
	}
	if e.Caches == nil {
		e.Caches = e.Box.ReadableDirs()
	}
	if e.Blob == nil {
		e.Blob = &memory{}
	}
	e.tree = files.New(e.Dir, e.Root)
	e.tree.Writes, e.tree.Rule, e.tree.Hidden, e.tree.Caches = e.Writes, e.Rule, e.Hidden.Ready(), e.Caches
	e.lids = newHiddenPaths(e)
	if e.Box != nil {
		e.jobs = job.New(Bash(), e.Box.Run)
	}
	s := &Set{env: e}
	known := builtin(e)
	for _, name := range names {
		if !slices.ContainsFunc(known, func(t Tool) bool { return t.Name == name }) {
			return nil, fmt.Errorf("no tool %q", name)
		}
	}
	for _, t := range known {
		if slices.Contains(names, t.Name) {
			s.put(t, false)
		}
	}
	return s, nil
}

// Close kills what runs in the background and lets go of the worktree, but for
// a Root that was given. The set is of no use after it.
func (s *Set) Close() {
	defer s.env.tree.Close()
	if s.env.jobs != nil {
		s.env.jobs.Close()
	}
	s.env.lids.restoreMoved() // what ran in the background may have moved it last
}

// Tree returns the worktree as the agent knows it, for tools that are added.
func (s *Set) Tree() *files.Tree { return s.env.tree }

// Has reports whether a tool is in the set.
func (s *Set) Has(name string) bool { return s.find(name) != nil }

// Names returns the names of the tools that New knows.
func Names() []string {
	var names []string
	for _, t := range builtin(Env{}) {
		names = append(names, t.Name)
	}
	return names
}

func builtin(e Env) []Tool {
	return []Tool{
		readFile(e), writeFile(e), editFile(e), searchCode(e), listFiles(e), shell(e), jobTool(e), gitTool(e), requestContext(e), requestReplan(e), subagentTool(e), ask(e), finish(e),
	}
}

// Add adds a tool after the others; one with the same name is replaced.
func (s *Set) Add(t Tool) { s.put(t, true) }

func (s *Set) put(t Tool, foreign bool) {
	c := &checked{Tool: t, foreign: foreign, schema: sync.OnceValues(func() (*jsonschema.Resolved, error) { return resolve(t.Schema) })}
	if i := slices.IndexFunc(s.tools, func(o *checked) bool { return o.Name == t.Name }); i >= 0 {
		s.tools[i] = c
		return
	}
	s.tools = append(s.tools, c)
}

// Specs returns what the model is told about the tools, always in the same order.
func (s *Set) Specs() []llm.Tool {
	specs := make([]llm.Tool, 0, len(s.tools))
	for _, t := range s.tools {
		shown := t.Schema
		if !t.foreign && (t.Name != "finish" || s.env.Handin == nil) {
			shown = lean(shown)
		}
		specs = append(specs, llm.Tool{Name: t.Name, Description: t.Description, Schema: shown})
	}
	return specs
}

// ReadOnly reports whether calls of the tool may run side by side.
func (s *Set) ReadOnly(name string) bool {
	t := s.find(name)
	return t != nil && t.ReadOnly
}

func (s *Set) find(name string) *checked {
	for _, t := range s.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Answer runs one call. It always has a result for the model.
func (s *Set) Answer(ctx context.Context, c llm.Call) Answer {
	began := s.env.Now()
	out, err := s.run(ctx, c)
	if err != nil {
		out.Text, out.Failed, out.Finished = err.Error(), true, nil
	}
	reached := out.Reached
	if c.Tool == "shell" || c.Tool == "job" {
		reached = s.env.Net.TakeDecisions()
		if no := egress.Refusals(reached); no != "" {
			out.Text = strings.TrimSuffix(out.Text, "\n") + "\n" + no
		}
	}
	text := s.fit(sanitize.Show(s.masked(out.Text)), cmp.Or(out.Most, files.MaxAnswer))
	return Answer{
		Result:   llm.Result{ID: c.ID, Text: text, Failed: out.Failed},
		About:    line(text),
		Changed:  out.Changed,
		Finished: out.Finished,
		Over:     out.Over,
		Judged:   s.judged(c.Tool, out.Judged, err),
		Reached:  egress.ReachedFacts(reached),
		Duration: s.env.Now().Sub(began),
	}
}

// judged says whether a call might be made. What the policy did not look at is
// allowed or refused by the rights of the role.
func (s *Set) judged(tool string, j nexus.Judgement, err error) nexus.Judgement {
	refused, no := errors.AsType[*files.RefusedError](err)
	switch {
	case j != (nexus.Judgement{}):
		return j
	case no:
		return nexus.Judgement{Decision: string(policy.Deny), Rule: refused.Rule, Why: line(refused.Text), By: "policy", Refused: true}
	case s.find(tool) == nil:
		return nexus.Judgement{Decision: string(policy.Deny), Rule: "role.tools", Why: "the role does not have it", By: "role", Refused: true}
	case tool == "ask" || tool == "finish":
		return nexus.Judgement{}
	default:
		return nexus.Judgement{Decision: string(policy.Allow), Rule: "role.tools", By: "role"}
	}
}

// masked takes keys out of a text that is whole: a cut could hide one.
func (s *Set) masked(text string) string {
	if s.env.Mask != nil {
		text = string(s.env.Mask([]byte(text)))
	}
	return text
}

func (s *Set) run(ctx context.Context, c llm.Call) (Output, error) {
	t := s.find(c.Tool)
	if t == nil {
		if own := equivalentTool(c.Tool); own != "" && s.Has(own) {
			return Output{}, fmt.Errorf("there is no tool %q; use %s", c.Tool, own)
		}
		return Output{}, fmt.Errorf("there is no tool %q; use one of %s", c.Tool, s.names())
	}
	if ctx.Err() != nil {
		return Output{}, fmt.Errorf("not run: %w", context.Cause(ctx))
	}
	schema, err := t.schema()
	if err != nil {
		return Output{}, fmt.Errorf("the schema of %s is broken: %w", t.Name, err)
	}
	object, input, err := check(t.Name, schema, c.Input)
	if err != nil {
		return Output{}, fmt.Errorf("the input of %s is not valid, nothing was done: %w%s", t.Name, err, amends(t.Name, schema))
	}
	if t.Take != nil {
		return t.Take(ctx, object)
	}
	return t.Run(ctx, input)
}

// amends says how what was refused is corrected, where it need not be written
// again in full: a plan may have a hundred tasks.
func amends(tool string, schema *jsonschema.Resolved) string {
	if tool != "finish" || schema.Schema().Properties["amend"] == nil {
		return ""
	}
	return ". Submit only what changes, with keep: tasks that you correct in tasks, and the rest stays as you wrote it"
}

func (s *Set) names() string {
	var names string
	for i, t := range s.tools {
		if i > 0 {
			names += ", "
		}
		names += t.Name
	}
	return names
}
