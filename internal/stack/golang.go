package stack

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
	"github.com/nexus-ai-builder/nexus/internal/stack/read"
)

// goFound returns the gates of the Go modules of a tree, those of the root
// first. The others have gates of their own where they have something to
// judge: the go command of the root does not see them.
func goFound(tree fs.FS) []Found {
	found := moduleFound(tree, "", "", true)
	vendored := gosrc.IsFile(tree, "vendor/modules.txt")
	for _, at := range gosrc.Nested(tree) {
		mod := ""
		switch own := gosrc.IsFile(tree, path.Join(at, "vendor/modules.txt")); {
		case own && !vendored:
			mod = "vendor"
		case vendored && !own:
			mod = "readonly"
		}
		code, tests := gosrc.Kinds(tree, at)
		if code || tests {
			found = append(found, moduleFound(tree, at, mod, tests)...)
		}
	}
	return found
}

// moduleFound returns the gates of the module in a directory of the tree,
// empty for the root. Mod says where its dependencies come from, where that is
// not as at the root.
func moduleFound(tree fs.FS, at, mod string, tests bool) []Found {
	patterns := gosrc.Patterns(tree, at)
	if patterns == nil {
		return nil
	}
	name := func(gate string) string {
		if at == "" {
			return gate
		}
		return gate + "-" + Label(at)
	}
	with := func(flag string, words ...string) []string {
		if mod != "" {
			words = append(words, flag+mod)
		}
		return append(words, patterns...)
	}
	step := func(gate string, s Step) Found {
		s.Gate = gate
		return Found{Stack: "go", Dir: at, Name: name(gate), Step: s, Fix: s.Fix}
	}
	found := []Found{
		step("build", Step{Args: with("-mod=", "go", "build"), Format: read.GoBuild}),
		step("lint", Step{Args: with("-mod=", "go", "vet"), Format: read.GoVet, Fix: []Fixer{{Args: []string{"gofmt", "-w", "{files}"}, Ends: []string{".go"}, New: true}}}),
	}
	if tests {
		test := step("test", Step{Args: with("-mod=", "go", "test", "-json", "-count=1"), Format: read.GoTestJSON, Tests: true})
		test.Goes = goCover(with("-mod=", "go", "test", "-count=1")...)
		found = append(found, test)
	}
	for _, config := range []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"} {
		if text := gosrc.ReadSmall(tree, path.Join(at, config)); text != "" {
			found = append(found, step("golangci", Step{Args: with("--modules-download-mode=", golangci(text)...), Format: read.GolangCI, Fix: []Fixer{
				{Args: append(golangci(text), "--fix", "{dirs}"), Ends: []string{".go"}},
			}}))
			break
		}
	}
	return found
}

// golangci returns the command for golangci-lint, whose flags depend on the
// version that the configuration is for.
func golangci(text string) []string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' || r == '{' })
	second := slices.ContainsFunc(lines, func(l string) bool {
		l = strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(strings.TrimSpace(l))
		return l == "version:2" || l == "version=2"
	})
	if second {
		return []string{"golangci-lint", "run", "--output.json.path=stdout", "--show-stats=false", "--max-issues-per-linter=0", "--max-same-issues=0", "--allow-parallel-runners"}
	}
	return []string{"golangci-lint", "run", "--out-format=json", "--max-issues-per-linter=0", "--max-same-issues=0", "--allow-parallel-runners"}
}
