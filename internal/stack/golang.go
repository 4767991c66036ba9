package stack

import (
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

func goStack() Stack {
	return Stack{
		Name: "go", Skeleton: goSkeleton(), Markers: []string{"go.mod", "go.work"},
		CommandRules: goCommandRules,
		Names:        goPackageNaming,
		Lent:         []DependencyDir{{Dir: "vendor", With: "modules.txt"}},
		Syntax:       goSyntax,
		Tests: LanguageTestSyntax{
			Weak:     `\b(?:assert|require)\.(?:NotNil|NotEmpty|True\(t, true|NoError)`,
			Swallows: `\bos\.Exit\(0\)|\bsyscall\.Exit\(0\)|^-\s*go test`,
			Quiets:   `//\s*nolint`,
			Ends:     []string{".go"},
			Declares: `(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(|\.Run\("([^"]+)"`,
			Skips:    `\b[a-z]{1,2}\.Skip(?:f|Now)?\(|^//go:build |^func Test\w*\((?:_ )?\*testing\.T\)`,
			Asserts:  `\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt|c)\.[A-Z]\w+\(|cmp\.(?:Diff|Equal)\(|// (?:Unordered )?[Oo]utput:`,
		},
		Configs: []CheckConfigPatterns{
			{Files: []string{"go.mod", "go.work"}, Runs: `^use\b`, Loads: `^replace\b|=> \.`},
			{Files: []string{".golangci.*"}},
		},
		Environment: ToolEnvironment{
			Keeps:     splitWords("GOROOT GOOS GOARCH GOAMD64 GOEXPERIMENT GOMAXPROCS CGO_ENABLED"),
			Sets:      splitWords("GOPROXY=off GOTOOLCHAIN=local GOTELEMETRY=off"), // also where there is network access
			Unreached: []string{`module lookup disabled by GOPROXY=off`},
			Shows:     []UserToolDirectory{goModuleCache()}, Roots: splitWords("go"),
			Adds:   splitWords("GOFLAGS=-buildvcs=false"), // its git directory is hidden
			Caches: []CacheDirectory{{GoBuildCache, "GOCACHE"}, {GolangciCache, "GOLANGCI_LINT_CACHE"}},
			Gates:  goGateEnvironment, Online: goOnlineEnvironment,
		},
		Hosts:    []RegistryHosts{{"go", goHosts()}},
		Servers:  []LanguageServer{{Name: "gopls", Commands: [][]string{{"gopls"}}, Ends: []string{".go"}, Watch: splitWords("go.mod go.sum go.work"), Options: `{"symbolScope":"all","symbolMatcher":"CaseInsensitive"}`}},
		Written:  []string{"go.sum"},
		Outlines: goOutlines,
		Programs: splitWords("go gofmt golangci-lint"),
		Needs:    goModuleSourceDirs,
		Listings: []PackageListFormat{{[]string{"go.mod"}, goRequires}},
		Licences: []LicenceFinder{{KindGo, goLicence}},
		Formats:  goFormats,
		find:     goModuleGates, Warms: goCacheWarmingCommands, Counts: []string{"go test"},
	}
}

// The caches of Go's tools that Nexus keeps.
const (
	GoBuildCache  = "go-build"
	GolangciCache = "golangci"
)

// goGateEnvironment limits the gates of a tree to the toolchain and the modules that the tree names and
// this machine has.
func goGateEnvironment(tree fs.FS) []string {
	mod := "-mod=readonly"
	if gosource.IsFile(tree, "vendor/modules.txt") && !gosource.IsFile(tree, "go.work") {
		mod = "-mod=vendor"
	}
	return append([]string{"GOFLAGS=" + mod + " -buildvcs=false"}, splitWords("GOPROXY=off GOTOOLCHAIN=local GOENV=off GOTELEMETRY=off")...)
}

// goOnlineEnvironment lets the go command fetch modules. It does not write the user's module cache:
// fetched modules go to a private one, which reads the user's as a proxy.
func goOnlineEnvironment(value func(name string) string, private bool) []string {
	var env []string
	from := "https://" + goHosts()[0] // see go help goproxy
	if have := value("GOMODCACHE"); have != "" && private {
		from = (&url.URL{Scheme: "file", Path: have + "/cache/download"}).String() + "," + from
		env = append(env, "GOMODCACHE=/tmp/gomodcache", "GOFLAGS="+strings.TrimSpace(value("GOFLAGS")+" -modcacherw"))
	}
	return append(env, "GOPROXY="+from)
}

// goHosts returns the module proxy and the checksum database.
func goHosts() []string { return splitWords("proxy.golang.org sum.golang.org") }

// goCacheWarmingCommands compiles the dependencies of a tree's gates, including those of tests.
func goCacheWarmingCommands(tree fs.FS) [][]string {
	at := gosource.PackagePatterns(tree, ".")
	if at == nil {
		return nil
	}
	return [][]string{
		append([]string{"go", "vet"}, at...),
		append([]string{"go", "test", "-count=1", "-exec=true"}, at...),
		append([]string{"go", "build"}, at...),
	}
}

// goModuleCache returns the module cache.
func goModuleCache() UserToolDirectory {
	return UserToolDirectory{Var: "GOMODCACHE", At: splitWords("$GOMODCACHE $GOPATH/pkg/mod $HOME/go/pkg/mod")}
}

// goModuleGates returns the gates of the Go modules of a tree, those of the root first. Nested
// modules with something to check have gates of their own: the go command of the root does not
// include them.
func goModuleGates(tree fs.FS) []PackageGateCommand {
	found := moduleGates(tree, "", "", true)
	vendored := gosource.IsFile(tree, "vendor/modules.txt")
	for _, at := range gosource.NestedModules(tree) {
		mod := ""
		switch own := gosource.IsFile(tree, path.Join(at, "vendor/modules.txt")); {
		case own && !vendored:
			mod = "vendor"
		case vendored && !own:
			mod = "readonly"
		}
		code, tests := gosource.HasCodeAndTests(tree, at)
		if code || tests {
			found = append(found, moduleGates(tree, at, mod, tests)...)
		}
	}
	return found
}

// moduleGates returns the gates of the module in a directory of the tree, "" for the root. Mod
// is the -mod setting if it differs from the root's.
func moduleGates(tree fs.FS, at, mod string, tests bool) []PackageGateCommand {
	patterns := gosource.PackagePatterns(tree, at)
	if patterns == nil {
		return nil
	}
	name := func(gate string) string {
		if at == "" {
			return gate
		}
		return gate + "-" + gateDirectoryLabel(at)
	}
	with := func(flag string, words ...string) []string {
		if mod != "" {
			words = append(words, flag+mod)
		}
		return append(words, patterns...)
	}
	step := func(gate string, s PackageCheckCommand) PackageGateCommand {
		s.Gate = gate
		return PackageGateCommand{Stack: "go", Dir: at, Name: name(gate), PackageCheckCommand: s, Fix: s.Fix}
	}
	found := []PackageGateCommand{
		step("build", PackageCheckCommand{Args: with("-mod=", "go", "build"), Format: outputparser.GoBuild}),
		step("lint", PackageCheckCommand{Args: with("-mod=", "go", "vet"), Format: outputparser.GoVet, Fix: []FixCommand{{Args: []string{"gofmt", "-w", "{files}"}, Ends: []string{".go"}, New: true}}}),
	}
	if tests {
		test := step("test", PackageCheckCommand{Args: with("-mod=", "go", "test", "-json", "-count=1"), Format: outputparser.GoTestJSON, Tests: true})
		test.Goes = goCoverageCommand(with("-mod=", "go", "test", "-count=1")...)
		found = append(found, test)
	}
	for _, config := range []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"} {
		if text := gosource.ReadRegularFile(tree, path.Join(at, config)); text != "" {
			found = append(found, step("golangci", PackageCheckCommand{Args: with("--modules-download-mode=", golangciCommand(text)...), Format: outputparser.GolangCI, Fix: []FixCommand{
				{Args: append(golangciCommand(text), "--fix", "{dirs}"), Ends: []string{".go"}},
			}}))
			break
		}
	}
	return found
}

