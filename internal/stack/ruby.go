package stack

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/licencename"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

func rubyStack() Stack {
	const minitest = `Dir["test/**/{test_*,*_test}.rb"].sort.each { |f| require "./#{f}" }`
	return Stack{
		Name: "ruby", Markers: []string{"Gemfile", "*.gemspec", ".rspec", ".rubocop.yml"},
		Unmarked: splitWords("test/test_*.rb test/*_test.rb spec/*_spec.rb spec/*/*_spec.rb"),
		Offers:   func() []ScriptFile { return []ScriptFile{{Files: []string{"Rakefile"}, Run: "rake", Names: rakeTasks}} },
		Lent:     []DependencyDir{{Dir: "vendor/bundle", With: "ruby"}, {Dir: ".bundle", With: "config", Copies: true}},
		Syntax:   rubySyntax,
		Runners:  []InstalledToolRunner{{If: "file:Gemfile.lock", Args: []string{"bundle", "exec"}}, {}},
		Installs: rubyInstalls, Programs: splitWords("ruby bundle rake rspec rubocop rails"),
		Tests: LanguageTestSyntax{
			Weak:     `refute_nil|be_truthy|not_to be_nil`,
			Swallows: `\bexit!`,
			Quiets:   `rubocop:disable`,
			Reports:  `@example_block`,
			Ends:     []string{".rb"},
			Declares: `(?m)^\s*(?:it|specify|scenario|test|describe|context)\s*\(?\s*['"]([^'"]+)|^\s*def (test_\w+)`,
			Skips:    `^\s*(?:skip|pending|xit|xdescribe|xcontext|xspecify)\b`,
			Focuses:  `^\s*(?:fit|fdescribe|fcontext)\b|,\s*:?focus\b`,
			Asserts:  `\bexpect[ ({]|\b(?:assert|refute)\w*\b|\.should\b|\.must_\w+`,
			Only:     true,
			Names:    []string{"*_spec.rb"},
		},
		Configs: []CheckConfigPatterns{
			{Files: []string{"bin/rails"}, Runner: true},
			{Files: []string{".rspec", "rakefile", ".rubocop*"}},
		},
		Environment: ToolEnvironment{Offline: []string{"BUNDLE_RETRY=0"}},
		Namings:     rubyNamings,
		Running: func() []RunningTestFinder {
			return []RunningTestFinder{{"minitest", testrunners.UnfinishedTestReader(`^(\w[\w:]*#test_\w+) = ?$`, `^\S+#test_\S+ = [\d.]+ s = `)}}
		},
		Hosts:        []RegistryHosts{{"rubygems", splitWords("rubygems.org index.rubygems.org")}},
		Servers:      []LanguageServer{{Name: "ruby-lsp", Commands: [][]string{{"ruby-lsp"}, {"solargraph", "stdio"}}, Ends: []string{".rb"}, Watch: []string{"Gemfile.lock"}}},
		Written:      []string{"gemfile.lock"},
		CommandRules: rubyCommandRules,
		Outlines:     rubyOutlines,
		Licences:     []LicenceFinder{{KindRuby, rubyLicence}},
		Listings:     []PackageListFormat{{[]string{"Gemfile.lock"}, gemPackages}},
		Formats:      rubyFormats,
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "lint", If: "file:.rubocop.yml", Args: []string{"{run}", "rubocop", "--format", "json", "--cache", "false"}, Format: "rubocop", Fix: []FixCommand{{Args: []string{"{run}", "rubocop", "--autocorrect", "--cache", "false", "{files}"}, Ends: []string{".rb"}}}},
				{Gate: "test", If: "file:.rspec|file:spec/*_spec.rb|file:spec/*/*_spec.rb", Args: []string{"{run}", "rspec"}, Format: "rspec", Tests: true, Alone: []SingleTestCommand{{Name: NameRuby, Args: []string{"{run}", "rspec", "--example-matches", "{test}"}}}, Cover: rubyCoverageCommands("{run}", "rspec")},
				{Gate: "test", If: "file:bin/rails", Args: []string{"bin/rails", "test"}, Format: "minitest", Tests: true, Alone: []SingleTestCommand{{Name: NameMinitest, Args: []string{"bin/rails", "test", "--name={test}"}}}, Cover: rubyCoverageCommands("bin/rails", "test")},
				{Gate: "test", If: "file:test/run.rb", Args: []string{"{run}", "ruby", "-Ilib", "test/run.rb"}, Format: "minitest", Tests: true},
				{Gate: "test", If: "file:test/run-test.rb", Args: []string{"{run}", "ruby", "-Ilib", "test/run-test.rb"}, Format: "minitest", Tests: true},
				{Gate: "test", If: "file:test/test_*.rb|file:test/*_test.rb", Args: []string{"{run}", "ruby", "-Ilib", "-Itest", "-e", minitest}, Format: "minitest", Tests: true, Alone: []SingleTestCommand{{Name: NameMinitest, Args: []string{"{run}", "ruby", "-Ilib", "-Itest", "-e", minitest, "--", "--name={test}"}}}},
				{Gate: "test", If: "rake:test|has:Rakefile:Rake::TestTask", Args: []string{"{run}", "rake", "test"}, Format: "exit", Tests: true},
				{Gate: "test", If: "rake:spec", Args: []string{"{run}", "rake", "spec"}, Format: "exit", Tests: true},
			}
		},
	}
}

