package stack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// mostPackages limits the number of packages of a tree that get gates of their own.
const mostPackages = 500

// PackageGateCommand is a command that checks a package of a tree.
type PackageGateCommand struct {
	Stack string
	Dir   string // of the package, "." for the root
	Name  string // of the gate: "test", "test-web" in a package, "test-node" beside another stack
	PackageCheckCommand
	First bool                    // it runs before the build
	Part  PartialTestCommand      // expandRunPlaceholder for some of its tests; zero if there is none
	Lone  SingleTestCommand       // expandRunPlaceholder for one test; zero if there is none
	Hold  OpenResourceTestCommand // expandRunPlaceholder that finds the handles that keep it from exiting; zero if there is none
	Goes  CoverageCommand         // expandRunPlaceholder that measures the coverage of its tests; zero if there is none
	Fix   []FixCommand
	Else  string // expandRunPlaceholder that runs the same tests without the step's program; empty if unknown
	Piece string // tells several gates of one kind apart; empty for the first
}

// FindGateCommands returns the commands that check the packages of a tree, those of the root first. A
// package within another one of its stack has only the steps that the outer one lacks, if the
// outer one checks it: a workspace checks its members. Find runs nothing and writes nothing.
func FindGateCommands(tree fs.FS) []PackageGateCommand {
	var found []PackageGateCommand
	var used []string
	for _, s := range AllStacks() {
		if s.find == nil {
			continue
		}
		for _, f := range s.find(tree) {
			found, used = append(found, f), append(used, f.Name)
		}
	}
	for _, f := range gateCommandsByStack(tree) {
		f.Name = f.uniqueName(used)
		found, used = append(found, f), append(used, f.Name)
	}
	return found
}

// gateCommandsByStack returns the commands that check the packages of a tree according to the steps of
// their stacks, without names.
func gateCommandsByStack(tree fs.FS) []PackageGateCommand {
	files := SourceFiles(tree)
	within := map[string][]string{} // the files of each directory and below, relative to it, found by prefix
	for _, f := range files {
		within[path.Dir(f)] = append(within[path.Dir(f)], path.Base(f))
	}
	dirs := make([]string, 0, len(within))
	for d := range within {
		dirs = append(dirs, d)
	}
	slices.SortStableFunc(dirs, func(a, b string) int {
		if n := directoryDepth(a) - directoryDepth(b); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	var found []PackageGateCommand
	taken := map[string]bool{} // stack, gate and directory
	packages := 0
	stacks := slices.Clone(AllStacks())
	slices.SortStableFunc(stacks, func(a, b Stack) int { // stacks that apply only where no other does come last
		switch {
		case a.Alone == b.Alone:
			return 0
		case a.Alone:
			return 1
		}
		return -1
	})
	for _, d := range dirs {
		p := packageInspector{tree: tree, dir: d, files: files}
		some := false
		for _, s := range stacks {
			if s.Alone && (some || d != ".") || !matchesAny(s.Markers, within[d]) || matchesAny(s.Yields, within[d]) {
				continue
			}
			some = true
			if s.find != nil {
				continue
			}
			if packages++; packages > mostPackages {
				return found
			}
			found = append(found, s.gateCommandsOfPackage(p, taken)...)
		}
	}
	root := packageInspector{tree: tree, dir: ".", files: files}
	found = append(found, makefileTestCommand(root, found)...)
	for _, s := range stacks {
		found = append(found, s.rootTestCommands(root, found, taken)...)
	}
	return found
}

// rootTestCommands returns the commands for a root that has tests of the stack but none of its markers,
// if no other command there runs tests: for example a script with a test beside it.
func (s Stack) rootTestCommands(root packageInspector, found []PackageGateCommand, taken map[string]bool) []PackageGateCommand {
	if len(s.Unmarked) == 0 || hasRootTests(root, found) || matchesAny(s.Markers, baseNames(root.files)) {
		return nil
	}
	declares := regexp.MustCompile(s.Tests.Declares)
	for _, f := range root.files {
		if matchesPatterns(append(slices.Clone(s.Unmarked), samples), f) && declares.MatchString(root.readText(f)) {
			return s.gateCommandsOfPackage(root, taken)
		}
	}
	return nil
}

// samples matches examples, demos and the like, which are not meant to be checked.
const samples = "!**/{example,examples,sample,samples,template,templates,demo,demos,playground,playgrounds,benchmark,benchmarks,bench}/**"

// hasRootTests reports whether one of the commands found for the root runs tests.
func hasRootTests(root packageInspector, found []PackageGateCommand) bool {
	return slices.ContainsFunc(found, func(f PackageGateCommand) bool { return f.Gate == "test" && f.Dir == "." }) || root.conditionHolds("file:go.mod|file:go.work")
}

// baseNames returns the last elements of paths.
func baseNames(files []string) []string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = path.Base(f)
	}
	return names
}

