package stack

import (
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
)

func shellScripts() Stack {
	const files = `set --; for f in *.bats test/*.bats; do [ -e "$f" ] && set -- "$@" "$f"; done; `
	return Stack{
		Name: "shell", Skeleton: shellSkeleton(), Syntax: shellSyntax, Markers: []string{".shellcheckrc", "*.bats"},
		Tests: LanguageTestSyntax{
			Quiets: `shellcheck disable`,
			Ends:   []string{".sh", ".bash", ".bats"}, Exits: true, Within: []string{".bats"},
			Declares: `(?m)^@test ["']([^"']+)|^(?:function )?(test_\w+)\s*\(\)`,
			Skips:    `^\s*skip\b`,
			Asserts:  `^\s*(?:test|\[\[?|grep|diff|cmp|assert\w*|refute\w*|expect\w*)\s`,
		},
		Configs: []CheckConfigPatterns{
			{Files: []string{".shellcheckrc"}},
		},
		Servers:  []LanguageServer{{Name: "bash", Commands: [][]string{{"bash-language-server", "start"}}, Ends: splitWords(".sh .bash")}},
		Programs: splitWords("shellcheck"),
		Formats:  shellFormats,
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "lint", If: "file:.shellcheckrc", Args: shellCommand(`find . -name '*.sh' -not -path '*/.*/*' -not -path '*/node_modules/*' -print0 | xargs -0 -r shellcheck -f json1`), Format: "shellcheck"},
				{Gate: "test", If: "file:*.bats|file:test/*.bats", Args: shellCommand(files + `bats -t "$@"`), Format: "tap", Tests: true, Alone: []SingleTestCommand{{Name: NameCTest, Args: append(shellCommand("t=$1; "+files+`bats -t --filter "$t" "$@"`), "sh", "{test}")}}},
			}
		},
	}
}

// shellFormats returns the output formats of its tools.
func shellFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: "shellcheck", About: "ShellCheck: text, gcc or JSON", Commands: []string{"shellcheck"}, Marks: `\[SC\d{4}\]|\^-+\^? SC\d{4} |"fix":.*"code":\d{4}|"code":\d{4},.*"fix":`, Read: lint.ReadShellCheck},
	}
}

// shellSyntax returns the syntax of its files.
func shellSyntax() []SourceSyntax {
	return []SourceSyntax{
		{
			Ends: splitWords(".sh .bash"), Comments: []string{"#"}, Quotes: "\"'",
			Exports: `(?m)^(?:function )?([A-Za-z_]\w*)\s*\(\)`,
			Faults: LineMutations{Swaps: append(signSwaps(), [][3]string{
				{"boundary", " -lt ", " -le "},
				{"boundary", " -le ", " -lt "},
				{"boundary", " -gt ", " -ge "},
				{"boundary", " -ge ", " -gt "},
				{"equality", " -eq ", " -ne "},
				{"equality", " -ne ", " -eq "},
				{"equality", " = ", " != "},
				{"equality", " == ", " != "},
				{"equality", " != ", " = "},
				{"equality", " -z ", " -n "},
				{"equality", " -n ", " -z "},
			}...)},
		},
		{Ends: []string{".bats"}, Comments: []string{"#"}, Quotes: "\"'"},
	}
}

// shellSkeleton returns a script that greets, with its test.
func shellSkeleton() ProjectSkeleton {
	return ProjectSkeleton{
		Needs: splitWords("sh"), Named: splitWords("shell bash sh posix"),
		Fits: splitWords("script scripts backup cron glue dotfiles"), For: "small scripts around other programs",
		Test: "greeting_test.sh", Files: []SkeletonFile{
			{"README.md", "# {name}\n\n    sh {name}.sh\n    sh test.sh\n"},
			{"nexus.toml", "[gates]\nbuild = \"sh -n {name}.sh\"\nlint = \"if grep -n '[[:blank:]]$' *.sh; then exit 1; fi\"\ntest = \"sh test.sh\"\n"},
			{"{name}.sh", "#!/bin/sh\n# {name} greets.\nset -eu\n\necho \"Hello from {name}\"\n"},
			{"greeting_test.sh", "test \"$(sh {name}.sh)\" = \"Hello from {name}\"\n"},
			{"test.sh", "#!/bin/sh\n# Runs each *_test.sh, and prints TAP.\nset -u\nn=0 fail=0\nfor t in *_test.sh; do\n\tn=$((n + 1))\n\tif sh \"$t\"; then\n\t\techo \"ok $n - $t\"\n\telse\n\t\techo \"not ok $n - $t\"\n\t\tfail=1\n\tfi\ndone\necho \"1..$n\"\nexit $fail\n"},
		},
	}
}
