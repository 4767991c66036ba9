package stack

import (
	"github.com/nexus-ai-builder/nexus/internal/stack/read"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/lint"
)

func shellScripts() Stack {
	const files = `set --; for f in *.bats test/*.bats; do [ -e "$f" ] && set -- "$@" "$f"; done; `
	return Stack{
		Name: "shell", Syntax: shellSyntax, Markers: []string{".shellcheckrc", "*.bats"},
		Tests: Tests{
			Quiets: `shellcheck disable`,
			Ends:   []string{".sh", ".bash", ".bats"}, Exits: true, Within: []string{".bats"},
			Declares: `(?m)^@test ["']([^"']+)|^(?:function )?(test_\w+)\s*\(\)`,
			Skips:    `^\s*skip\b`,
			Asserts:  `^\s*(?:test|\[\[?|grep|diff|cmp|assert\w*|refute\w*|expect\w*)\s`,
		},
		Configs: []Config{
			{Files: []string{".shellcheckrc"}},
		},
		Servers:  []Server{{Name: "bash", Commands: [][]string{{"bash-language-server", "start"}}, Ends: words(".sh .bash")}},
		Programs: words("shellcheck"),
		Formats:  shellFormats,
		Steps: func() []Step {
			return []Step{
				{Gate: "lint", If: "file:.shellcheckrc", Args: shell(`find . -name '*.sh' -not -path '*/.*/*' -not -path '*/node_modules/*' -print0 | xargs -0 -r shellcheck -f json1`), Format: "shellcheck"},
				{Gate: "test", If: "file:*.bats|file:test/*.bats", Args: shell(files + `bats -t "$@"`), Format: "tap", Tests: true, Alone: []Lone{{Name: NameCTest, Args: append(shell("t=$1; "+files+`bats -t --filter "$t" "$@"`), "sh", "{test}")}}},
			}
		},
	}
}

// shellFormats are what its tools print.
func shellFormats() []read.Format {
	return []read.Format{
		{Name: "shellcheck", About: "ShellCheck: text, gcc or JSON", Commands: []string{"shellcheck"}, Marks: `\[SC\d{4}\]|\^-+\^? SC\d{4} |"fix":.*"code":\d{4}|"code":\d{4},.*"fix":`, Read: lint.ShellCheck},
	}
}

// shellSyntax is how its files look.
func shellSyntax() []Syntax {
	return []Syntax{
		{
			Ends: words(".sh .bash"), Comments: []string{"#"}, Quotes: "\"'",
			Exports: `(?m)^(?:function )?([A-Za-z_]\w*)\s*\(\)`,
			Faults: Faults{Swaps: append(signSwaps(), [][3]string{
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