// golangciCommand returns the golangci-lint command. Its flags depend on the version that the
// configuration is for.
func golangciCommand(text string) []string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' || r == '{' })
	second := slices.ContainsFunc(lines, func(l string) bool {
		l = strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(strings.TrimSpace(l))
		return l == "version:2" || l == "version=2"
	})
	all := splitWords("--max-issues-per-linter=0 --max-same-issues=0 --allow-parallel-runners")
	if second {
		return append(splitWords("golangci-lint run --output.json.path=stdout --show-stats=false"), all...)
	}
	return append(splitWords("golangci-lint run --out-format=json"), all...)
}

// goCoverageCommand returns the coverage command for a go test command.
func goCoverageCommand(test ...string) CoverageCommand {
	return CoverageCommand{Name: "go test -coverprofile", Format: "go-cover", Args: coverageShellCommand(`"$@" "-coverprofile=$d/report" >&2 || exit; show "$d/report"`, test...)}
}

// goFormats returns the output formats of its tools.
func goFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: outputparser.GoTestJSON, Versions: []string{"go version"}, About: "go test -json", Tests: true, Go: true, Marks: outputparser.GoTestJSONMarks, Read: outputparser.GoTestJSONOutput},
		{Name: outputparser.GolangCI, Versions: []string{"go version", "golangci-lint version"}, About: "golangci-lint with JSON on standard output", Go: true, Marks: `(?m)^\{"Issues":`, Read: outputparser.GolangCIOutput},
		{Name: outputparser.GoBuild, Versions: []string{"go version"}, About: "go build", Go: true, Commands: []string{"go build", "go install", "go mod"}, Marks: `(?m)^# \S+\n\S+\.go:\d+:\d+: |^\{"ImportPath":"[^"]*","Action":"build-|^\timports \S+ from \S+: import cycle`, Read: outputparser.GoBuildOutput},
		{Name: outputparser.GoVet, Versions: []string{"go version"}, About: "go vet, with and without -json", Go: true, Zero: true, Commands: []string{"go vet"}, Marks: `(?m)^\t"[^"]+": \{\n\t\t"\w+": \[\n\t+\{\n\t+"posn": `, Read: outputparser.GoVetOutput},
		{Name: "gopls", About: "gopls check", Go: true, Zero: true, Commands: []string{"gopls check"}, Marks: `(?m)^\S+\.go:\d+:\d+-(?:\d+:)?\d+: `, Read: outputparser.GoplsOutput},
		{Name: outputparser.GoFmt, Versions: []string{"go version"}, About: "gofmt -l", Go: true, Commands: []string{"gofmt -l", "gofumpt -l", "goimports -l"}, Read: outputparser.GoFmtOutput},
		{Name: "gotestsum", About: "gotestsum in any of its formats", Tests: true, Commands: []string{"gotestsum"}, Marks: `(?m)^DONE \d+ tests?\b.* in [\d.]+s$`, Read: outputparser.TallyOutput},
		{Name: "go-test", About: "go test without -json", Tests: true, Commands: []string{"go test"}, Marks: outputparser.GoTestMarks, Read: outputparser.GoTestOutput},
	}
}

