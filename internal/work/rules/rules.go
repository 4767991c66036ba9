// Package rules reads the instructions of a repository and its user to every agent: AGENTS.md
// and CLAUDE.md with their imports, rules for some files, and skills. It selects those that
// apply to a path, with the reason.
//
// A repository may be untrusted. No link and no import leads out of it, files that are hidden
// from agents are not included this way either, and everything has a limit. Rules are data: a
// prompt fences them, and they give no rights.
package rules

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// Limits of reading. Files beyond them are refused, with a message.
const (
	maxDepth = 5   // nested imports
	maxFiles = 100 // files that apply always or to one task, and rules and skills in a directory
)

// RuleReason is the reason for which a rule applies.
type RuleReason string

// The reasons.
const (
	Always    RuleReason = "always"
	Directory RuleReason = "directory"
	Glob      RuleReason = "glob"
	InPackage RuleReason = "package"
	Import    RuleReason = "import"
	Named     RuleReason = "named skill"
	Matched   RuleReason = "matching skill"
)

// Rule is an instruction file.
type Rule struct {
	File string // relative to the repository; ~/... for the user's own
	Own  bool   // the user's own, not the repository's
	Why  RuleReason
	// the directory, the pattern, the importing file, or the words; empty if it always applies
	By   string
	Text string // without front matter; cut if [Rule.Whole] is set
	// Whole is its original length in bytes if it was cut; 0: it was not.
	Whole int
}

// SkippedFile is an instruction file that is not used.
type SkippedFile struct {
	File string `json:"file"`
	Why  string `json:"why"`
	Told bool   `json:"told,omitempty"` // it is included elsewhere, and only not repeated
}

// ApplicableRules are the rules that apply, the least specific first.
type ApplicableRules struct {
	Rules   []Rule
	Skills  []Skill // trusted skills that can be named
	Refused []SkippedFile
	task    bool // they apply to some files only
}

// Source describes where rules are read from.
type Source struct {
	Repo   string       // the repository; empty: none
	Home   string       // the user's home; empty: none
	Config string       // the user's configuration directory; empty: none
	Show   []string     // hidden files that people made visible to agents
	Book   *trust.Store // what people trusted; nil: nothing
	// Packages contains the files that apply to work in packages, by the packages' directories.
	Packages map[string][]string
}

// Set contains the rules of a repository and its user. It is read once, except the files of
// directories, which are read on demand.
type Set struct {
	repo    place
	always  ApplicableRules
	globbed []globbed
	skills  []Skill
	seen    map[string]bool     // files that always apply
	in      map[string][]string // files that apply to packages, by their directories
}

// globbed is a rule that applies to files that match a pattern.
type globbed struct {
	place    place
	name     string
	text     string
	patterns []string
}

// Load reads the rules that always apply, and the list of the others. An error is about the
// trust store; every other problem leads to a skipped file.
func Load(s Source) (*Set, error) {
	set := &Set{in: s.Packages, repo: place{dir: s.Repo, hides: files.HiddenRules{Show: s.Show}.Ready()}}
	l := &loader{seen: map[string]bool{}}
	own := place{dir: filepath.Join(s.Config, "nexus"), own: true}
	own.label = filepath.ToSlash(own.dir) + "/"
	if rel, err := filepath.Rel(s.Home, own.dir); err == nil && s.Home != "" && filepath.IsLocal(rel) {
		own.label = "~/" + filepath.ToSlash(rel) + "/"
	}
	if filepath.IsAbs(s.Config) {
		l.take(own, "AGENTS.md", Always, "")
		set.directory(l, own, "rules", "*.md")
	}
	if s.Repo != "" {
		for _, name := range instructions() {
			l.take(set.repo, name, Always, "")
		}
		set.directory(l, set.repo, ".nexus/rules", "*.md")
		set.directory(l, set.repo, ".cursor/rules", "*.mdc")
		for _, dir := range []string{".nexus/skills", ".agents/skills", ".claude/skills"} {
			set.skillsIn(l, set.repo, dir)
		}
		set.invoked(l)
	}
	if filepath.IsAbs(s.Config) {
		set.skillsIn(l, own, "skills")
	}
	if filepath.IsAbs(s.Home) {
		for _, dir := range []string{".agents", ".claude"} {
			set.skillsIn(l, place{dir: filepath.Join(s.Home, dir), label: "~/" + dir + "/", own: true}, "skills")
		}
	}
	if err := set.judge(s.Repo, s.Book); err != nil {
		return nil, err
	}
	set.always, set.seen = l.out, l.seen
	set.always.Rules = fit(set.always.Rules, alwaysBytes)
	for _, k := range set.skills {
		switch {
		case k.Kind != SkillKind: // it is not used before it is requested
		case k.State != trust.Trusted:
			why := fmt.Sprintf("it is not trusted (%s); nexus trust shows it", k.State)
			set.always.Refused = append(set.always.Refused, SkippedFile{File: k.File, Why: why})
		case k.Description != "":
			set.always.Skills = append(set.always.Skills, k)
		}
	}
	return set, nil
}

