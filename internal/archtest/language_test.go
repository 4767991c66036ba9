package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// toolWord is the name of a tool of some language, as a word of a text.
var toolWord = regexp.MustCompile(`(?i)\b(?:gradlew?|mvnw?|maven|cargo|rustup|pytest|pipenv|poetry|pypi|npm|pnpm|yarn|vitest|jest|mocha|eslint|composer|phpunit|phpstan|` +
	`dotnet|nuget|rspec|rubocop|bundler|rubygems|cmake|ctest|meson|mypy|pyright|golangci-lint|goproxy|gomodcache|credo|mix\.exs|pom\.xml|go\.mod|go\.sum|go\.work|pip3?|ruff|clippy|tsc|npx|rustc|javac|flake8|pylint|biome|package\.json|pyproject\.toml)\b`)

// toolNamers are the files outside the stacks that may still name a tool of a
// language in a text of theirs, each with why. The list may only shrink: what is
// known of a language belongs into its file of internal/stack.
var toolNamers = map[string]string{
	"app/egressgrants.go":                             "Go's caches, and texts for people",
	"decide/accept/judgecriteria.go":                  "words of people that name a command or a gate",
	"decide/accept/commandcriteria.go":                "words of people that name a command or a gate",
	"work/discover/missingdocumentation.go":           "words of a README that begin a command",
	"decide/interactivecommand/interactivecommand.go": "names of programs that take a password",
	"decide/tamper/testlanguagepatterns.go":           "what lines of tests and configurations hide, in patterns that cover several languages",
	"decide/tamper/tamperpatterns.go":                 "what lines of tests and configurations hide, in patterns that cover several languages",
	"decide/tamper/tamper.go":                         "what lines of tests and configurations hide, in patterns that cover several languages",
	"face/cli/doctor/linter.go":                       "checks that doctor makes, and texts for people",
	"face/cli/doctor/checkall.go":                     "checks that doctor makes, and texts for people",
	"face/cli/doctor/doctor.go":                       "checks that doctor makes, and texts for people",
	"face/cli/initcmd/initcmd.go":                     "checks that doctor makes, and texts for people",
	"nexus/definitionofdone.go":                       "says to people which tools audit dependencies",
	"sys/agentcli/knownprograms.go":                   "commands that install agent programs, for people",
	"sys/config/config.go":                            "texts of settings for people",
	"sys/config/languageservers.go":                   "texts of settings for people",
	"sys/secret/keyshape.go":                          "shapes of tokens",
}

// TestLanguagesLiveInTheirStack holds that nothing but the stacks names the tools of
// languages, and no exception stays longer than it is needed.
func TestLanguagesLiveInTheirStack(t *testing.T) {
	found := map[string]string{} // the first word, by file
	root := filepath.Join("..")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if rel == "stack" || rel == "oracle" || d.Name() == "testdata" || rel != "." && isHarness(rel) {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && found[rel] == "" {
				found[rel] = toolWord.FindString(l.Value)
			}
			return true
		})
		if found[rel] == "" {
			delete(found, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Sorted(maps.Keys(found)) {
		if toolNamers[file] == "" {
			t.Errorf("%s names %s: put it into the stack of that language", file, found[file])
		}
	}
	for _, file := range slices.Sorted(maps.Keys(toolNamers)) {
		if found[file] == "" {
			t.Errorf("%s names no tool any more: remove the exception", file)
		}
	}
}