// rubyCover is a file that measures test coverage; it runs in each process of the tests.
//
//go:embed probe/nexus_cover.rb
var rubyCover string

// rubyCoverageCommands measures the coverage of a Ruby command with the language's own library.
func rubyCoverageCommands(words ...string) []CoverageCommand {
	const line = `printf '%s\n' "$1" >"$d/nexus_cover.rb" && shift
export NEXUS_COVER="$d" RUBYOPT="${RUBYOPT:+$RUBYOPT }-r$d/nexus_cover.rb"
"$@" >&2 || exit
show "$d"/report.*`
	return []CoverageCommand{{Name: "Coverage of Ruby", Format: "lcov", Args: coverageShellCommand(line, append([]string{rubyCover}, words...)...)}}
}

// checkGemInstallation returns an error unless every gem of the lock file is in vendor/bundle.
func checkGemInstallation(tree fs.FS, lock string) error {
	gems, err := fs.Glob(tree, "vendor/bundle/ruby/*/gems/*")
	if err != nil || len(gems) == 0 {
		return errors.Join(errors.New("there are no gems in vendor/bundle"), err)
	}
	part := ""
	spec := regexp.MustCompile(`^    ([^\s(]+) \(([^)]+)\)$`)
	for line := range strings.Lines(lock) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' {
			part = line
		}
		m := spec.FindStringSubmatch(line)
		if m == nil || part != "GEM" {
			continue
		}
		full := m[1] + "-" + m[2]
		if !slices.ContainsFunc(gems, func(g string) bool { b := path.Base(g); return b == full || strings.HasPrefix(b, full+"-") }) {
			return fmt.Errorf("%s is not installed", full)
		}
	}
	return nil
}

func rubyInstalls() []InstallMethod {
	return []InstallMethod{
		{
			Name: "bundler", Lock: "Gemfile.lock", Also: []string{"Gemfile", ".ruby-version", "*.gemspec"}, Tools: []string{"bundle", "ruby"},
			Args: splitWords("bundle install"), Away: splitWords("--local"), Env: []string{"BUNDLE_PATH=vendor/bundle", "BUNDLE_FROZEN=true"}, Out: []string{"vendor/bundle", ".bundle"}, Same: checkGemInstallation,
		},
		{
			Name: "bundler", Lock: "Gemfile", Bare: true, Fits: containsTextFunc("gem"), Also: []string{".ruby-version", "*.gemspec"}, Tools: []string{"bundle", "ruby"},
			Args: splitWords("bundle install"), Away: splitWords("--local"), Env: []string{"BUNDLE_PATH=vendor/bundle"}, Out: []string{"vendor/bundle", ".bundle"},
		},
	}
}

// rubyFormats returns the output formats of its tools.
func rubyFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: "rubocop", About: "RuboCop: text, emacs or -f json", Commands: []string{"rubocop", "standardrb"}, Marks: `"cop_name"|"rubocop_version"|(?m)^\d+ files? inspected, |^\S+\.rb:\d+:\d+: [CRWEF]: `, Well: `no offenses detected`, Read: lint.ReadRuboCop},
		{Name: "ruby", About: "ruby -c", Commands: []string{"ruby -c", "ruby -wc"}, Marks: `(?m)^Syntax OK$|^\S+\.rb:\d+: syntax error`, Well: `^Syntax OK`, Read: lint.ReadRuby},
		{Name: "rspec", About: "RSpec: text or -f json", Tests: true, Commands: []string{"rspec"}, Marks: `(?m)^\d+ examples?, \d+ failures?|"summary_line":`, Over: `^\d+ examples?, \d+ failures?`, Read: testrunners.ReadRSpec},
		{Name: "minitest", About: "Minitest and test-unit, also through Rails", Tests: true, Commands: []string{"rails test", "rake test"}, Marks: `(?m)^\d+ (?:runs|tests), \d+ assertions, \d+ failures`, Over: `^\d+ (?:runs|tests), \d+ assertions, \d+ failures`, Read: testrunners.ReadMinitest},
	}
}