// instructions returns the names of the files that apply to their directory.
func instructions() []string { return []string{"AGENTS.md", "CLAUDE.md"} }

// Always returns the rules that always apply. A nil set has none.
func (s *Set) Always() ApplicableRules {
	if s == nil {
		return ApplicableRules{}
	}
	return s.always
}

// For returns the additional rules for work on some files, and for a task with these words:
// the rules of directories, the nearest last, those for the files, and the skills that the
// words name.
func (s *Set) For(paths []string, words string) ApplicableRules {
	if s == nil {
		return ApplicableRules{}
	}
	l := &loader{seen: map[string]bool{}, out: ApplicableRules{task: true}}
	for key := range s.seen {
		l.seen[key] = true
	}
	var local []string
	for _, p := range paths {
		if p = path.Clean(filepath.ToSlash(p)); filepath.IsLocal(p) {
			local = append(local, p)
		}
	}
	if s.repo.dir != "" {
		for _, dir := range directories(local) {
			for _, name := range instructions() {
				l.take(s.repo, dir+"/"+name, Directory, dir)
			}
			for _, name := range s.in[dir] {
				l.take(s.repo, path.Clean(name), InPackage, dir)
			}
		}
	}
	for _, g := range s.globbed {
		if pattern, ok := matches(g.patterns, local); ok {
			l.add(g.place, g.name, g.name, g.text, Glob, pattern, 0)
		}
	}
	for _, k := range s.skills {
		if why, by := k.fits(local, words); why != "" && k.State == trust.Trusted {
			l.add(k.place, k.name, k.name, k.Text, why, by, 0)
		}
	}
	l.out.Rules = fit(l.out.Rules, taskBytes)
	return l.out
}