// goRequires reads the requirements of a go.mod.
func goRequires(text string) []ListedPackage {
	row := regexp.MustCompile(`^\s*(?:require\s+)?([\w.~-]+\.[\w.~-]+(?:/[\w.~-]+)*)\s+(v\d\S*)`)
	var all []ListedPackage
	in := ""
	n := 0
	for line := range strings.Lines(text) {
		n++
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.TrimSpace(rest) == "(":
			in = word
			continue
		case word == ")":
			in = ""
			continue
		}
		if m := row.FindStringSubmatch(line); m != nil && (in == "require" || word == "require") {
			all = append(all, ListedPackage{Kind: KindGo, Name: m[1], Version: m[2], Line: n})
		}
	}
	return all
}

// goOutlines returns the declaration patterns of its files.
func goOutlines() []OutlinePatterns {
	return []OutlinePatterns{
		{Name: "Go", Flat: true, Ends: []string{".go"}, Tests: []string{"*_test.go"}, Declares: []string{"func ", "type ", "var ", "const "}, Hides: "lower", Imports: []string{`"`, `import "`}, Generated: "// Code generated "},
	}
}

// goLicence searches the module cache and the vendored modules.
func goLicence(p PackageSearchPaths, k ListedPackage) string {
	if modules := goModuleCache().Resolve(p.userVariable); modules != "" {
		if l := p.licenceInText(path.Join(modules, escapeModulePath(k.Name)+"@"+escapeModulePath(k.Version))); l != "" {
			return l
		}
	}
	for _, t := range p.Trees {
		if l := p.licenceInText(path.Join(t, "vendor", k.Name)); l != "" {
			return l
		}
	}
	return ""
}

// escapeModulePath writes a path as the module cache does: an exclamation mark and the small
// letter for each capital.
func escapeModulePath(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// goSyntax returns the syntax of its files. Mutations are made in the syntax tree.
func goSyntax() []SourceSyntax {
	return []SourceSyntax{braceSyntax([]string{".go"}, LineMutations{}).withExports(goExports, "`").withFunctionHeads(`^func (?:\([^)]*\) )?(\w+)[\[(]`)}
}

// goExports matches the names that its files export.
const goExports = `(?m)^func (?:\([^)]*\) ?)?([A-Z]\w*)[\[(]|^type ([A-Z]\w*)\b|^(?:var|const) ([A-Z]\w*)\b`

// goSkeleton returns a program that greets, with its test.
func goSkeleton() ProjectSkeleton {
	return ProjectSkeleton{
		Needs: splitWords("go"), Named: splitWords("go golang"),
		Fits: splitWords("cli command tool terminal server service api daemon network concurrent binary backend"), For: "commands and servers that are one program",
		Test: "main_test.go", Files: []SkeletonFile{
			{".gitignore", "/{name}\n"},
			{"README.md", "# {name}\n\n    go run .\n    go test ./...\n"},
			{"go.mod", "module {name}\n\ngo 1.21\n"},
			{"main.go", "// {name} greets.\npackage main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(greeting())\n}\n\n// greeting returns what the program says.\nfunc greeting() string { return \"Hello from {name}\" }\n"},
			{"main_test.go", "package main\n\nimport \"testing\"\n\nfunc TestGreeting(t *testing.T) {\n\tif got := greeting(); got != \"Hello from {name}\" {\n\t\tt.Errorf(\"it says %q\", got)\n\t}\n}\n"},
		},
	}
}

// goCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const goCommandRules = `
ask   | deps.new | go | get | +
ask   | deps.new | go | install run | @
ask   | deps.new | go | work:use mod:edit | -replace
allow | build    | go | build test vet list version env fmt doc mod:tidy mod:verify mod:graph mod:why | !-toolexec !-exec !-overlay !-w !-u !-C !-modfile !-vettool !-o
allow | build    | gofmt gofumpt goimports | | !-cpuprofile
allow | build    | golangci-lint staticcheck | | !-c !--config
`
