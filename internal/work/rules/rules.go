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

// InstructionRuleFile is an instruction file.
type InstructionRuleFile struct {
	File string // relative to the repository; ~/... for the user's own
	Own  bool   // the user's own, not the repository's
	Why  RuleReason
	// the directory, the pattern, the importing file, or the words; empty if it always applies
	By   string
	Text string // without front matter; cut if [InstructionRuleFile.Whole] is set
	// Whole is its original length in bytes if it was cut; 0: it was not.
	Whole int
}

// SkippedInstructionFile is an instruction file that is not used.
type SkippedInstructionFile struct {
	File string `json:"file"`
	Why  string `json:"why"`
	Told bool   `json:"told,omitempty"` // it is included elsewhere, and only not repeated
}

// ApplicableRules are the rules that apply, the least specific first.
type ApplicableRules struct {
	Rules   []InstructionRuleFile
	Skills  []Skill // trusted skills that can be named
	Refused []SkippedInstructionFile
	task    bool // they apply to some files only
}

// RuleLocations describes where rules are read from.
type RuleLocations struct {
	Repo   string       // the repository; empty: none
	Home   string       // the user's home; empty: none
	Config string       // the user's configuration directory; empty: none
	Show   []string     // hidden files that people made visible to agents
	Book   *trust.Store // what people trusted; nil: nothing
	// Packages contains the files that apply to work in packages, by the packages' directories.
	Packages map[string][]string
}

// RuleSet contains the rules of a repository and its user. It is read once, except the files of
// directories, which are read on demand.
type RuleSet struct {
	repo    rulesDirectory
	always  ApplicableRules
	globbed []filePatternRule
	skills  []Skill
	seen    map[string]bool     // files that always apply
	in      map[string][]string // files that apply to packages, by their directories
}

// filePatternRule is a rule that applies to files that match a pattern.
type filePatternRule struct {
	place    rulesDirectory
	name     string
	text     string
	patterns []string
}

// LoadRules reads the rules that always apply, and the list of the others. An error is about the
// trust store; every other problem leads to a skipped file.
func LoadRules(s RuleLocations) (*RuleSet, error) {
	set := &RuleSet{in: s.Packages, repo: rulesDirectory{dir: s.Repo, hides: files.HiddenPathRules{Show: s.Show}.WithMasker()}}
	l := &ruleLoader{seen: map[string]bool{}}
	own := rulesDirectory{dir: filepath.Join(s.Config, "nexus"), own: true}
	own.label = filepath.ToSlash(own.dir) + "/"
	if rel, err := filepath.Rel(s.Home, own.dir); err == nil && s.Home != "" && filepath.IsLocal(rel) {
		own.label = "~/" + filepath.ToSlash(rel) + "/"
	}
	if filepath.IsAbs(s.Config) {
		l.loadFile(own, "AGENTS.md", Always, "")
		set.readRulesDirectory(l, own, "rules", "*.md")
	}
	if s.Repo != "" {
		for _, name := range instructionFileNames() {
			l.loadFile(set.repo, name, Always, "")
		}
		set.readRulesDirectory(l, set.repo, ".nexus/rules", "*.md")
		set.readRulesDirectory(l, set.repo, ".cursor/rules", "*.mdc")
		for _, dir := range []string{".nexus/skills", ".agents/skills", ".claude/skills"} {
			set.readSkillsIn(l, set.repo, dir)
		}
		set.readCommandsAndAgents(l)
	}
	if filepath.IsAbs(s.Config) {
		set.readSkillsIn(l, own, "skills")
	}
	if filepath.IsAbs(s.Home) {
		for _, dir := range []string{".agents", ".claude"} {
			set.readSkillsIn(l, rulesDirectory{dir: filepath.Join(s.Home, dir), label: "~/" + dir + "/", own: true}, "skills")
		}
	}
	if err := set.markTrustedSkills(s.Repo, s.Book); err != nil {
		return nil, err
	}
	set.always, set.seen = l.out, l.seen
	set.always.Rules = fitRules(set.always.Rules, alwaysBytes)
	for _, k := range set.skills {
		switch {
		case k.Kind != SkillKind: // it is not used before it is requested
		case k.State != trust.StateTrusted:
			why := fmt.Sprintf("it is not trusted (%s); nexus trust shows it", k.State)
			set.always.Refused = append(set.always.Refused, SkippedInstructionFile{File: k.File, Why: why})
		case k.Description != "":
			set.always.Skills = append(set.always.Skills, k)
		}
	}
	return set, nil
}