// gemPackages reads the resolved gems of a Gemfile.lock: rows with four blanks below specs.
func gemPackages(text string) []ListedPackage {
	row := regexp.MustCompile(`^    ([\w.-]+) \(([\w.]+?)(?:-[\w.-]+)?\)\s*$`)
	var all []ListedPackage
	n, specs := 0, false
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "  specs:" {
			specs = true
		} else if line != "" && !strings.HasPrefix(line, "    ") {
			specs = false
		}
		if m := row.FindStringSubmatch(line); m != nil && specs {
			all = append(all, ListedPackage{Kind: KindRuby, Name: m[1], Version: m[2], Line: n})
		}
	}
	return all
}

// rubyOutlines returns the declaration patterns of its files.
func rubyOutlines() []OutlinePatterns {
	return []OutlinePatterns{
		{Name: "Ruby", Ends: []string{".rb", ".rake"}, Tests: []string{"*_spec.rb", "*_test.rb", "test_*"}, Declares: []string{"class ", "module ", "def "}, Imports: []string{"require ", "require_relative "}},
	}
}

// rubyCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const rubyCommandRules = `
deny  | publish  | gem | push yank owner signin signout
deny  | publish  | rake | release release:rubygem_push
ask   | deps.new | gem | install update | +
ask   | deps.new | bundle bundler | add update | +
ask   | credentials | rails | credentials:show credentials:edit credentials encrypted:show secrets:show
allow | build    | rake | test spec build lint | = !-f !-r !-R !-I !-e
allow | build    | rspec rubocop | | !-r !--require !-c !--config !-O !--options
`

func rubyNamings() []TestNameConverter {
	return []TestNameConverter{regexpNaming(NameRuby, `\A`, `\z`), {NameMinitest, func(test string) (string, string, bool) {
		return test, "", regexp.MustCompile(`^[\pL_][\pL\pN_:]*#[^/]+$`).MatchString(test)
	}}}
}

// rubyLicence reads the specification of an installed gem.
func rubyLicence(p PackageSearchPaths, k ListedPackage) string {
	var homes []string
	for _, t := range p.Trees {
		homes = append(homes, p.matchingPaths(path.Join(t, "vendor", "bundle", "ruby", "*"))...)
	}
	homes = append(homes, filepath.SplitList(p.lookupEnv("GEM_HOME")+string(filepath.ListSeparator)+p.lookupEnv("GEM_PATH"))...)
	for _, dir := range []string{p.firstDirectory("", ".gem", "ruby", "*"), p.firstDirectory("", ".local", "share", "gem", "ruby", "*"), "/var/lib/gems/*", "/usr/share/rubygems-integration/*", "/usr/lib/ruby/gems/*"} {
		if dir != "" {
			homes = append(homes, p.matchingPaths(dir)...)
		}
	}
	list := regexp.MustCompile(`\.licenses?\s*=\s*(\[[^\]]*\]|"[^"]*"|'[^']*')`)
	quoted := regexp.MustCompile(`["']([^"']+)["']`)
	for _, home := range homes {
		if !filepath.IsAbs(home) {
			continue
		}
		spec := p.readText(home, "specifications", k.Name+"-"+k.Version+".gemspec")
		if m := list.FindStringSubmatch(spec); m != nil {
			var said []string
			for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
				said = append(said, q[1])
			}
			if l := licencename.JoinExpression(said, " OR "); l != "" {
				return l
			}
		}
		if l := p.licenceInText(path.Join(home, "gems", k.Name+"-"+k.Version)); l != "" {
			return l
		}
	}
	return ""
}

// rubySyntax returns the syntax of its files.
func rubySyntax() []SourceSyntax {
	return []SourceSyntax{{
		Ends: []string{".rb"}, Comments: []string{"#"}, Block: [2]string{"=begin", "=end"}, Quotes: "\"'",
		Heads: `^\s*(?:(?:private|protected|public) )?def (?:self\.)?(\w+[?!=]?)`, Dented: true,
		Exports: `(?m)^\s*(?:def (?:self\.)?([a-z]\w*[?!=]?)|(?:class|module) ([A-Z][\w:]*))`,
		Faults: LineMutations{
			Swaps: slices.Concat(comparisonSwaps(), signSwaps(), wordSwaps(), booleanSwaps("true", "false")),
			Calls: true, Nothing: "nil", Returns: returnsLine, None: "nil",
		},
	}}
}

// rakeTasks returns the tasks of a Rakefile that are in no namespace.
func rakeTasks(text string) []string {
	task := regexp.MustCompile(`^task\s+\(?[:"']?([A-Za-z0-9_]+)`)
	var names []string
	for line := range strings.Lines(text) {
		if m := task.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}
