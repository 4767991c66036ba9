package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

func phpSingleTest(tool string) []SingleTestCommand {
	return []SingleTestCommand{{Name: NamePHP, Args: []string{tool, "--do-not-cache-result", "--filter={test}"}}}
}

func phpStack() Stack {
	return Stack{
		Name: "php", Markers: []string{"composer.json", "phpunit.xml", "phpunit.xml.dist"},
		Offers: func() []ScriptFile {
			return []ScriptFile{{Files: []string{"composer.json"}, Run: "composer run", Names: manifestScripts}}
		},
		Lent:     []DependencyDir{{Dir: "vendor", With: "composer/installed.json", Copies: true}},
		Syntax:   phpSyntax,
		Installs: phpInstalls, Programs: splitWords("php composer phpunit phpstan phpcs psalm pest"),
		covers: func(outer packageInspector, rel, gate string) bool {
			return gate != "test" || outer.isInPHPUnitSuite(rel)
		},
		Tests: LanguageTestSyntax{
			Swallows: `(?:^|[;{]\s*)(?:exit|die)\s*\(\s*0?\s*\)\s*;`,
			Quiets:   `phpcs:(?:ignore|disable)|@phpstan-ignore|@psalm-suppress`,
			Ends:     []string{".php"},
			Declares: `function (test\w+)\s*\(|\b(?:it|test)\(\s*['"]([^'"]+)`,
			Skips:    `markTest(?:Skipped|Incomplete)|->skip\(`,
			Asserts:  `->assert\w+\(|::assert\w+\(|\bexpect\(|->expectException`,
			Only:     true,
			Names:    []string{"*Test.php", "*Tests.php", "*Spec.php"},
		},
		Configs: []CheckConfigPatterns{
			{Files: []string{"phpunit.xml", "phpunit.xml.dist"}},
		},
		Settings:     []string{"/etc/php"},
		Environment:  ToolEnvironment{Offline: []string{"COMPOSER_DISABLE_NETWORK=1"}, Unreached: []string{`[Nn]etwork disabled`}},
		Namings:      func() []TestNameConverter { return []TestNameConverter{{NamePHP, testrunners.PHPUnitTestArgument}} },
		Hosts:        []RegistryHosts{{"packagist", splitWords("repo.packagist.org packagist.org")}},
		Servers:      []LanguageServer{{Name: "intelephense", Commands: [][]string{{"intelephense", "--stdio"}, {"phpactor", "language-server"}}, Ends: []string{".php"}, Watch: []string{"composer.json"}}},
		Written:      []string{"composer.lock"},
		CommandRules: phpCommandRules,
		Outlines:     phpOutlines,
		Licences:     []LicenceFinder{{KindPHP, phpLicence}},
		Listings:     []PackageListFormat{{[]string{"composer.lock"}, composerLockPackages}},
		Stores: []PackageDownloadCache{
			{Name: "composer", Tools: []string{"composer"}, Home: ".cache/composer", From: "COMPOSER_CACHE_DIR", Var: "COMPOSER_CACHE_DIR"},
		},
		Formats: phpFormats,
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "build", Args: shellCommand(`find . -name '*.php' -not -path './vendor/*' -print0 | xargs -0 -r -n1 php -l`), Format: "php"},
				{Gate: "lint", If: "file:phpstan.neon|file:phpstan.neon.dist|file:phpstan.dist.neon", Args: []string{"vendor/bin/phpstan", "analyse", "--error-format=json", "--no-progress"}, Format: "phpstan"},
				{Gate: "lint", Beside: "phpcs", If: "file:phpcs.xml|file:phpcs.xml.dist|file:.phpcs.xml|file:.phpcs.xml.dist", Args: []string{"vendor/bin/phpcs", "-q", "--report=checkstyle"}, Format: "checkstyle-xml"},
				{Gate: "lint", Beside: "psalm", If: "file:psalm.xml|file:psalm.xml.dist", Args: []string{"vendor/bin/psalm", "--no-progress", "--no-cache", "--output-format=checkstyle"}, Format: "checkstyle-xml"},
				{Gate: "test", If: "file:vendor/bin/phpunit", Args: []string{"vendor/bin/phpunit", "--do-not-cache-result"}, Format: "phpunit", Tests: true, Alone: phpSingleTest("vendor/bin/phpunit"), Cover: phpCoverageCommands("vendor/bin/phpunit")},
				{Gate: "test", If: "file:phpunit.xml|file:phpunit.xml.dist|has:composer.json:phpunit/phpunit", Args: []string{"phpunit", "--do-not-cache-result"}, Format: "phpunit", Tests: true, Alone: phpSingleTest("phpunit"), Cover: phpCoverageCommands("phpunit")},
			}
		},
	}
}