// instructionFileNames returns the names of the files that apply to their directory.
func instructionFileNames() []string { return []string{"AGENTS.md", "CLAUDE.md"} }

// AlwaysApplicable returns the rules that always apply. A nil set has none.
func (s *RuleSet) AlwaysApplicable() ApplicableRules {
	if s == nil {
		return ApplicableRules{}
	}
	return s.always
}

// ApplicableTo returns the additional rules for work on some files, and for a task with these words:
// the rules of directories, the nearest last, those for the files, and the skills that the
// words name.
func (s *RuleSet) ApplicableTo(paths []string, words string) ApplicableRules {
	if s == nil {
		return ApplicableRules{}
	}
	l := &ruleLoader{seen: map[string]bool{}, out: ApplicableRules{task: true}}
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
		for _, dir := range parentDirectories(local) {
			for _, name := range instructionFileNames() {
				l.loadFile(s.repo, dir+"/"+name, Directory, dir)
			}
			for _, name := range s.in[dir] {
				l.loadFile(s.repo, path.Clean(name), InPackage, dir)
			}
		}
	}
	for _, g := range s.globbed {
		if pattern, ok := firstMatchingPattern(g.patterns, local); ok {
			l.addRule(g.place, g.name, g.name, g.text, Glob, pattern, 0)
		}
	}
	for _, k := range s.skills {
		if why, by := k.applicableReason(local, words); why != "" && k.State == trust.StateTrusted {
			l.addRule(k.place, k.name, k.name, k.Text, why, by, 0)
		}
	}
	l.out.Rules = fitRules(l.out.Rules, taskBytes)
	return l.out
}

