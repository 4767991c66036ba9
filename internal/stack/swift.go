package stack

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

// swiftKind is the kind of packages that SwiftPM fetches.
const swiftKind = "swift"

func swiftStack() Stack {
	return Stack{
		Name: "swift", Markers: []string{"Package.swift"},
		Programs: splitWords("swift swiftc swiftlint"),
		Written:  []string{"package.resolved"},
		Counts:   []string{"swift test"},
		Listings: []PackageListFormat{{[]string{"Package.resolved"}, swiftPackages}},
		Licences: []LicenceFinder{{swiftKind, swiftLicence}},
		Servers:  []LanguageServer{{Name: "sourcekit-lsp", Commands: [][]string{{"sourcekit-lsp"}}, Ends: []string{".swift"}, Watch: splitWords("Package.swift Package.resolved")}},
		Environment: ToolEnvironment{
			Unreached: []string{`Failed to clone repository \S+:`, `error: failed downloading `},
		},
		Tests: LanguageTestSyntax{
			Ends: []string{".swift"}, Names: []string{"*Tests.swift"}, Dirs: []string{"Tests"},
			Declares: `(?m)@Test\b[^\n]*?(?:\n\s*(?:@\w[^\n]*\n\s*)*)?(?:\w+ )*func (\w+)|^\s*(?:\w+ )*func (test\w*)\(`,
			Quiets:   `swiftlint:disable|swift-format-ignore`,
			Skips:    `\bXCTSkip|\.disabled\(|\.enabled\(if:`,
			Asserts:  `\bXCT(?:Assert|Unwrap|Fail)\w*\(|#(?:expect|require)\(|\bIssue\.record\(`,
		},
		Configs: []CheckConfigPatterns{
			{Files: []string{"package.swift"}, Runs: `\.testTarget\b`, Narrows: `\bexclude:|\bXCTSkip`},
			{Files: []string{".swiftlint.yml", ".swift-format"}},
		},
		CommandRules: "allow | build | swift | build test | !-Xcc !-Xswiftc !-Xlinker !-Xcxx !--package-path !-C\n",
		Syntax: func() []SourceSyntax {
			s := braceSyntax([]string{".swift"}, LineMutations{Calls: true, Nothing: ";", Returns: returnsEnded, None: "nil"})
			s.Quotes = `"`
			return []SourceSyntax{s.withFunctionHeads(`^\s*(?:[\w@()]+ )*func (\w+)[<(]`).withExports(`(?m)^\s*(?:public|open)\s+(?:(?:final|static|class|override|mutating|indirect) )*(?:func|class|struct|enum|protocol|actor|var|let|typealias) (\w+)`, `"""`)}
		},
		Outlines: func() []OutlinePatterns {
			return []OutlinePatterns{{Name: "Swift", Ends: []string{".swift"}, Tests: []string{"*Tests.swift"}, Declares: []string{"public ", "open ", "class ", "final class ", "struct ", "enum ", "protocol ", "actor ", "func ", "extension "}}}
		},
		Namings: func() []TestNameConverter { return []TestNameConverter{{"swift", swiftTestFilter}} },
		Running: func() []RunningTestFinder {
			return []RunningTestFinder{{"swift-test", testrunners.UnfinishedTestReader(`^Test Case '(?:-\[)?([^']+?)\]?' started`, `^Test Case '[^']+' (?:passed|failed|skipped)`)}}
		},
		Formats: func() []outputparser.OutputFormat {
			return []outputparser.OutputFormat{
				{Name: "swift", About: "swift build, swift format lint and SwiftLint", Warns: true, Commands: []string{"swift build", "swift format", "swiftc", "swiftlint"}, Marks: `(?m)^\S+\.swift:\d+:\d+: (?:error|warning): `, Well: `^Build complete!`, Read: swiftFindings},
				{Name: "swift-test", About: "swift test: XCTest and Swift Testing", Tests: true, Commands: []string{"swift test"}, Marks: `(?m)^Test Case '[^']+' (?:passed|failed) \(|^\S+\s+Test run with \d+ tests? .*(?:passed|failed) after `, Read: readSwiftTest},
			}
		},
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "build", Args: splitWords("swift build --build-tests"), Format: "swift"},
				{Gate: "lint", If: "file:.swiftlint.yml", Args: splitWords("swiftlint lint --quiet --no-cache"), Format: "swift", Fix: []FixCommand{{Args: splitWords("swiftlint lint --fix --quiet --no-cache {files}"), Ends: []string{".swift"}}}},
				{Gate: "format", If: "file:.swift-format", Args: splitWords("swift format lint --strict --recursive ."), Format: "swift", Fix: []FixCommand{{Args: splitWords("swift format --in-place {files}"), Ends: []string{".swift"}}}},
				{Gate: "test", Args: splitWords("swift test"), Format: "swift-test", Tests: true, Alone: []SingleTestCommand{{Name: "swift", Args: splitWords("swift test --filter {test}")}}},
			}
		},
	}
}

// swiftTestFilter makes a pattern of the name of an XCTest test. A Swift Testing test may have a
// display name that no filter accepts.
func swiftTestFilter(test string) (word, file string, ok bool) {
	m := regexp.MustCompile(`^(?:\w+\.)?(\w+)[./](test\w*)$`).FindStringSubmatch(test)
	if m == nil {
		return "", "", false
	}
	return `\.` + m[1] + "/" + m[2] + "$", "", true
}