// makefileTestCommand returns the test command of a tree's Makefile, or nothing if a command that was
// found already runs the tests of the same root.
func makefileTestCommand(p packageInspector, found []PackageGateCommand) []PackageGateCommand {
	s := makefileStack()
	if len(found) == 0 || hasRootTests(p, found) {
		return nil
	}
	for _, step := range rowsOfPart(s.Steps) {
		if step.Gate == "test" && p.conditionHolds(step.If) {
			return []PackageGateCommand{{Stack: s.Name, Dir: p.dir, PackageCheckCommand: step}}
		}
	}
	return nil
}

// GateName returns the name of the gate of a package in a directory.
func GateName(gate, dir string) string {
	if dir == "." {
		return gate
	}
	return gate + "-" + gateDirectoryLabel(dir)
}

// uniqueName returns the first unused name for a gate.
func (f PackageGateCommand) uniqueName(used []string) string {
	at := ""
	if f.Dir != "." {
		at = "-" + gateDirectoryLabel(f.Dir)
	}
	if f.Piece != "" {
		at += "-" + gateDirectoryLabel(f.Piece)
	}
	names := []string{f.Gate + at, f.Gate + at + "-" + f.Stack}
	for n := 2; ; n++ {
		if !slices.Contains(used, names[0]) {
			return names[0]
		}
		names = append(names[1:], fmt.Sprintf("%s%s-%s-%d", f.Gate, at, f.Stack, n))
	}
}

// gateDirectoryLabel returns a directory in the form that gate names use.
func gateDirectoryLabel(dir string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, dir)
}

func directoryDepth(dir string) int {
	if dir == "." {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

func matchesAny(patterns, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return slices.ContainsFunc(patterns, func(m string) bool { ok, _ := path.Match(m, n); return ok })
	})
}

// gateCommandsOfPackage returns the steps that apply to a package, and marks them as taken.
func (s Stack) gateCommandsOfPackage(p packageInspector, taken map[string]bool) []PackageGateCommand {
	var found []PackageGateCommand
	have := map[string]bool{}
	for _, step := range rowsOfPart(s.Steps) {
		one := step.Gate + step.Beside
		if have[one] || s.isCoveredAbove(p, one, taken) || !p.conditionHolds(step.If) {
			continue
		}
		have[one] = true
		step.Args = s.expandRunPlaceholder(p, step.Args)
		found = append(found, s.addTestAndFixCommands(p, PackageGateCommand{Stack: s.Name, Dir: p.dir, PackageCheckCommand: step, Piece: step.Beside, First: step.Early != "" && p.conditionHolds(step.Early) && !s.isInsidePackage(p)}))
	}
	if s.refine != nil {
		found = s.refine(s, p, found, func(gate string) bool { return s.isCoveredAbove(p, gate, taken) })
	}
	for _, f := range found {
		taken[s.Name+" "+f.Gate+f.Beside+" "+p.dir] = true
	}
	return found
}

