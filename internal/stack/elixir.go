package stack

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

func elixirStack() Stack {
	return Stack{
		Name: "elixir", Syntax: elixirSyntax, Markers: []string{"mix.exs"},
		Installs: func() []InstallMethod {
			return []InstallMethod{{Name: "mix", Lock: "mix.lock", Also: []string{"mix.exs"}, Tools: []string{"mix", "elixir"}, Args: splitWords("mix deps.get --check-locked"), Out: []string{"deps"}}}
		},
		Written:  []string{"mix.lock"},
		Programs: splitWords("mix elixir iex"),
		Stores:   []PackageDownloadCache{{Name: "hex", Tools: []string{"mix"}, Home: ".hex/packages", Below: "packages", Var: "HEX_HOME"}},
		Listings: []PackageListFormat{{[]string{"mix.lock"}, func(text string) []ListedPackage {
			return packagesByLinePattern("hex", text, `^\s+"(\w+)": \{:hex, :\w+, "([\w.+-]+)"`)
		}}},
		Tests: LanguageTestSyntax{
			Ends:     []string{".ex", ".exs"},
			Names:    []string{"*_spec.ex", "*_spec.exs"},
			Declares: `(?m)^\s*(?:test|describe|property)\s*\(?\s*"([^"]+)"`,
			Quiets:   `credo:disable`,
			Skips:    `@(?:module|describe)?tag\s+(?::skip|skip:)|\bexclude:`,
			Asserts:  `\b(?:assert|refute|check all)\w*\b|\bexpect\(`,
		},
		Configs: []CheckConfigPatterns{
			{Files: []string{"mix.exs"}, Narrows: `\btest_(?:paths|pattern|coverage|ignore_filters)\b|\bwarnings_as_errors\b|\bexclude\b`, Loads: `\baliases\b|\bpreferred_cli_env\b|\belixirc_paths\b`},
			{Files: []string{".formatter.exs", ".credo.exs", "coveralls.json"}},
		},
		CommandRules: "deny | publish | mix | hex.publish hex.user hex.organization hex.owner\n" +
			"ask | deps.new | mix | archive.install escript.install igniter.install local.hex local.rebar\n" +
			"allow | build | mix | test compile format credo dialyzer | !-e !--eval !-r !--require\n",
		Outlines: func() []OutlinePatterns {
			return []OutlinePatterns{{Name: "Elixir", Ends: []string{".ex"}, Tests: []string{"*_test.exs"}, Declares: []string{"defmodule "}}}
		},
		Formats: func() []outputparser.OutputFormat {
			return []outputparser.OutputFormat{
				{Name: "mix", About: "mix compile", Warns: true, Commands: []string{"mix compile", "elixirc"}, Marks: `(?m)^== Compilation error in file \S+ ==$|^\s*(?:warning|error): .*\n(?:.*\n){0,8}? *(?:\x{2514}\x{2500} )?\S+\.exs?:\d+`, Well: `^Generated \S+ app$`, Read: readMixCompile},
				{Name: "mix-format", About: "mix format --check-formatted", Commands: []string{"mix format"}, Marks: `(?m)^\*\* \(Mix\) mix format failed due to --check-formatted`, Read: readMixFormat},
				{Name: "exunit", About: "mix test", Tests: true, Commands: []string{"mix test", "mix coveralls"}, Marks: `(?m)^Finished in [\d.]+ seconds.*\n(?:\d+ doctests?, )?(?:\d+ propert(?:y|ies), )?\d+ tests?, \d+ failures?`, Over: `^Randomized with seed \d+`, Read: readExUnit},
			}
		},
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "build", Args: splitWords("mix compile"), Format: "mix"},
				{Gate: "lint", If: "has:mix.exs:{:credo,", Args: splitWords("mix credo --format sarif"), Format: "sarif"},
				{Gate: "format", If: "file:.formatter.exs", Args: splitWords("mix format --check-formatted"), Format: "mix-format", Fix: []FixCommand{{Args: splitWords("mix format {files}"), Ends: []string{".ex", ".exs"}}}},
				{Gate: "test", Args: splitWords("mix test"), Format: "exunit", Tests: true, Alone: []SingleTestCommand{{Name: NameExact, Args: append(shellCommand(`exec mix test --only "test:$1"`), "sh", "{test}")}}},
			}
		},
	}
}

