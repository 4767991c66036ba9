package agent

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/frontmatter"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

//go:embed roles/*.md
var builtin embed.FS

// finishTool is the tool with which a session submits.
const finishTool = "finish"

const (
	maxRole      = 64 << 10 // largest role file in bytes
	maxTurns     = 1_000
	minTokens    = 256
	maxTokensCap = 128_000
)

// RoleWriteScope names the files that a role may write.
type RoleWriteScope string

// The scopes, from narrow to wide.
const (
	WriteNothing RoleWriteScope = "none"
	WriteTests   RoleWriteScope = "tests" // tests and their support files
	WriteAll     RoleWriteScope = "tree"
)

// isWithin reports whether a scope allows no more than another.
func (s RoleWriteScope) isWithin(other RoleWriteScope) bool {
	scopes := []RoleWriteScope{WriteNothing, WriteTests, WriteAll}
	return slices.Index(scopes, s) <= slices.Index(scopes, other)
}

// MakeWriteCheck returns a function that refuses files outside the scope, or nil if all may be written.
func (s RoleWriteScope) MakeWriteCheck() func(name string) error {
	switch s {
	case WriteAll:
		return nil
	case WriteTests:
		return func(name string) error {
			if !stack.ServesTests(name) {
				return fmt.Errorf("%s is refused (role.tests): this role may write tests and their data only", name)
			}
			return nil
		}
	default: // an unknown scope allows nothing
		return func(name string) error {
			return fmt.Errorf("%s is refused (role.reads): this role may only read", name)
		}
	}
}

// RoleDefinition describes an agent as data: Tools and Writes are its row of the permission matrix.
type RoleDefinition struct {
	Name      nexus.Role
	Tier      nexus.Tier
	Tools     []string
	Writes    RoleWriteScope // files that its tools and commands may change in the tree
	Turns     int            // model calls in a session; 0: the run's limits apply
	MaxTokens int64          // most tokens of one answer; 0 means 8,192
	Map       bool           // its prompt contains a map of the repository
	Force     bool           // it must call a tool in each answer, as its only purpose is the submission
	Answers   bool           // its first message that calls no tool is its answer and ends the session; it has no tool to submit
	Effort    string         // effort of thinking, one of [llm.EffortLevels]; empty: the model's default
	Prompt    string
}

// LoadRoleDefinitions returns the built-in roles, replaced by the files of the same name in override, which
// may be nil. A file from a repository may change a role's prompt, tier and limits and remove
// tools; it may not add tools, nor widen its scope. Own names roles of the repository's own,
// which [readOwnRole] reads; those without a file are left out.
func LoadRoleDefinitions(override fs.FS, own ...nexus.Role) (map[nexus.Role]RoleDefinition, error) {
	brought, err := fs.Sub(builtin, "roles")
	if err != nil {
		return nil, err
	}
	roles, err := readRoles(brought, newDefaultsParser(nil))
	if err != nil || override == nil {
		return roles, err
	}
	usual := newDefaultsParser(roles)
	theirs, err := readRoles(override, func(name nexus.Role, data []byte) (RoleDefinition, error) {
		had, known := roles[name]
		switch {
		case known:
			r, err := usual(name, data)
			if err == nil {
				err = r.restrictTo(had)
			}
			return r, err
		case slices.Contains(own, name):
			return readOwnRole(data, roles)
		default:
			return RoleDefinition{}, fmt.Errorf("there is no such role; there are %s, and those that a step of the pipeline names",
				joinRoles(sortedRoles(roles)))
		}
	})
	if err != nil {
		return nil, err
	}
	maps.Copy(roles, theirs)
	return roles, nil
}

