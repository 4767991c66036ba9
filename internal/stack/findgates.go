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

	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
)

// mostPackages limits the number of packages of a tree that get gates of their own.
const mostPackages = 500

// GateCommand is a command that checks a package of a tree.
type GateCommand struct {
	Stack string
	Dir   string // of the package, "." for the root
	Name  string // of the gate: "test", "test-web" in a package, "test-node" beside another stack
	Step
	First bool            // it runs before the build
	Part  PartialRun      // command for some of its tests; zero if there is none
	Lone  SingleTest      // command for one test; zero if there is none
	Hold  OpenHandleCheck // command that finds the handles that keep it from exiting; zero if there is none
	Goes  Cover           // command that measures the coverage of its tests; zero if there is none
	Fix   []Fixer
	Else  string // command that runs the same tests without the step's program; empty if unknown
	Piece string // tells several gates of one kind apart; empty for the first
}

// Find returns the commands that check the packages of a tree, those of the root first. A
// package within another one of its stack has only the steps that the outer one lacks, if the
// outer one checks it: a workspace checks its members. Find runs nothing and writes nothing.
func Find(tree fs.FS) []GateCommand {
	var found []GateCommand
	var used []string
	for _, s := range All() {
		if s.find == nil {
			continue
		}
		for _, f := range s.find(tree) {
			found, used = append(found, f), append(used, f.Name)
		}
	}
	for _, f := range bySteps(tree) {
		f.Name = f.name(used)
		found, used = append(found, f), append(used, f.Name)
	}
	return found
}

// bySteps returns the commands that check the packages of a tree according to the steps of
// their stacks, without names.
func bySteps(tree fs.FS) []GateCommand {
	files := Files(tree)
	within := map[string][]string{} // the files of each directory and below, relative to it, found by prefix
	for _, f := range files {
		within[path.Dir(f)] = append(within[path.Dir(f)], path.Base(f))
	}
	dirs := make([]string, 0, len(within))
	for d := range within {
		dirs = append(dirs, d)
	}
	slices.SortStableFunc(dirs, func(a, b string) int {
		if n := depth(a) - depth(b); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	var found []GateCommand
	taken := map[string]bool{} // stack, gate and directory
	packages := 0
	stacks := All()
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
		p := project{tree: tree, dir: d, files: files}
		some := false
		for _, s := range stacks {
			if s.Alone && (some || d != ".") || !marked(s.Markers, within[d]) || marked(s.Yields, within[d]) {
				continue
			}
			some = true
			if s.find != nil {
				continue
			}
			if packages++; packages > mostPackages {
				return found
			}
			found = append(found, s.steps(p, taken)...)
		}
	}
	root := project{tree: tree, dir: ".", files: files}
	found = append(found, byMake(root, found)...)
	for _, s := range stacks {
		found = append(found, s.byTests(root, found, taken)...)
	}
	return found
}

// byTests returns the commands for a root that has tests of the stack but none of its markers,
// if no other command there runs tests: for example a script with a test beside it.
func (s Stack) byTests(root project, found []GateCommand, taken map[string]bool) []GateCommand {
	if len(s.Unmarked) == 0 || testsRoot(root, found) || marked(s.Markers, bases(root.files)) {
		return nil
	}
	declares := regexp.MustCompile(s.Tests.Declares)
	for _, f := range root.files {
		if fits(append(slices.Clone(s.Unmarked), samples), f) && declares.MatchString(root.read(f)) {
			return s.steps(root, taken)
		}
	}
	return nil
}

// samples matches examples, demos and the like, which are not meant to be checked.
const samples = "!**/{example,examples,sample,samples,template,templates,demo,demos,playground,playgrounds,benchmark,benchmarks,bench}/**"

// testsRoot reports whether one of the commands found for the root runs tests.
func testsRoot(root project, found []GateCommand) bool {
	return slices.ContainsFunc(found, func(f GateCommand) bool { return f.Gate == "test" && f.Dir == "." }) || root.conditionHolds("file:go.mod|file:go.work")
}

// bases returns the last elements of paths.
func bases(files []string) []string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = path.Base(f)
	}
	return names
}