// directories returns the directories of files, and those paths that may be directories
// themselves, except the root: the outer ones first.
func directories(paths []string) []string {
	var all []string
	for _, p := range paths {
		for ; p != "." && p != "/" && p != ""; p = path.Dir(p) {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return all
}

// matches returns the first of the patterns that matches one of the paths. A pattern without a
// slash applies to names in every directory.
func matches(patterns, paths []string) (string, bool) {
	for _, pattern := range patterns {
		if tooWide(pattern) {
			continue
		}
		for _, p := range paths {
			on := p
			if !strings.Contains(pattern, "/") {
				on = path.Base(p)
			}
			if ok, err := doublestar.Match(strings.TrimPrefix(pattern, "./"), on); err == nil && ok {
				return pattern, true
			}
		}
	}
	return "", false
}

// Limits of a pattern, because each alternative in braces multiplies the time of matching.
const (
	maxPattern      = 1_000
	maxAlternatives = 1_000
)

// tooWide reports whether matching a pattern could take too long.
func tooWide(pattern string) bool {
	n := 1
	for _, group := range strings.Split(pattern, "{")[1:] {
		if n *= 2 + strings.Count(group, ","); n > maxAlternatives {
			return true
		}
	}
	return len(pattern) > maxPattern
}

// directory reads the rules of a directory, whose front matter defines when they apply.
func (s *Set) directory(l *loader, p place, dir, pattern string) {
	names := p.list(dir, pattern)
	if len(names) > maxFiles {
		l.refuse(p, dir, fmt.Errorf("it has %d files, and only %d are read", len(names), maxFiles))
		names = names[:maxFiles]
	}
	for _, name := range names {
		text, real, err := p.read(name)
		if err != nil {
			l.refuse(p, name, err)
			continue
		}
		meta, body := parse(text)
		body = strings.TrimSpace(unmanaged(body))
		globs := meta.each("globs", "paths", "applyTo")
		if i := slices.IndexFunc(globs, func(g string) bool { return tooWide(g) || !doublestar.ValidatePattern(g) }); i >= 0 {
			l.refuse(p, name, fmt.Errorf("%q is not a path pattern, or has too many alternatives", sanitize.Cut(globs[i], 100)))
			continue
		}
		switch description := meta.one("description"); {
		case body == "":
		case meta.yes("alwaysApply") || len(globs) == 0 && description == "" && path.Ext(name) == ".md":
			l.add(p, name, real, body, Always, "", 0)
		case len(globs) > 0:
			s.globbed = append(s.globbed, globbed{p, name, body, globs})
		default: // it can be used by its name
			s.skills = append(s.skills, Skill{
				Kind: SkillKind, Name: strings.TrimSuffix(path.Base(name), path.Ext(name)), Description: description,
				File: p.label + name, Own: p.own, Text: body, State: trust.Trusted, place: p, name: name, rule: true,
			})
		}
	}
}

// loader collects rules. It includes no file twice.
type loader struct {
	out  ApplicableRules
	seen map[string]bool // files, by their real paths
	open []string        // files whose imports are being followed
}

// take reads a file, if it exists, and its imports.
func (l *loader) take(p place, name string, why RuleReason, by string) { l.follow(p, name, why, by, 0) }

func (l *loader) follow(p place, name string, why RuleReason, by string, depth int) {
	text, real, err := p.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && why == InPackage:
		l.refuse(p, name, fmt.Errorf("the settings of the package in %s name it, but it does not exist", by))
	case errors.Is(err, fs.ErrNotExist) && why != Import:
	case errors.Is(err, fs.ErrNotExist): // most words with an @ are names of people and packages
		if path.Ext(name) == ".md" {
			l.refuse(p, name, fmt.Errorf("%s imports it, but it does not exist", by))
		}
	case err != nil:
		l.refuse(p, name, err)
	case slices.Contains(l.open, p.label+real):
		l.out.Refused = append(l.out.Refused, SkippedFile{p.label + name, by + " imports it, which it imports itself", true})
	case depth > maxDepth:
		l.refuse(p, name, fmt.Errorf("it is imported more than %d files deep", maxDepth))
	default:
		_, body := parse(text)
		l.add(p, name, real, unmanaged(body), why, by, depth)
	}
}

// add adds a rule whose text is known, followed by its imports.
func (l *loader) add(p place, name, real, text string, why RuleReason, by string, depth int) {
	key := p.label + real
	text = strings.TrimSpace(text)
	if l.seen[key] || text == "" {
		return
	}
	if len(l.out.Rules) >= maxFiles {
		l.refuse(p, name, fmt.Errorf("there are more than %d files with rules", maxFiles))
		return
	}
	l.seen[key] = true
	if same := func(r Rule) bool { return r.Text == text }; slices.ContainsFunc(l.out.Rules, same) {
		return // a copy adds nothing
	}
	if !onlyImports(text) {
		l.out.Rules = append(l.out.Rules, Rule{File: p.label + name, Own: p.own, Why: why, By: by, Text: text})
	}
	l.open = append(l.open, key)
	for _, to := range imports(text) {
		if strings.HasPrefix(to, "~") || path.IsAbs(to) {
			l.refuse(place{}, to, fmt.Errorf("%s imports it, and it lies outside of the tree", p.label+name))
			continue
		}
		l.follow(p, path.Join(path.Dir(name), to), Import, p.label+name, depth+1)
	}
	l.open = l.open[:len(l.open)-1]
}

func (l *loader) refuse(p place, name string, err error) {
	if r := (SkippedFile{File: p.label + name, Why: err.Error()}); !slices.Contains(l.out.Refused, r) && len(l.out.Refused) < maxFiles {
		l.out.Refused = append(l.out.Refused, r)
	}
}