func phpCoverageCommands(tool string) []CoverageCommand {
	const line = `php -m | grep -qixE 'pcov|xdebug' || lack pcov "apt install php-pcov, or pecl install pcov"
tool=$(command -v "$1") || lack "$1" "composer require --dev phpunit/phpunit"
set --
grep -qsE '<(source|coverage|filter)[ >]' phpunit.xml phpunit.xml.dist || for s in src lib app; do [ -d "$s" ] && set -- "$@" --coverage-filter "$s"; done
XDEBUG_MODE=coverage php -d pcov.enabled=1 -d pcov.directory=. "$tool" --do-not-cache-result "$@" --coverage-cobertura "$d/report" >&2 || exit
show "$d/report"`
	return []CoverageCommand{{Name: "PHPUnit", Format: "cobertura", Args: coverageShellCommand(line, tool)}}
}

// isInPHPUnitSuite reports whether a project's PHPUnit run includes the tests of a directory below it,
// which its configuration names.
func (p packageInspector) isInPHPUnitSuite(rel string) bool {
	text := p.readText("phpunit.xml") + p.readText("phpunit.xml.dist")
	for _, m := range regexp.MustCompile(`<directory[^>]*>\s*([^<]+?)\s*</directory>`).FindAllStringSubmatch(text, -1) {
		d := path.Clean(m[1])
		if d == "." || d == rel || strings.HasPrefix(d, rel+"/") || strings.HasPrefix(rel, d+"/") || strings.ContainsAny(d, "*?[") {
			return true
		}
	}
	return false
}

// composerLock is the content of composer.lock and vendor/composer/installed.json.
type composerLock struct {
	Packages []composerLockPackage `json:"packages"`
	Dev      []composerLockPackage `json:"packages-dev"`
}

type composerLockPackage struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Dist    struct {
		Reference string `json:"reference"`
	} `json:"dist"`
}

// checkComposerInstallation compares the lock file with Composer's list of installed packages.
func checkComposerInstallation(tree fs.FS, lock string) error {
	var want, have composerLock
	text, err := readSmallFile(tree, "vendor", "composer", "installed.json")
	if err != nil {
		return err
	}
	if err := errors.Join(json.Unmarshal([]byte(lock), &want), json.Unmarshal([]byte(text), &have)); err != nil {
		return err
	}
	all := slices.Concat(want.Packages, want.Dev)
	for _, p := range all {
		if !slices.Contains(have.Packages, p) {
			return fmt.Errorf("%s %s is not installed", p.Name, p.Version)
		}
	}
	if len(all) != len(have.Packages) {
		return errors.New("more is installed than the lock file has")
	}
	return nil
}

// checkComposerManifest checks that the packages in a composer.json are installed. It does not
// compare versions: ranges can be too complex for a simple comparison.
func checkComposerManifest(tree fs.FS, manifest string) error {
	var m struct {
		Require map[string]string `json:"require"`
		Dev     map[string]string `json:"require-dev"`
	}
	var have composerLock
	text, err := readSmallFile(tree, "vendor", "composer", "installed.json")
	if err != nil {
		return err
	}
	if err := errors.Join(json.Unmarshal([]byte(manifest), &m), json.Unmarshal([]byte(text), &have)); err != nil {
		return err
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(m.Require)), slices.Sorted(maps.Keys(m.Dev))) {
		platform := !strings.Contains(name, "/") // php, and ext-json
		if !platform && !slices.ContainsFunc(have.Packages, func(p composerLockPackage) bool { return strings.EqualFold(p.Name, name) }) {
			return fmt.Errorf("%s is not installed", name)
		}
	}
	return nil
}