// byMake returns the test command of a tree's Makefile, if no other command found for its root
// runs tests.
func byMake(p project, found []GateCommand) []GateCommand {
	s := makefile()
	if len(found) == 0 || testsRoot(p, found) {
		return nil
	}
	for _, step := range rows(s.Steps) {
		if step.Gate == "test" && p.conditionHolds(step.If) {
			return []GateCommand{{Stack: s.Name, Dir: p.dir, Step: step}}
		}
	}
	return nil
}

// GateName returns the name of the gate of a package in a directory.
func GateName(gate, dir string) string {
	if dir == "." {
		return gate
	}
	return gate + "-" + label(dir)
}

// name returns the first unused name for a gate.
func (f GateCommand) name(used []string) string {
	at := ""
	if f.Dir != "." {
		at = "-" + label(f.Dir)
	}
	if f.Piece != "" {
		at += "-" + label(f.Piece)
	}
	names := []string{f.Gate + at, f.Gate + at + "-" + f.Stack}
	for n := 2; ; n++ {
		if !slices.Contains(used, names[0]) {
			return names[0]
		}
		names = append(names[1:], fmt.Sprintf("%s%s-%s-%d", f.Gate, at, f.Stack, n))
	}
}

// label returns a directory in the form that gate names use.
func label(dir string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, dir)
}

func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

func marked(patterns, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return slices.ContainsFunc(patterns, func(m string) bool { ok, _ := path.Match(m, n); return ok })
	})
}

// steps returns the steps that apply to a package, and marks them as taken.
func (s Stack) steps(p project, taken map[string]bool) []GateCommand {
	var found []GateCommand
	have := map[string]bool{}
	for _, step := range rows(s.Steps) {
		one := step.Gate + step.Beside
		if have[one] || s.covered(p, one, taken) || !p.conditionHolds(step.If) {
			continue
		}
		have[one] = true
		step.Args = s.command(p, step.Args)
		found = append(found, s.fill(p, GateCommand{Stack: s.Name, Dir: p.dir, Step: step, Piece: step.Beside, First: step.Early != "" && p.conditionHolds(step.Early) && !s.inside(p)}))
	}
	if s.refine != nil {
		found = s.refine(s, p, found, func(gate string) bool { return s.covered(p, gate, taken) })
	}
	for _, f := range found {
		taken[s.Name+" "+f.Gate+f.Beside+" "+p.dir] = true
	}
	return found
}

// fill adds the test commands and the fixers of a step.
func (s Stack) fill(p project, f GateCommand) GateCommand {
	step := f.Step
	if part, ok := first(step.Related, func(x PartialRun) bool { return p.conditionHolds(x.If) }); ok {
		part.Args, part.Format = s.command(p, part.Args), cmp.Or(part.Format, step.Format)
		f.Part = part
	}
	if lone, ok := first(step.Alone, func(x SingleTest) bool { return p.conditionHolds(x.If) }); ok {
		lone.Args, lone.Format = s.command(p, lone.Args), cmp.Or(lone.Format, step.Format)
		f.Lone = lone
	}
	if held, ok := first(step.Held, func(x OpenHandleCheck) bool { return p.conditionHolds(x.If) }); ok {
		held.Args, held.Format = s.command(p, held.Args), cmp.Or(held.Format, step.Format)
		f.Hold = held
	}
	if cover, ok := first(step.Cover, func(x Cover) bool { return p.conditionHolds(x.If) }); ok {
		cover.Args = s.command(p, cover.Args)
		f.Goes = cover
	}
	for _, fixer := range step.Fix {
		if p.conditionHolds(fixer.If) {
			fixer.Args = s.command(p, fixer.Args)
			f.Fix = append(f.Fix, fixer)
		}
	}
	return f
}

// first returns the first element for which a condition holds.
func first[T any](all []T, holds func(T) bool) (x T, ok bool) {
	if i := slices.IndexFunc(all, holds); i >= 0 {
		return all[i], true
	}
	return x, false
}

// inside reports whether a package is within another one of its stack.
func (s Stack) inside(p project) bool {
	for p.dir != "." {
		p.dir = path.Dir(p.dir)
		if slices.ContainsFunc(s.Markers, func(m string) bool { return p.word("file:" + m) }) {
			return true
		}
	}
	return false
}

// covered reports whether a directory above already has the step and checks the package with
// it.
func (s Stack) covered(p project, gate string, taken map[string]bool) bool {
	outer := p
	for outer.dir != "." {
		outer.dir = path.Dir(outer.dir)
		rel := strings.TrimPrefix(p.dir, outer.dir+"/")
		if taken[s.Name+" "+gate+" "+outer.dir] && (aside(rel) || s.covers == nil || s.covers(outer, rel, gate)) {
			return true
		}
	}
	return false
}