// parentDirectories returns the directories of files, and those paths that may be directories
// themselves, except the root: the outer ones first.
func parentDirectories(paths []string) []string {
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

// firstMatchingPattern returns the first of the patterns that matches one of the paths. A pattern without a
// slash applies to names in every directory.
func firstMatchingPattern(patterns, paths []string) (string, bool) {
	for _, pattern := range patterns {
		if isPatternTooCostly(pattern) {
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

// isPatternTooCostly reports whether matching a pattern could take too long.
func isPatternTooCostly(pattern string) bool {
	n := 1
	for _, group := range strings.Split(pattern, "{")[1:] {
		if n *= 2 + strings.Count(group, ","); n > maxAlternatives {
			return true
		}
	}
	return len(pattern) > maxPattern
}

// readRulesDirectory reads the rules of a directory, whose front matter defines when they apply.
func (s *RuleSet) readRulesDirectory(l *ruleLoader, p rulesDirectory, dir, pattern string) {
	names := p.listFiles(dir, pattern)
	if len(names) > maxFiles {
		l.skipFile(p, dir, fmt.Errorf("it has %d files, and only %d are read", len(names), maxFiles))
		names = names[:maxFiles]
	}
	for _, name := range names {
		text, real, err := p.readFile(name)
		if err != nil {
			l.skipFile(p, name, err)
			continue
		}
		meta, body := splitFrontMatter(text)
		body = strings.TrimSpace(withoutManagedBlocks(body))
		globs := meta.listValues("globs", "paths", "applyTo")
		if i := slices.IndexFunc(globs, func(g string) bool { return isPatternTooCostly(g) || !doublestar.ValidatePattern(g) }); i >= 0 {
			l.skipFile(p, name, fmt.Errorf("%q is not a path pattern, or has too many alternatives", sanitize.TruncateText(globs[i], 100)))
			continue
		}
		switch description := meta.singleValue("description"); {
		case body == "":
		case meta.isEnabled("alwaysApply") || len(globs) == 0 && description == "" && path.Ext(name) == ".md":
			l.addRule(p, name, real, body, Always, "", 0)
		case len(globs) > 0:
			s.globbed = append(s.globbed, filePatternRule{p, name, body, globs})
		default: // it can be used by its name
			s.skills = append(s.skills, Skill{
				Kind: SkillKind, Name: strings.TrimSuffix(path.Base(name), path.Ext(name)), Description: description,
				File: p.label + name, Own: p.own, Text: body, State: trust.StateTrusted, place: p, name: name, rule: true,
			})
		}
	}
}

// ruleLoader collects rules. It includes no file twice.
type ruleLoader struct {
	out  ApplicableRules
	seen map[string]bool // files, by their real paths
	open []string        // files whose imports are being followed
}

// loadFile reads a file, if it exists, and its imports.
func (l *ruleLoader) loadFile(p rulesDirectory, name string, why RuleReason, by string) {
	l.loadWithImports(p, name, why, by, 0)
}

func (l *ruleLoader) loadWithImports(p rulesDirectory, name string, why RuleReason, by string, depth int) {
	text, real, err := p.readFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && why == InPackage:
		l.skipFile(p, name, fmt.Errorf("the settings of the package in %s name it, but it does not exist", by))
	case errors.Is(err, fs.ErrNotExist) && why != Import:
	case errors.Is(err, fs.ErrNotExist): // most words with an @ are names of people and packages
		if path.Ext(name) == ".md" {
			l.skipFile(p, name, fmt.Errorf("%s imports it, but it does not exist", by))
		}
	case err != nil:
		l.skipFile(p, name, err)
	case slices.Contains(l.open, p.label+real):
		l.out.Refused = append(l.out.Refused, SkippedInstructionFile{p.label + name, by + " imports it, which it imports itself", true})
	case depth > maxDepth:
		l.skipFile(p, name, fmt.Errorf("it is imported more than %d files deep", maxDepth))
	default:
		_, body := splitFrontMatter(text)
		l.addRule(p, name, real, withoutManagedBlocks(body), why, by, depth)
	}
}

// addRule adds a rule whose text is known, followed by its imports.
func (l *ruleLoader) addRule(p rulesDirectory, name, real, text string, why RuleReason, by string, depth int) {
	key := p.label + real
	text = strings.TrimSpace(text)
	if l.seen[key] || text == "" {
		return
	}
	if len(l.out.Rules) >= maxFiles {
		l.skipFile(p, name, fmt.Errorf("there are more than %d files with rules", maxFiles))
		return
	}
	l.seen[key] = true
	if same := func(r InstructionRuleFile) bool { return r.Text == text }; slices.ContainsFunc(l.out.Rules, same) {
		return // a copy adds nothing
	}
	if !containsOnlyImports(text) {
		l.out.Rules = append(l.out.Rules, InstructionRuleFile{File: p.label + name, Own: p.own, Why: why, By: by, Text: text})
	}
	l.open = append(l.open, key)
	for _, to := range importedPaths(text) {
		if strings.HasPrefix(to, "~") || path.IsAbs(to) {
			l.skipFile(rulesDirectory{}, to, fmt.Errorf("%s imports it, and it lies outside of the tree", p.label+name))
			continue
		}
		l.loadWithImports(p, path.Join(path.Dir(name), to), Import, p.label+name, depth+1)
	}
	l.open = l.open[:len(l.open)-1]
}

func (l *ruleLoader) skipFile(p rulesDirectory, name string, err error) {
	if r := (SkippedInstructionFile{File: p.label + name, Why: err.Error()}); !slices.Contains(l.out.Refused, r) && len(l.out.Refused) < maxFiles {
		l.out.Refused = append(l.out.Refused, r)
	}
}