func phpInstalls() []InstallMethod {
	return []InstallMethod{
		{
			Name: "composer", Lock: "composer.lock", Also: []string{"composer.json"}, Tools: []string{"composer", "php"},
			Args: splitWords("composer install --no-interaction --no-progress"), Env: []string{"COMPOSER_ALLOW_SUPERUSER=1"}, Out: []string{"vendor"}, Same: checkComposerInstallation,
		},
		{
			Name: "composer", Lock: "composer.json", Bare: true, Fits: containsTextFunc("\"require"), Tools: []string{"composer", "php"},
			Args: splitWords("composer install --no-interaction --no-progress"), Env: []string{"COMPOSER_ALLOW_SUPERUSER=1"}, Out: []string{"vendor"}, Same: checkComposerManifest,
		},
	}
}

// phpFormats returns the output formats of its tools.
func phpFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: "phpstan", About: "PHPStan: table, raw or JSON", Commands: []string{"phpstan"}, Marks: `"file_errors"|\[ERROR\] Found \d+ errors?|\[OK\] No errors`, Well: `\[OK\] No errors`, Read: lint.ReadPHPStan},
		{Name: "php", About: "php -l", Commands: []string{"php -l"}, Marks: `(?m)^(?:PHP )?Parse error:  |^No syntax errors detected`, Well: `^No syntax errors detected`, Read: lint.ReadPHP},
		{Name: "phpunit", About: "PHPUnit", Tests: true, Commands: []string{"phpunit", "pest"}, Marks: `(?m)^PHPUnit \d+\.|^Tests: \d+, Assertions: \d+|^OK \(\d+ tests?, `, Over: `^OK \(\d+ tests?, |^Tests: \d+, Assertions: \d+`, Read: testrunners.ReadPHPUnit},
	}
}

// composerLockPackages reads its lock file, which names licences: any one of them is enough.
func composerLockPackages(text string) []ListedPackage {
	type row struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		License any    `json:"license"`
	}
	var lock struct {
		Packages []row `json:"packages"`
		Dev      []row `json:"packages-dev"`
	}
	if json.Unmarshal([]byte(text), &lock) != nil {
		return nil
	}
	var all []ListedPackage
	for _, p := range slices.Concat(lock.Packages, lock.Dev) {
		found := ListedPackage{Kind: KindPHP, Name: p.Name, Version: strings.TrimPrefix(p.Version, "v")}
		switch l := p.License.(type) {
		case string:
			found.Licences = []string{l}
		case []any:
			for _, one := range l {
				if s, ok := one.(string); ok {
					found.Licences = append(found.Licences, s)
				}
			}
		}
		all = append(all, found)
	}
	return sortedPackages(all)
}

// phpOutlines returns the declaration patterns of its files.
func phpOutlines() []OutlinePatterns {
	return []OutlinePatterns{
		{Name: "PHP", Ends: []string{".php"}, Tests: []string{"*Test.php"}, Declares: []string{"class ", "final class ", "abstract class ", "readonly class ", "interface ", "trait ", "enum ", "function "}, Imports: []string{"use "}, Between: `\`},
	}
}

// phpCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const phpCommandRules = `
ask   | deps.new | composer | require req update upgrade global create-project | +
ask   | deps.new | pecl pear | install
allow | build    | composer | test validate check-platform-reqs
allow | build    | phpunit pest phpstan psalm | | !-c !--configuration !--bootstrap !--autoload-file
`

// phpLicence reads the packages installed below vendor.
func phpLicence(p PackageSearchPaths, k ListedPackage) string {
	for _, t := range p.Trees {
		if l := manifestLicence(p.readText(t, "vendor", k.Name, "composer.json"), ""); l != "" {
			return l
		}
	}
	return ""
}

// phpSyntax returns the syntax of its files.
func phpSyntax() []SourceSyntax {
	s := braceSyntax([]string{".php"}, LineMutations{Calls: true, Nothing: ";", Returns: returnsEnded, None: "null"}).withExports(phpExports).
		withFunctionHeads(`^\s*(?:\w+ )*function &?(\w+) ?\(`)
	s.Comments, s.Quotes = []string{"//", "#"}, "\"'"
	return []SourceSyntax{s}
}

// phpExports matches the names that its files export.
const phpExports = `(?m)^\s*(?:(?:public|static|abstract|final)\s+)*function\s+(\w+)\s*\(|^\s*(?:(?:abstract|final|readonly)\s+)*(?:class|interface|trait|enum)\s+(\w+)`