// addTestAndFixCommands adds the test commands and the fixers of a step.
func (s Stack) addTestAndFixCommands(p packageInspector, f PackageGateCommand) PackageGateCommand {
	step := f.PackageCheckCommand
	if part, ok := firstMatch(step.Related, func(x PartialTestCommand) bool { return p.conditionHolds(x.If) }); ok {
		part.Args, part.Format = s.expandRunPlaceholder(p, part.Args), cmp.Or(part.Format, step.Format)
		f.Part = part
	}
	if lone, ok := firstMatch(step.Alone, func(x SingleTestCommand) bool { return p.conditionHolds(x.If) }); ok {
		lone.Args, lone.Format = s.expandRunPlaceholder(p, lone.Args), cmp.Or(lone.Format, step.Format)
		f.Lone = lone
	}
	if held, ok := firstMatch(step.Held, func(x OpenResourceTestCommand) bool { return p.conditionHolds(x.If) }); ok {
		held.Args, held.Format = s.expandRunPlaceholder(p, held.Args), cmp.Or(held.Format, step.Format)
		f.Hold = held
	}
	if cover, ok := firstMatch(step.Cover, func(x CoverageCommand) bool { return p.conditionHolds(x.If) }); ok {
		cover.Args = s.expandRunPlaceholder(p, cover.Args)
		f.Goes = cover
	}
	for _, fixer := range step.Fix {
		if p.conditionHolds(fixer.If) {
			fixer.Args = s.expandRunPlaceholder(p, fixer.Args)
			f.Fix = append(f.Fix, fixer)
		}
	}
	return f
}

// firstMatch returns the first element for which a condition holds.
func firstMatch[T any](all []T, holds func(T) bool) (x T, ok bool) {
	if i := slices.IndexFunc(all, holds); i >= 0 {
		return all[i], true
	}
	return x, false
}

// isInsidePackage reports whether a package is within another one of its stack.
func (s Stack) isInsidePackage(p packageInspector) bool {
	for p.dir != "." {
		p.dir = path.Dir(p.dir)
		if slices.ContainsFunc(s.Markers, func(m string) bool { return p.conditionWordHolds("file:" + m) }) {
			return true
		}
	}
	return false
}

// isCoveredAbove reports whether a directory above already has the step and checks the package with
// it.
func (s Stack) isCoveredAbove(p packageInspector, gate string, taken map[string]bool) bool {
	outer := p
	for outer.dir != "." {
		outer.dir = path.Dir(outer.dir)
		rel := strings.TrimPrefix(p.dir, outer.dir+"/")
		if taken[s.Name+" "+gate+" "+outer.dir] && (isExampleDirectory(rel) || s.covers == nil || s.covers(outer, rel, gate)) {
			return true
		}
	}
	return false
}

// expandRunPlaceholder replaces {run} by the words that start the package's own tools.
func (s Stack) expandRunPlaceholder(p packageInspector, args []string) []string {
	if !slices.Contains(args, "{run}") && !slices.Contains(args, "{script}") {
		return args
	}
	run, _ := firstMatch(s.Runners, func(r InstalledToolRunner) bool { return p.conditionHoldsAbove(r.If) })
	var words []string
	for _, a := range args {
		switch a {
		case "{run}":
			words = append(words, run.Args...)
		case "{script}":
			words = append(words, run.Script...)
		default:
			words = append(words, a)
		}
	}
	return words
}

// packageInspector gives access to the files and settings of a package.
type packageInspector struct {
	tree    fs.FS
	dir     string
	files   []string          // of the tree
	scripts map[string]string // instead of those of the manifest; nil: the manifest's
}

// conditionHoldsAbove reports whether a condition holds in the package or in a directory above it: lock files
// are at the top of a workspace.
func (p packageInspector) conditionHoldsAbove(cond string) bool {
	for {
		if p.conditionHolds(cond) {
			return true
		}
		if p.dir == "." {
			return false
		}
		p.dir = path.Dir(p.dir)
	}
}