// restrictTo sets the scope of a role, and refuses a role that may do more than had.
func (r *RoleDefinition) restrictTo(had RoleDefinition) error {
	for _, t := range r.Tools {
		if !slices.Contains(had.Tools, t) {
			return fmt.Errorf("it may not have the tool %q; it may have %s", t, strings.Join(had.Tools, ", "))
		}
	}
	if r.Writes = cmp.Or(r.Writes, had.Writes); !r.Writes.isWithin(had.Writes) {
		return fmt.Errorf("it may not write %q; it may write %q", r.Writes, had.Writes)
	}
	return nil
}

// AsOverrideOf returns a role from outside with the name of a built-in one: unset fields have the
// built-in values, and it may do no more. It submits as the built-in one does.
func (r RoleDefinition) AsOverrideOf(usual RoleDefinition) (RoleDefinition, error) {
	r.Name, r.Tier, r.Writes = usual.Name, cmp.Or(r.Tier, usual.Tier), cmp.Or(r.Writes, usual.Writes)
	r.Turns, r.MaxTokens, r.Effort = cmp.Or(r.Turns, usual.Turns), cmp.Or(r.MaxTokens, usual.MaxTokens), cmp.Or(r.Effort, usual.Effort)
	if r.Force = usual.Force; len(r.Tools) == 0 {
		r.Tools = slices.Clone(usual.Tools)
	}
	if r.Answers {
		return r, fmt.Errorf("answers has no effect in a step of the pipeline, which takes what is submitted; "+
			"remove answers, and give the role the tool %s", finishTool)
	}
	err := r.checkRole()
	if err == nil {
		err = r.restrictTo(usual)
	}
	return r, err
}

// readOwnRole reads a role of the repository's own for the pipeline: one that writes nothing reads
// as a reviewer does, any other edits as an editor does.
func readOwnRole(data []byte, roles map[nexus.Role]RoleDefinition) (RoleDefinition, error) {
	r, err := readRole(data, RoleDefinition{})
	if err != nil {
		return r, err
	}
	for _, t := range r.Tools {
		if r.Writes == "" && slices.Contains([]string{"write_file", "edit_file", "shell", "job"}, t) {
			return r, fmt.Errorf("it has the tool %s and does not say what it writes; add writes: tree, writes: tests or writes: none", t)
		}
	}
	if r.Writes = cmp.Or(r.Writes, WriteNothing); r.Writes == WriteNothing {
		return r.AsOverrideOf(roles[nexus.Reviewer])
	}
	return r.AsOverrideOf(roles[nexus.Editor])
}

// newDefaultsParser returns a parser whose defaults are the roles of the same name in usual.
func newDefaultsParser(usual map[nexus.Role]RoleDefinition) func(nexus.Role, []byte) (RoleDefinition, error) {
	return func(name nexus.Role, data []byte) (RoleDefinition, error) {
		r, err := parseRole(data, usual[name])
		r.Name = name
		return r, err
	}
}

// readRoles reads the roles of a directory.
func readRoles(files fs.FS, parse func(nexus.Role, []byte) (RoleDefinition, error)) (map[nexus.Role]RoleDefinition, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	roles := map[nexus.Role]RoleDefinition{}
	for _, file := range names {
		name := nexus.Role(strings.TrimSuffix(path.Base(file), ".md"))
		data, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, invalidRoleError(name, err)
		}
		if roles[name], err = parse(name, data); err != nil {
			return nil, invalidRoleError(name, err)
		}
	}
	return roles, nil
}

// parseRole reads a role's file: YAML front matter between two lines of
// three dashes, then the prompt.
//
//	---
//	tier: fast
//	tools: [read_file, finish]
//	writes: none
//	turns: 20
//	max_tokens: 4096
//	map: true
//	---
//	You review ...
func parseRole(data []byte, usual RoleDefinition) (RoleDefinition, error) {
	r, err := readRole(data, usual)
	if err != nil {
		return RoleDefinition{}, err
	}
	return r, r.checkRole()
}

