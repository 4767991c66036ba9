package stack

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/read"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/suite"
)

func dotnet() Stack {
	return Stack{
		Name: "dotnet", Markers: []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj"},
		Formats: dotnetFormats(),
		Steps: []Step{
			{Gate: "build", Args: []string{"dotnet", "build", "--nologo"}, Format: "dotnet"},
			{Gate: "test", Args: []string{"dotnet", "test", "--nologo"}, Format: "dotnet-test", Tests: true, Alone: []Lone{{Name: NameDotted, Args: []string{"dotnet", "test", "--nologo", "--filter", "FullyQualifiedName={test}"}}}, Cover: dotnetCover()},
		},
	}
}

func dotnetCover() []Cover {
	const line = `dotnet test --nologo --collect "XPlat Code Coverage" --results-directory "$d" >&2 || exit
set -- "$d"/*/coverage.cobertura.xml
[ -s "$1" ] || lack coverlet.collector "dotnet add package coverlet.collector"
[ $# -eq 1 ] || { echo "$# projects wrote reports, of which one can be read: set done.coverage_command" >&2; exit 1; }
show "$1"`
	return []Cover{{Name: "Coverlet", Format: "cobertura", Args: measured(line)}}
}

// dotnetFormats are what its tools print.
func dotnetFormats() []read.Format {
	return []read.Format{
		{Name: "dotnet", About: "dotnet build and msbuild", Warns: true, Commands: []string{"dotnet build", "dotnet format", "msbuild"}, Marks: `\(\d+,\d+\)\s*: (?:error|warning) [A-Z]+\d+: |(?m)^(?:` + strings.Join(lint.Built(), "|") + `)\W`, Well: strings.Join(lint.Built(), "|"), Read: lint.MSBuild},
		{Name: "dotnet-test", About: "dotnet test", Tests: true, Commands: []string{"dotnet test"}, Marks: `(?:Passed|Failed)! +- Failed: +\d+, Passed: +\d+|(?m)^Total tests: \d+|^Test summary: total: \d+|! *[-:\x{2013}\x{2014}].*\d.* - \S.*\.dll(?: \(|$)`, Read: suite.DotNet},
	}
}