// command replaces {run} by the words that start the package's own tools.
func (s Stack) command(p project, args []string) []string {
	if !slices.Contains(args, "{run}") && !slices.Contains(args, "{script}") {
		return args
	}
	run, _ := first(s.Runners, func(r Runner) bool { return p.above(r.If) })
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

// project gives access to the files and settings of a package.
type project struct {
	tree    fs.FS
	dir     string
	files   []string          // of the tree
	scripts map[string]string // instead of those of the manifest; nil: the manifest's
}

// above reports whether a condition holds in the package or in a directory above it: lock files
// are at the top of a workspace.
func (p project) above(cond string) bool {
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

func (p project) conditionHolds(cond string) bool {
	for words := range strings.FieldsSeq(cond) {
		if !slices.ContainsFunc(strings.Split(words, "|"), p.word) {
			return false
		}
	}
	return true
}

func (p project) word(w string) bool {
	if rest, not := strings.CutPrefix(w, "!"); not {
		return !p.word(rest)
	}
	kind, about, _ := strings.Cut(w, ":")
	switch kind {
	case "file":
		if !strings.ContainsAny(about, "*?[") { // it may be in a directory that is not searched for packages
			return gosrc.IsFile(p.tree, path.Join(p.dir, about))
		}
		return slices.ContainsFunc(p.files, func(f string) bool {
			ok, _ := path.Match(path.Join(p.dir, about), f)
			return ok
		})
	case "has":
		name, text, _ := strings.Cut(about, ":")
		return strings.Contains(p.read(name), strings.ReplaceAll(text, "_", " ")) || strings.Contains(p.read(name), text)
	case "plugin":
		return checked(p.read("pom.xml"), about)
	case "rake":
		return regexp.MustCompile(`(?m)^\s*task\b[ (]*[:'"]?` + regexp.QuoteMeta(about) + `\b`).MatchString(p.read("Rakefile"))
	case "script":
		_, ok := p.manifest().Scripts[about]
		return ok
	case "runs":
		name, text, _ := strings.Cut(about, ":")
		text, whole := strings.CutSuffix(strings.ReplaceAll(text, "_", " "), "$")
		script := strings.TrimSpace(p.manifest().Scripts[name])
		return script == text || !whole && strings.HasPrefix(script, text+" ")
	case "dep":
		m := p.manifest()
		return m.Dependencies[about] != "" || m.DevDependencies[about] != ""
	case "target":
		return slices.ContainsFunc(strings.Split(p.read("Makefile")+"\n"+p.read("GNUmakefile")+"\n"+p.read("makefile"), "\n"), func(l string) bool {
			return strings.HasPrefix(l, about+":") && !strings.HasPrefix(l, about+":=")
		})
	}
	return false
}

// checked reports whether the build of a pom.xml runs a plugin as a check: an execution or the
// default goal of the build has its goal "check". A plugin that only writes reports checks
// nothing; a formatter has no other use.
func checked(pom, plugin string) bool {
	pom = regexp.MustCompile(`(?s)<!--.*?-->|<reporting>.*?</reporting>`).ReplaceAllString(pom, "")
	short := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(plugin, "maven-"), "-plugin"), "-maven")
	all := regexp.MustCompile(`(?s)<plugin>.*?</plugin>`).FindAllString(pom, -1)
	return regexp.MustCompile(`<defaultGoal>[^<]*\b`+short+`:check\b`).MatchString(pom) || slices.ContainsFunc(all, func(p string) bool {
		return strings.Contains(p, "<artifactId>"+plugin+"</artifactId>") && (short == "spotless" || regexp.MustCompile(`<goal>\s*check\s*</goal>`).MatchString(p))
	})
}

// read returns the text of a small file of the package.
func (p project) read(name string) string {
	return gosrc.ReadSmall(p.tree, path.Join(p.dir, name))
}

type manifest struct {
	Scripts, Dependencies, DevDependencies map[string]string
}

func (p project) manifest() (m manifest) {
	if json.Unmarshal([]byte(p.read("package.json")), &m) != nil {
		return manifest{}
	}
	if p.scripts != nil {
		m.Scripts = p.scripts
	}
	return m
}
