package worker

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// GateForecast contains the expected durations and missing programs of gates. Its answers
// never change, so that sessions begin alike. The zero GateForecast knows no durations.
type GateForecast struct {
	// returns the durations of gates in earlier runs; may be nil
	Past func(ctx context.Context) func(gate string) time.Duration

	mu     sync.Mutex // guards the fields below
	past   func(gate string) time.Duration
	took   map[string]time.Duration
	looked map[string]bool // programs, and whether they exist
}

// usualGateDuration returns the usual duration of a gate; 0: unknown.
func (p *GateForecast) usualGateDuration(ctx context.Context, name string, base func() []nexus.GateEvidence) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.took[name]; d > 0 {
		return d
	}
	if p.past == nil {
		p.past = func(string) time.Duration { return 0 }
		if p.Past != nil {
			p.past = p.Past(ctx)
		}
	}
	d := p.past(name)
	for _, e := range base() {
		if d == 0 && e.Gate == name && (e.State == nexus.Pass || e.State == nexus.Fail) {
			d = e.Duration
		}
	}
	if p.took == nil {
		p.took = map[string]time.Duration{}
	}
	p.took[name] = d
	return d
}

// missingPrograms returns the programs that are missing in the sandbox.
func (p *GateForecast) missingPrograms(ctx context.Context, box *sandbox.Box, programs []string) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.looked == nil {
		p.looked = map[string]bool{}
	}
	fresh := slices.DeleteFunc(slices.Clone(programs), func(name string) bool { _, known := p.looked[name]; return known || name == "" })
	gone, err := gate.MissingPrograms(ctx, box, fresh)
	if err != nil {
		return nil, fmt.Errorf("look for the programs of gates: %w", err)
	}
	for _, name := range fresh {
		p.looked[name] = !slices.Contains(gone, name)
	}
	return slices.DeleteFunc(slices.Clone(programs), func(name string) bool { return name == "" || p.looked[name] }), nil
}

// describeEnvironment describes the environment of a role: a tree in a directory.
func (s *AgentSessions) describeEnvironment(ctx context.Context, t ConversationStretchRequest, role agent.RoleDefinition, dir string) (prompt.RoleEnvironment, error) {
	if len(role.Tools) < 2 {
		return prompt.RoleEnvironment{}, nil // it reads no files
	}
	e := prompt.RoleEnvironment{
		System: runtime.GOOS + "/" + runtime.GOARCH, Date: s.runStartDay(), Shell: slices.Contains(role.Tools, "shell"),
		Turns: cmp.Or(role.Turns, t.Limits.Turns), Output: tool.ShellShown, Command: tool.ShellTime,
	}
	if !e.Shell && role.Name != nexus.Planner {
		return e, nil // the brief contains the gates with their results
	}
	if e.Shell {
		e.Tmp, e.Network = "$TMPDIR", s.reachableHosts(role)
		if s.Site.Box.HidesHost() {
			e.Tmp = "/tmp"
		}
		e.Rounds, e.Time = t.Limits.Rounds, t.Limits.TaskTime
	}
	for _, own := range codemap.FindCommandFiles(dir) {
		e.Scripts = append(e.Scripts, prompt.ProjectScripts{Run: own.Run, Names: own.Names, More: own.More})
	}
	gates, err := s.Judge.Gates(dir)
	if err != nil {
		return e, err
	}
	e.Mutation, e.Coverage = s.Judge.Faults.Mode, s.Judge.coverageRequirement()
	return e, s.describeGates(ctx, &e, gates, dir, t.Base)
}