// swiftFindings reads the lines of the compiler and of linters without duplicates: a file of
// several targets is reported several times.
func swiftFindings(in outputparser.ToolOutput) outputparser.ParsedToolOutput {
	return in.CheckerReport(swiftCompilerFindings(in), true)
}

func swiftCompilerFindings(in outputparser.ToolOutput) []nexus.Finding {
	said := regexp.MustCompile(`^(\S.*?\.swift):(\d+)(?::(\d+))?: (error|warning): (?:\[(\w+)\] )?(.+?)(?: \((\w+)\))?$`)
	var found []nexus.Finding
	had := map[string]bool{}
	for _, l := range in.AllLines() {
		l = l[:min(len(l), 4<<10)]
		m := said.FindStringSubmatch(l)
		if m == nil || had[l] || strings.Contains(m[6], " : XCT") {
			continue
		}
		had[l] = true
		f := nexus.Finding{Code: parserbase.CodeCompile, File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), Message: m[6]}
		if rule := m[5] + m[7]; rule != "" {
			f.Code = rule
		}
		if m[4] == "warning" {
			f.Severity = nexus.Minor
		}
		found = append(found, f)
	}
	return found
}

// readSwiftTest reads XCTest, of Linux and of macOS, and Swift Testing, which runs after it. XCTest
// prints the full path of a file, and Swift Testing its name.
func readSwiftTest(in outputparser.ToolOutput) outputparser.ParsedToolOutput {
	var (
		failed = regexp.MustCompile(`^(\S.*?\.swift):(\d+): error: (?:-\[)?([\w.]+)[. ](\w+)\]? : (.+)$`)
		ended  = regexp.MustCompile(`^Test Case '[^']+' (passed|failed|skipped) \(`)
		issue  = regexp.MustCompile(`^\S+\s+Test (.+?) recorded an issue(?: with .+?)? at ([^ :]+\.swift):(\d+)(?::(\d+))?: (.+)$`)
		done   = regexp.MustCompile(`^\S+\s+Test (.+?) (?:with \d+ test cases? )?(passed after|failed after|skipped\b)`)
		sum    = regexp.MustCompile(`^\s*Executed \d+ tests?, with |^\S+\s+Test run with \d+ tests?\b.* (?:passed|failed) after `)
	)
	r := parserbase.ParsedTestRun{Green: true}
	count := func(how string) {
		switch {
		case strings.HasPrefix(how, "passed"):
			r.Counts.Passed++
		case strings.HasPrefix(how, "failed"):
			r.Counts.Failed++
		default:
			r.Counts.Skipped++
		}
	}
	for _, l := range in.AllLines() {
		l = l[:min(len(l), 4<<10)]
		if sum.MatchString(l) {
			r.Counted = true
			continue
		}
		if m := failed.FindStringSubmatch(l); m != nil {
			test := path.Base(strings.ReplaceAll(m[3], ".", "/")) + "." + m[4]
			r.Findings = append(r.Findings, nexus.Finding{Code: parserbase.CodeTest, Test: test, File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Message: strings.TrimSuffix(m[5], " - ")})
		} else if m := ended.FindStringSubmatch(l); m != nil {
			count(m[1])
		} else if m := issue.FindStringSubmatch(l); m != nil {
			r.Findings = append(r.Findings, swiftIssueFinding(in, m))
		} else if m := done.FindStringSubmatch(l); m != nil {
			count(m[2])
		}
	}
	if built := swiftCompilerFindings(in); !r.Counted && len(built) > 0 && in.Exit != 0 {
		return in.CheckerReport(built, true)
	}
	r.Empty = r.Counted && r.Counts.Passed+r.Counts.Failed == 0
	return in.TestRunReport(r)
}

// swiftIssueFinding returns the finding of an issue that swift-testing recorded.
func swiftIssueFinding(in parserbase.ToolOutput, m []string) nexus.Finding {
	f := nexus.Finding{Code: parserbase.CodeTest, Test: strings.Trim(m[1], `"`), Line: parserbase.ParseNumber(m[3]), Column: parserbase.ParseNumber(m[4]), Message: m[5]}
	if in.Find != nil {
		f.File = in.Find(m[2])
	}
	return f
}

// swiftPackages reads a Package.resolved. Version 1 has its pins in an object.
func swiftPackages(text string) []ListedPackage {
	type pin struct {
		Identity, Package       string
		Location, RepositoryURL string
		State                   struct{ Version string }
	}
	var file struct {
		Pins   []pin
		Object struct{ Pins []pin }
	}
	if json.Unmarshal([]byte(text), &file) != nil {
		return nil
	}
	var all []ListedPackage
	for _, p := range append(file.Pins, file.Object.Pins...) {
		name := strings.ToLower(strings.TrimSuffix(path.Base(p.Location+p.RepositoryURL), ".git"))
		if p.Identity != "" {
			name = p.Identity
		}
		line := 0
		if at := strings.Index(text, p.Location+p.RepositoryURL); at > 0 {
			line = 1 + strings.Count(text[:at], "\n")
		}
		all = append(all, ListedPackage{Kind: swiftKind, Name: name, Version: p.State.Version, Line: line})
	}
	return sortedPackages(all)
}

// swiftLicence searches the checkouts of a build, which are named after their repositories.
func swiftLicence(p PackageSearchPaths, k ListedPackage) string {
	for _, t := range p.Trees {
		for _, dir := range p.matchingPaths(path.Join(t, ".build", "checkouts", "*")) {
			if strings.EqualFold(path.Base(dir), k.Name) {
				return p.licenceInText(dir)
			}
		}
	}
	return ""
}
