package rules

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// InstructionFileTarget is another tool, with the file that it reads.
type InstructionFileTarget struct {
	Name    string // name of the tool
	File    string
	Front   string // required start of the file
	Imports bool   // it follows @path, so that nothing needs to be repeated
}

// InstructionTargets returns the tools for which instruction files are written. Tools that read only
// AGENTS.md need none.
func InstructionTargets() []InstructionFileTarget {
	return []InstructionFileTarget{
		{Name: "claude", File: "CLAUDE.md", Imports: true},
		{Name: "gemini", File: "GEMINI.md", Imports: true},
		{Name: "cursor", File: ".cursor/rules/nexus.mdc", Front: "---\ndescription: Rules of the repository\nalwaysApply: true\n---\n"},
		{Name: "copilot", File: ".github/copilot-instructions.md"},
		{Name: "windsurf", File: ".windsurf/rules/nexus.md", Front: "---\ntrigger: always_on\n---\n"},
		{Name: "cline", File: ".clinerules/nexus.md"},
		{Name: "crush", File: "CRUSH.md"},
		{Name: "goose", File: ".goosehints"},
		{Name: "junie", File: ".junie/guidelines.md"},
		{Name: "kiro", File: ".kiro/steering/nexus.md", Front: "---\ninclusion: always\n---\n"},
		{Name: "augment", File: ".augment/rules/nexus.md", Front: "---\ntype: always_apply\n---\n"},
		{Name: "trae", File: ".trae/rules/project_rules.md"},
		{Name: "warp", File: "WARP.md"},
		{Name: "amazonq", File: ".amazonq/rules/nexus.md"},
		{Name: "firebase", File: ".idx/airules.md"},
		{Name: "openhands", File: ".openhands/microagents/repo.md"},
		{Name: "jetbrains", File: ".aiassistant/rules/nexus.md"},
		{Name: "aider", File: "CONVENTIONS.md"},
	}
}

// InstructionFile is an instruction file of another tool, with its present and its wanted
// contents.
type InstructionFile struct {
	InstructionFileTarget
	There bool
	Was   string
	Want  string // the present contents if Why is the reason for not changing it
	Why   string
}

// IsStale reports whether the file has to be written.
func (g InstructionFile) IsStale() bool { return g.Why == "" && (!g.There || g.Was != g.Want) }

// hasManagedBlock reports whether the file has a block that Nexus wrote.
func (g InstructionFile) hasManagedBlock() bool { return strings.Contains(g.Was, Begin) }

// GenerateInstructionFiles returns the wanted contents of the targets' instruction files, from AGENTS.md and
// .nexus/rules of the repository; without a target, of those files that Nexus wrote before. It
// writes nothing. An error means that there is no source.
func GenerateInstructionFiles(repo string, targets []InstructionFileTarget) ([]InstructionFile, error) {
	l := &ruleLoader{seen: map[string]bool{}}
	set := &RuleSet{repo: rulesDirectory{dir: repo}}
	l.loadFile(set.repo, "AGENTS.md", Always, "")
	set.readRulesDirectory(l, set.repo, ".nexus/rules", "*.md")
	for _, r := range l.out.Refused {
		if !r.Told {
			return nil, fmt.Errorf("%s: %s", r.File, r.Why)
		}
	}
	if len(l.out.Rules)+len(set.globbed)+len(set.skills) == 0 {
		return nil, errors.New("AGENTS.md and .nexus/rules are missing or empty")
	}
	before := len(targets) == 0
	if before {
		targets = InstructionTargets()
	}
	var all []InstructionFile
	for _, t := range targets {
		g := InstructionFile{InstructionFileTarget: t}
		text, err := set.repo.readWritableFile(t.File)
		switch {
		case err == nil:
			g.There, g.Was = true, text
		case !errors.Is(err, fs.ErrNotExist):
			g.Why = err.Error()
		}
		if before && !g.hasManagedBlock() {
			continue
		}
		if g.Want = g.Was; g.Why == "" {
			g.Want, g.Why = replaceManagedBlock(g, formatManagedBlock(l.out.Rules, set, t))
		}
		all = append(all, g)
	}
	return all, nil
}

// readWritableFile returns the text of a file that may be written. Links are not written to: their
// target belongs to somebody else.
func (p rulesDirectory) readWritableFile(name string) (string, error) {
	base, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		return "", withoutPath(err)
	}
	for at := name; at != "."; at = path.Dir(at) {
		if info, err := os.Lstat(filepath.Join(base, filepath.FromSlash(at))); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a link", at)
		}
	}
	data, err := readRegularFile(base, filepath.FromSlash(name))
	return string(data), withoutPath(err)
}

// replaceManagedBlock replaces the block in a file. A file without one belongs to somebody else, and stays
// unchanged.
func replaceManagedBlock(g InstructionFile, block string) (want, why string) {
	if !g.There || strings.TrimSpace(g.Was) == "" {
		return g.Front + block + "\n", ""
	}
	if strings.Contains(g.Was, "\r\n") {
		block = strings.ReplaceAll(block, "\n", "\r\n")
	}
	before, rest, begins := strings.Cut(g.Was, Begin)
	_, after, ends := strings.Cut(rest, End)
	switch {
	case !begins:
		return g.Was, fmt.Sprintf("it was written by hand; put the lines %s and %s where the rules belong", Begin, End)
	case !ends || strings.Contains(before, End) || strings.Contains(after, Begin) || strings.Contains(after, End):
		return g.Was, fmt.Sprintf("it does not have one %s with one %s after it", Begin, End)
	}
	return before + block + after, ""
}

// formatManagedBlock returns a target's instructions, between their marks.
func formatManagedBlock(always []InstructionRuleFile, set *RuleSet, t InstructionFileTarget) string {
	var b strings.Builder
	b.WriteString(Begin + "\n<!-- Written by nexus generate from AGENTS.md and .nexus/rules. Edit those. -->\n")
	told := func(name, text string) {
		b.WriteString("\n")
		if t.Imports {
			up := strings.Repeat("../", strings.Count(t.File, "/"))
			b.WriteString("@" + up + name + "\n")
			return
		}
		b.WriteString(text + "\n")
	}
	for _, r := range always {
		if !t.Imports || r.Why != Import { // the tool follows imports itself
			told(r.File, r.Text)
		}
	}
	for _, g := range set.globbed {
		fmt.Fprintf(&b, "\nFor files like %s:\n", strings.Join(g.patterns, ", "))
		told(g.name, g.text)
	}
	for _, k := range set.skills {
		fmt.Fprintf(&b, "\nRead %s for this: %s\n", k.name, cmp.Or(k.Description, k.Name))
	}
	text := strings.TrimPrefix(b.String(), Begin)
	return Begin + strings.NewReplacer(Begin, "<!-- begin -->", End, "<!-- end -->").Replace(text) + End
}

// Write writes a file that is stale.
func (g InstructionFile) Write(repo string) (err error) {
	root, err := os.OpenRoot(repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name := filepath.FromSlash(g.File)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := root.Lstat(name); err == nil {
		mode = info.Mode().Perm()
	}
	next := name + ".nexus-" + rand.Text() // an unpredictable name, so that no link exists there
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(g.Want)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(next))
	}
	return root.Rename(next, name)
}