// readMixCompile reads the compiler's output: errors as exceptions, and, since Elixir 1.15,
// together with the code in question.
func readMixCompile(in outputparser.ToolOutput) outputparser.ParsedToolOutput {
	raised := regexp.MustCompile(`^\*\* \(\w*(?:Error|Exception)\) (\S+\.exs?):(\d+)(?::(\d+))?: (.+)$`)
	said := regexp.MustCompile(`^\s*(warning|error): (.+)$`)
	place := regexp.MustCompile(`^\s+(?:\x{2514}\x{2500} )?(\S+\.exs?):(\d+)(?::(\d+))?(?::|$)`)
	var found []nexus.Finding
	var open *nexus.Finding
	for _, l := range in.AllLines() {
		l = l[:min(len(l), 4<<10)]
		if m := raised.FindStringSubmatch(l); m != nil {
			found = append(found, nexus.Finding{Code: parserbase.CodeCompile, File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), Message: m[4]})
			open = nil
		} else if m := said.FindStringSubmatch(l); m != nil {
			open = &nexus.Finding{Code: parserbase.CodeCompile, Message: m[2]}
			if m[1] == "warning" {
				open.Severity = nexus.Minor
			}
		} else if m := place.FindStringSubmatch(l); m != nil && open != nil {
			open.File, open.Line, open.Column = in.RelativePath(m[1]), parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3])
			found, open = append(found, *open), nil
		}
	}
	return in.CheckerReport(found, true)
}

// readMixFormat reads the names of the files that are not formatted.
func readMixFormat(in outputparser.ToolOutput) outputparser.ParsedToolOutput {
	file := regexp.MustCompile(`^ {2}\* (\S+\.(?:exs?|heex))$`)
	var found []nexus.Finding
	for _, l := range in.AllLines() {
		if m := file.FindStringSubmatch(l); m != nil {
			found = append(found, nexus.Finding{Code: "format", File: in.RelativePath(m[1]), Message: "it is not formatted"})
		}
	}
	return in.CheckerReport(found, true)
}

// readExUnit reads mix test. An umbrella project prints one summary per project.
func readExUnit(in outputparser.ToolOutput) outputparser.ParsedToolOutput {
	head := regexp.MustCompile(`^ {1,3}\d+\) ((?:test|property|doctest) .+) \((\S+)\)$`)
	place := regexp.MustCompile(`^ {5}(\S+\.exs?):(\d+)$`)
	frame := regexp.MustCompile(`^ {7}(?:\(\S+ [\w.+-]+\) )?(\S+\.exs):(\d+): `)
	sum := regexp.MustCompile(`^(?:(\d+) doctests?, )?(?:(\d+) propert(?:y|ies), )?(\d+) tests?, (\d+) failures?(?:, (\d+) excluded)?(?:, (\d+) invalid)?(?:, (\d+) skipped)?`)
	r := parserbase.ParsedTestRun{Green: true}
	inside := -1 // index of the failure that is being printed
	for _, l := range in.AllLines() {
		l = l[:min(len(l), 4<<10)]
		if m := head.FindStringSubmatch(l); m != nil {
			inside = len(r.Findings)
			r.Findings = append(r.Findings, nexus.Finding{Code: parserbase.CodeTest, Test: m[1]})
			continue
		}
		if m := sum.FindStringSubmatch(l); m != nil {
			n := func(i int) int { return parserbase.ParseNumber(m[i]) }
			failed := n(4) + n(6)
			r.Counted, inside = true, -1
			r.Counts.Failed += failed
			r.Counts.Skipped += n(7)
			r.Counts.Passed += max(0, n(1)+n(2)+n(3)-failed-n(5)-n(7))
			continue
		}
		if inside < 0 {
			continue
		}
		f := &r.Findings[inside]
		if m := place.FindStringSubmatch(l); m != nil && f.File == "" {
			f.File, f.Line = in.RelativePath(m[1]), parserbase.ParseNumber(m[2])
		} else if m := frame.FindStringSubmatch(l); m != nil && in.RelativePath(m[1]) == f.File {
			f.Line = parserbase.ParseNumber(m[2])
		} else if text, ok := strings.CutPrefix(l, "     "); ok && f.Message == "" {
			f.Message = strings.TrimSpace(text)
		} else if v, ok := strings.CutPrefix(l, "     left:  "); ok {
			f.Actual = v
		} else if v, ok := strings.CutPrefix(l, "     right: "); ok {
			f.Expected = v
		}
	}
	if !r.Counted {
		if built := readMixCompile(in); len(built.Findings) > 0 && in.Exit != 0 {
			return built
		}
	}
	r.Empty = r.Counted && r.Counts.Passed+r.Counts.Failed == 0
	return in.TestRunReport(r)
}

// elixirSyntax returns the syntax of its files.
func elixirSyntax() []SourceSyntax {
	return []SourceSyntax{{
		Ends: []string{".ex", ".exs"}, Comments: []string{"#"}, Long: []string{`"""`}, Quotes: "\"'",
		Heads: `^\s*def(?:p|macrop?)? (\w+[?!]?)`, Dented: true,
		Faults: LineMutations{
			Swaps: slices.Concat(comparisonSwaps(), signSwaps(), wordSwaps(), booleanSwaps("true", "false")),
			Calls: true, Nothing: "nil", Returns: returnsLine, None: "nil",
		},
	}}
}
