// Package bounds holds a change to the definition of done: what was measured
// goes in, and what passes a bound comes out. It asks no model.
package bounds

import (
	_ "embed"
	"fmt"
	stdpath "path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/testfile"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/done"
)

//go:embed sinks.txt
var table string

// Measured is what is known of a change.
type Measured struct {
	Tree    string
	Files   []File
	Whole   bool     // the patch was read to its end
	Planned []string // files that the task's plan names; nil: there is no plan
	Deps    []Dependency
	Run     bool   // it is what a run came to, and not the work on one task
	Cover   *Cover // nil: nobody measured it
	Audit   *Audit // nil: nobody looked
}

// Audit is what is known of the faults of dependencies.
type Audit struct {
	Found []nexus.Finding
	Why   string // why nobody can tell; empty: somebody could
}

// Cover is how much of the lines tests go through, in percent.
type Cover struct {
	Now, Before float64
	Had         bool   // Before is known
	Why         string // why Now is not known; empty: it is
}

// Dependency is one that a change adds.
type Dependency struct {
	Name    string // and version
	File    string // that names it
	Line    int    // 0 is unknown
	Licence string // SPDX; empty: nobody knows
}

// most is how many findings one bound tells.
const most = 50

// Judge holds a change to its bounds, and returns those that it passes, or
// that could not be told. What only warns is a pass with remarks.
func Judge(r done.Rules, m Measured) []nexus.Evidence {
	var all []nexus.Evidence
	for _, b := range done.Bounds() {
		mode := r.Modes[b.Name]
		if mode == "" || mode == done.Off || m.Run && !b.Run || !m.Run && !b.Task {
			continue
		}
		found, unsure := find(b.Name, r, m)
		if !m.Whole && unsure == "" {
			unsure = "the change is too large to be read"
		}
		if e, told := evidence(b, mode, found, unsure, m.Tree); told {
			all = append(all, e)
		}
	}
	return all
}

// Decides reports whether a bound's evidence decides: one that blocks and was
// passed, or could not be told.
func Decides(r done.Rules, e nexus.Evidence) bool {
	return e.State != nexus.Pass && r.Modes[strings.TrimPrefix(e.Gate, done.Prefix)] == done.Block
}

func evidence(b done.Bound, mode done.Mode, found []nexus.Finding, unsure, tree string) (nexus.Evidence, bool) {
	e := nexus.Evidence{Gate: done.Prefix + b.Name, State: nexus.Pass, Tree: tree, Command: "look for " + b.Doc}
	n, grave := len(found), 0
	for i, f := range found[:min(n, most)] {
		f.Gate, f.Code = e.Gate, b.Name
		switch {
		case f.Severity == nexus.Suggestion:
		case mode == done.Block:
			f.Severity = nexus.Major
			grave++
		default:
			f.Severity = nexus.Minor
		}
		found[i] = f
	}
	e.Findings = found[:min(n, most)]
	switch {
	case grave > 0:
		e.State, e.Exit = nexus.Fail, 1
	case unsure != "":
		e.State, e.Why = nexus.Unverifiable, unsure
	}
	if n > 0 && grave == 0 && e.Why == "" {
		e.Why = fmt.Sprintf("%d to look at", n)
	}
	return e, n > 0 || unsure != ""
}

func find(name string, r done.Rules, m Measured) (found []nexus.Finding, unsure string) {
	switch name {
	case done.Scope:
		return outside(m), ""
	case done.Large:
		return large(r, m), ""
	case done.Deletion:
		return deleted(r, m), ""
	case done.Secrets:
		return private(m), ""
	case done.Sinks:
		return sinks(m), ""
	case done.Licences:
		return licences(r, m)
	case done.Coverage:
		return covered(r, m)
	case done.Audit:
		if m.Audit == nil {
			return nil, "nobody looked"
		}
		return m.Audit.Found, m.Audit.Why
	}
	return nil, ""
}

// outside names the files that no plan names.
func outside(m Measured) []nexus.Finding {
	if len(m.Planned) == 0 {
		return nil
	}
	var found []nexus.Finding
	for _, f := range m.Files {
		planned := slices.ContainsFunc(m.Planned, func(p string) bool {
			p = strings.TrimPrefix(p, "./")
			matched, _ := stdpath.Match(p, f.Path)
			return p == f.Path || matched || strings.HasPrefix(f.Path, strings.TrimSuffix(p, "/")+"/")
		})
		if !planned && !testfile.Part(f.Path) && !lock(f.Path) {
			found = append(found, nexus.Finding{
				File: f.Path, Message: "the plan of the task does not name this file",
				Advice: "Take the change to it back, or say in the summary why the task needs it.",
			})
		}
	}
	return found
}

// large says that a change is too large to be read well.
func large(r done.Rules, m Measured) []nexus.Finding {
	files, lines := 0, 0
	for _, f := range m.Files {
		if !lock(f.Path) {
			files, lines = files+1, lines+len(f.Added)+f.Removed
		}
	}
	return over("the change touches %d files, the most is %d", files, r.Files, over("the change has %d lines, the most is %d", lines, r.Lines, nil))
}

func deleted(r done.Rules, m Measured) []nexus.Finding {
	files, lines := 0, 0
	for _, f := range m.Files {
		if lock(f.Path) {
			continue
		}
		if f.Gone && !slices.Contains(m.Planned, f.Path) {
			files++
		}
		lines += max(0, f.Removed-len(f.Added)) // what was rewritten is not gone
	}
	return over("the change deletes %d files that no plan names, the most is %d", files, r.DeletedFiles,
		over("the change takes away %d lines more than it adds to the same files, the most is %d", lines, r.DeletedLines, nil))
}