func (p packageInspector) conditionHolds(cond string) bool {
	for words := range strings.FieldsSeq(cond) {
		if !slices.ContainsFunc(strings.Split(words, "|"), p.conditionWordHolds) {
			return false
		}
	}
	return true
}

func (p packageInspector) conditionWordHolds(w string) bool {
	if rest, not := strings.CutPrefix(w, "!"); not {
		return !p.conditionWordHolds(rest)
	}
	kind, about, _ := strings.Cut(w, ":")
	switch kind {
	case "file":
		if !strings.ContainsAny(about, "*?[") { // it may be in a directory that is not searched for packages
			return gosource.IsFile(p.tree, path.Join(p.dir, about))
		}
		return slices.ContainsFunc(p.files, func(f string) bool {
			ok, _ := path.Match(path.Join(p.dir, about), f)
			return ok
		})
	case "has":
		name, text, _ := strings.Cut(about, ":")
		return strings.Contains(p.readText(name), strings.ReplaceAll(text, "_", " ")) || strings.Contains(p.readText(name), text)
	case "plugin":
		return isMavenCheckPlugin(p.readText("pom.xml"), about)
	case "rake":
		return regexp.MustCompile(`(?m)^\s*task\b[ (]*[:'"]?` + regexp.QuoteMeta(about) + `\b`).MatchString(p.readText("Rakefile"))
	case "script":
		_, ok := p.npmManifest().Scripts[about]
		return ok
	case "runs":
		name, text, _ := strings.Cut(about, ":")
		text, whole := strings.CutSuffix(strings.ReplaceAll(text, "_", " "), "$")
		script := strings.TrimSpace(p.npmManifest().Scripts[name])
		return script == text || !whole && strings.HasPrefix(script, text+" ")
	case "dep":
		m := p.npmManifest()
		return m.Dependencies[about] != "" || m.DevDependencies[about] != ""
	case "target":
		return slices.ContainsFunc(strings.Split(p.readText("Makefile")+"\n"+p.readText("GNUmakefile")+"\n"+p.readText("makefile"), "\n"), func(l string) bool {
			return strings.HasPrefix(l, about+":") && !strings.HasPrefix(l, about+":=")
		})
	}
	return false
}

// isMavenCheckPlugin reports whether the build of a pom.xml runs a plugin as a check: an execution or the
// default goal of the build has its goal "check". A plugin that only writes reports checks
// nothing; a formatter has no other use.
func isMavenCheckPlugin(pom, plugin string) bool {
	pom = regexp.MustCompile(`(?s)<!--.*?-->|<reporting>.*?</reporting>`).ReplaceAllString(pom, "")
	short := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(plugin, "maven-"), "-plugin"), "-maven")
	all := regexp.MustCompile(`(?s)<plugin>.*?</plugin>`).FindAllString(pom, -1)
	return regexp.MustCompile(`<defaultGoal>[^<]*\b`+short+`:check\b`).MatchString(pom) || slices.ContainsFunc(all, func(p string) bool {
		return strings.Contains(p, "<artifactId>"+plugin+"</artifactId>") && (short == "spotless" || regexp.MustCompile(`<goal>\s*check\s*</goal>`).MatchString(p))
	})
}

// readText returns the text of a small file of the package.
func (p packageInspector) readText(name string) string {
	return gosource.ReadRegularFile(p.tree, path.Join(p.dir, name))
}

type npmManifest struct {
	Scripts, Dependencies, DevDependencies map[string]string
}

func (p packageInspector) npmManifest() (m npmManifest) {
	if json.Unmarshal([]byte(p.readText("package.json")), &m) != nil {
		return npmManifest{}
	}
	if p.scripts != nil {
		m.Scripts = p.scripts
	}
	return m
}