// describeGates adds the gates, and their details.
func (s *AgentSessions) describeGates(ctx context.Context, e *prompt.RoleEnvironment, gates []gate.QualityGate, dir, base string) error {
	var programs []string
	for _, g := range gates {
		programs = append(programs, g.ProgramName())
	}
	var gone []string
	if s.Pace != nil {
		var err error
		if gone, err = s.Pace.missingPrograms(ctx, s.Site.Box, programs); err != nil {
			return err
		}
	}
	known := sync.OnceValue(func() []nexus.GateEvidence { return s.Judge.Bases.knownWithoutWaiting(base) })
	for i, g := range gates {
		one := prompt.GateDescription{Name: g.Name, Dir: g.Dir}
		if len(g.Args) > 0 {
			one.Command = g.Command()
		}
		if slices.Contains(gone, programs[i]) && !dependencies.HasProgram(dir, programs[i]) {
			one.Lacks = programs[i] + " is not installed"
		} else if s.Pace != nil {
			one.Usual = s.Pace.usualGateDuration(ctx, g.Name, known)
		}
		e.Gates = append(e.Gates, one)
		if way := singleTestCommand(g); way != "" && one.Lacks == "" && !slices.Contains(e.One, way) {
			e.One = append(e.One, way)
		}
		for _, f := range g.Fix {
			if way := fixerCommand(f.Args); s.Judge.Autofix && one.Lacks == "" && !slices.Contains(e.Fixers, way) {
				e.Fixers = append(e.Fixers, way)
			}
		}
	}
	return nil
}

// singleTestCommand returns the command that runs one test of a gate, or "" if unknown.
func singleTestCommand(g gate.QualityGate) string {
	words := slices.Clone(g.Lone.Args)
	switch {
	case g.Tests && len(g.Args) > 1 && g.Args[0] == "go" && g.Args[1] == "test":
		words = []string{"go", "test", "-run", "^NAME$", "./PACKAGE"}
	case len(words) == 0:
		return ""
	}
	replace := strings.NewReplacer("{test}", "NAME", "{file}", "FILE")
	for i := range words {
		words[i] = replace.Replace(words[i])
	}
	text := gate.QualityGate{Args: words}.Command()
	if g.Dir != "" && g.Dir != "." {
		text = "cd " + filepath.ToSlash(g.Dir) + " && " + text
	}
	return text
}

// fixerCommand returns a fixer's command without its file arguments.
func fixerCommand(args []string) string {
	words := slices.DeleteFunc(slices.Clone(args), func(w string) bool { return w == "{files}" || w == "{dirs}" || w == "--" })
	return gate.QualityGate{Args: words}.Command()
}

// reachableHosts names the hosts that commands of a role may reach, or returns "".
func (s *AgentSessions) reachableHosts(role agent.RoleDefinition) string {
	if s.Site.Net.GatewayForRole(string(role.Name)) == nil {
		return ""
	}
	var all []string
	for _, r := range s.Site.Net.List.Allow {
		all = append(all, r.String())
	}
	return cmp.Or(strings.Join(all, ", "), "some hosts") + ", through the proxy of the environment"
}

// coverageRequirement returns the requirement for tests of new lines, or "".
func (j *TreeJudge) coverageRequirement() string {
	if j.Meter == nil {
		return ""
	}
	r := j.Meter.Rules
	switch r.Modes[nexus.CoverageBound] {
	case nexus.BoundBlock:
		return fmt.Sprintf("Tests must run %d %% of the new lines that can run.", r.NewMinimum)
	case nexus.BoundWarn:
		return fmt.Sprintf("It is reported if tests run less than %d %% of the new lines that can run.", r.NewMinimum)
	default:
		return ""
	}
}

// runStartDay returns the day on which the run began, the start of its name.
func (s *AgentSessions) runStartDay() string {
	day, _, _ := strings.Cut(string(s.Site.Run), "-")
	t, err := time.Parse("060102", day)
	if err != nil {
		t = s.Site.Now().UTC()
	}
	return t.Format(time.DateOnly)
}

// knownWithoutWaiting is [BaseCommitJudge.Known] without waiting: nil while a base is being judged.
func (b *BaseCommitJudge) knownWithoutWaiting(commit string) []nexus.GateEvidence {
	b.once.Do(func() { b.turn = make(chan struct{}, 1) })
	select {
	case b.turn <- struct{}{}:
	default:
		return nil
	}
	defer func() { <-b.turn }()
	var all []nexus.GateEvidence
	for _, e := range b.known[commit] {
		all = append(all, e)
	}
	return all
}