// readRole reads the fields of a role's file, without checking them. Switches that the file
// does not set are as in usual.
func readRole(data []byte, usual RoleDefinition) (RoleDefinition, error) {
	if len(data) > maxRole {
		return RoleDefinition{}, fmt.Errorf("the file has %d bytes, the maximum is %d", len(data), maxRole)
	}
	d := frontmatter.SplitHead(string(data))
	if !d.Closed {
		return RoleDefinition{}, errors.New("front matter is missing: the file must begin with a line ---, the settings, and another line ---")
	}
	var m struct {
		Tier      nexus.Tier     `yaml:"tier"`
		Tools     []string       `yaml:"tools"`
		Writes    RoleWriteScope `yaml:"writes"`
		Turns     int            `yaml:"turns"`
		MaxTokens int64          `yaml:"max_tokens"`
		Map       bool           `yaml:"map"`
		Force     bool           `yaml:"force"`
		Answers   bool           `yaml:"answers"`
		Effort    string         `yaml:"effort"`
	}
	m.Map, m.Force, m.Answers = usual.Map, usual.Force, usual.Answers
	l, err := yaml.NewLoader(strings.NewReader(d.Head), yaml.WithKnownFields(), yaml.WithUniqueKeys())
	if err == nil {
		err = l.Load(&m)
	}
	if err != nil && !errors.Is(err, io.EOF) { // the file is empty: the checks below report that
		return RoleDefinition{}, fmt.Errorf("front matter: %w", err)
	}
	return RoleDefinition{Tier: m.Tier, Tools: m.Tools, Writes: m.Writes, Turns: m.Turns, MaxTokens: m.MaxTokens, Map: m.Map, Force: m.Force, Answers: m.Answers, Effort: m.Effort, Prompt: strings.TrimSpace(d.Body)}, nil
}

// checkRole refuses a role that is not valid.
func (r RoleDefinition) checkRole() error {
	switch {
	case !r.Tier.IsKnown():
		return fmt.Errorf("tier %q is not one of fast, balanced, strong", r.Tier)
	case r.Writes != "" && r.Writes != WriteNothing && r.Writes != WriteTests && r.Writes != WriteAll:
		return fmt.Errorf("writes %q is not one of none, tests, tree", r.Writes)
	case r.Turns < 0 || r.Turns > maxTurns:
		return fmt.Errorf("turns %d is not from 0 to %d", r.Turns, maxTurns)
	case r.MaxTokens != 0 && (r.MaxTokens < minTokens || r.MaxTokens > maxTokensCap):
		return fmt.Errorf("max_tokens %d is not from %d to %d", r.MaxTokens, minTokens, maxTokensCap)
	case r.Effort != "" && !slices.Contains(llm.EffortLevels(), r.Effort):
		return fmt.Errorf("effort %q is not one of %s", r.Effort, strings.Join(llm.EffortLevels(), ", "))
	case !r.Answers && !slices.Contains(r.Tools, finishTool):
		return fmt.Errorf("tools must include %s, or the role could never submit", finishTool)
	case r.Answers && (r.Force || slices.Contains(r.Tools, finishTool)):
		return fmt.Errorf("a role that answers in text must have neither the tool %s nor force", finishTool)
	case r.Prompt == "":
		return errors.New("the prompt is empty")
	}
	for i, t := range r.Tools {
		switch {
		case !slices.Contains(tool.BuiltinToolNames(), t):
			return fmt.Errorf("there is no tool %q; there are %s", t, strings.Join(tool.BuiltinToolNames(), ", "))
		case slices.Contains(r.Tools[:i], t):
			return fmt.Errorf("the tool %s is given twice", t)
		}
	}
	return nil
}

func invalidRoleError(name nexus.Role, err error) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("role %q", string(name)), Cause: err,
		Hint: fmt.Sprintf("Fix .nexus/roles/%s.md, or remove it to use the built-in role.", name),
	}
}

func sortedRoles(roles map[nexus.Role]RoleDefinition) []nexus.Role {
	names := make([]nexus.Role, 0, len(roles))
	for n := range roles {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func joinRoles(names []nexus.Role) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", ")
}