func over(text string, n, bound int, rest []nexus.Finding) []nexus.Finding {
	if bound > 0 && n > bound {
		return append([]nexus.Finding{{Message: fmt.Sprintf(text, n, bound)}}, rest...)
	}
	return rest
}

// private names files that hold what nobody else should have.
func private(m Measured) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range m.Files {
		base := strings.ToLower(stdpath.Base(f.Path))
		env := base == ".env" || strings.HasPrefix(base, ".env.") || strings.HasSuffix(base, ".env")
		for _, word := range []string{"example", "sample", "template", "dist", "test", "default"} {
			env = env && !strings.Contains(base, word)
		}
		key := slices.Contains([]string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", ".netrc", ".pgpass"}, base)
		for _, end := range []string{".p12", ".pfx", ".jks", ".keystore"} {
			key = key || strings.HasSuffix(base, end) && !testfile.Part(f.Path)
		}
		if (env || key) && !f.Gone {
			found = append(found, nexus.Finding{
				File: f.Path, Message: "git keeps this file for ever, and it is one that holds secrets",
				Advice: "Take it out of the change, name it in .gitignore, and keep an example without values instead.",
			})
		}
	}
	return found
}

// sinks finds lines in which what comes from outside does harm.
func sinks(m Measured) []nexus.Finding {
	rules := known()
	var found []nexus.Finding
	for _, f := range m.Files {
		if testfile.Part(f.Path) || lock(f.Path) {
			continue
		}
		end := strings.TrimPrefix(strings.ToLower(stdpath.Ext(f.Path)), ".")
		for _, l := range f.Added {
			if len(l.Text) > maxLine || comment(l.Text) {
				continue
			}
			for _, s := range rules {
				if slices.Contains(s.ends, end) && s.is.MatchString(l.Text) {
					found = append(found, nexus.Finding{File: f.Path, Line: l.Number, Message: s.why, Quote: strings.TrimSpace(l.Text)})
					break
				}
			}
		}
	}
	return found
}

// maxLine bounds a line that is looked at; longer ones were not written by hand.
const maxLine = 2_000

func comment(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"//", "#", "*", "/*", "--"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

type sink struct {
	ends []string
	is   *regexp.Regexp
	why  string
}

// known reads the table.
func known() []sink {
	var all []sink
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		ends, rest, ok := strings.Cut(line, " | ")
		why, pattern, two := strings.Cut(rest, " | ")
		if !ok || !two || strings.HasPrefix(line, "#") {
			continue
		}
		if is, err := regexp.Compile(pattern); err == nil { // a test reads them all
			all = append(all, sink{strings.Fields(ends), is, why})
		}
	}
	return all
}

// licences names dependencies that the rules do not allow, and those of which
// nobody knows.
func licences(r done.Rules, m Measured) (found []nexus.Finding, unsure string) {
	var unknown []string
	for _, d := range m.Deps {
		switch {
		case d.Licence == "":
			unknown = append(unknown, d.Name)
		case !allowed(d.Licence, r.Licences):
			found = append(found, nexus.Finding{
				File: d.File, Line: d.Line, Message: fmt.Sprintf("%s is under the licence %s, which done.allowed_licences does not name", d.Name, d.Licence),
				Advice: "Use another one, or let people allow the licence.",
			})
		}
	}
	if len(unknown) > 0 {
		unsure = "no licence can be told of " + strings.Join(unknown[:min(len(unknown), 10)], ", ")
	}
	return found, unsure
}

// covered says that tests go through too little. Work on what had too little
// before is only held to making it no worse.
func covered(r done.Rules, m Measured) (found []nexus.Finding, unsure string) {
	c := m.Cover
	switch {
	case c == nil:
		return nil, "nobody measured it: done.coverage_command is not set, or did not run"
	case c.Why != "":
		return nil, c.Why
	}
	least, was := float64(r.Minimum), ""
	if c.Had {
		was = fmt.Sprintf(", and it was %.1f %%", c.Before)
	}
	switch {
	case c.Had && c.Now < c.Before-float64(r.Drop):
		return []nexus.Finding{{
			Message: fmt.Sprintf("tests go through %.1f %% of the lines now%s", c.Now, was), Advice: "Test what is new, or what lost its tests.",
		}}, ""
	case c.Now < least && !(c.Had && c.Before < least):
		return []nexus.Finding{{Message: fmt.Sprintf("tests go through %.1f %% of the lines%s; the minimum is %d %%", c.Now, was, r.Minimum), Advice: "Test what is new."}}, ""
	case c.Now < float64(r.Target):
		return []nexus.Finding{{Severity: nexus.Suggestion, Message: fmt.Sprintf("tests go through %.1f %% of the lines%s; the target is %d %%", c.Now, was, r.Target)}}, ""
	}
	return nil, ""
}

// allowed reports whether a licence expression can be kept with what is
// allowed: one of the alternatives, and all parts of it.
func allowed(expression string, names []string) bool {
	expression = strings.NewReplacer("(", " ", ")", " ").Replace(expression)
	for either := range strings.SplitSeq(expression, " OR ") {
		all := true
		for part := range strings.SplitSeq(either, " AND ") {
			part, _, _ = strings.Cut(strings.TrimSpace(part), " WITH ")
			all = all && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, strings.TrimSpace(part)) })
		}
		if all {
			return true
		}
	}
	return false
}

// lock reports whether tools write a file, and people do not.
func lock(file string) bool {
	base := strings.ToLower(stdpath.Base(file))
	return slices.Contains([]string{
		"go.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "cargo.lock", "poetry.lock",
		"pdm.lock", "uv.lock", "pipfile.lock", "gemfile.lock", "composer.lock", "packages.lock.json",
	}, base)
}
