package stack

import (
	"encoding/json"
	"encoding/xml"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/licencename"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

func dotnetStack() Stack {
	return Stack{
		Name: "dotnet", Markers: []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj"},
		Syntax:   dotnetSyntax,
		Tests:    classTestSyntax([]string{"*Test.cs", "*Tests.cs", "*Spec.cs"}, ".cs", ".fs"),
		Programs: splitWords("dotnet"),
		Environment: ToolEnvironment{
			Sets:      splitWords("DOTNET_CLI_UI_LANGUAGE=en"),
			Offline:   splitWords("NUGET_ENABLE_ENHANCED_HTTP_RETRY=true NUGET_ENHANCED_MAX_NETWORK_TRY_COUNT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1"),
			Unreached: []string{`Unable to load the service index for source`},
		},
		Hosts:        []RegistryHosts{{"nuget", splitWords("api.nuget.org globalcdn.nuget.org")}},
		Written:      []string{"packages.lock.json"},
		CommandRules: dotnetCommandRules,
		Outlines:     dotnetOutlines,
		Licences:     []LicenceFinder{{KindNuGet, nugetLicence}},
		Listings:     []PackageListFormat{{[]string{"packages.lock.json"}, nugetPackages}, {[]string{"*.csproj", "*.fsproj", "*.vbproj", "Directory.Packages.props"}, projectPackages}},
		Stores: []PackageDownloadCache{
			{Name: "nuget", Tools: []string{"dotnet"}, Home: ".nuget/packages", From: "NUGET_PACKAGES", Var: "NUGET_PACKAGES"},
		},
		Formats: dotnetFormats,
		Steps: func() []PackageCheckCommand {
			return []PackageCheckCommand{
				{Gate: "build", Args: []string{"dotnet", "build", "--nologo"}, Format: "dotnet"},
				{Gate: "test", Args: []string{"dotnet", "test", "--nologo"}, Format: "dotnet-test", Tests: true, Alone: []SingleTestCommand{{Name: NameDotted, Args: []string{"dotnet", "test", "--nologo", "--filter", "FullyQualifiedName={test}"}}}, Cover: dotnetCoverageCommands()},
			}
		},
	}
}

func dotnetCoverageCommands() []CoverageCommand {
	const line = `dotnet test --nologo --collect "XPlat Code Coverage" --results-directory "$d" >&2 || exit
set -- "$d"/*/coverage.cobertura.xml
[ -s "$1" ] || lack coverlet.collector "dotnet add package coverlet.collector"
[ $# -eq 1 ] || { echo "$# projects wrote reports, of which one can be read: set done.coverage_command" >&2; exit 1; }
show "$1"`
	return []CoverageCommand{{Name: "Coverlet", Format: "cobertura", Args: coverageShellCommand(line)}}
}

// dotnetFormats returns the output formats of its tools.
func dotnetFormats() []outputparser.OutputFormat {
	return []outputparser.OutputFormat{
		{Name: "dotnet", About: "dotnet build and msbuild", Warns: true, Commands: []string{"dotnet build", "dotnet format", "msbuild"}, Marks: `\(\d+,\d+\)\s*: (?:error|warning) [A-Z]+\d+: |(?m)^(?:` + strings.Join(lint.BuildSucceededTexts(), "|") + `)\W`, Well: strings.Join(lint.BuildSucceededTexts(), "|"), Read: lint.ReadMSBuild},
		{Name: "dotnet-test", About: "dotnet test", Tests: true, Commands: []string{"dotnet test"}, Marks: `(?:Passed|Failed)! +- Failed: +\d+, Passed: +\d+|(?m)^Total tests: \d+|^Test summary: total: \d+|! *[-:\x{2013}\x{2014}].*\d.* - \S.*\.dll(?: \(|$)`, Read: testrunners.ReadDotNet},
	}
}

// nugetPackages reads a packages.lock.json.
func nugetPackages(text string) []ListedPackage {
	var lock struct {
		Dependencies map[string]map[string]struct {
			Type     string `json:"type"`
			Resolved string `json:"resolved"`
		} `json:"dependencies"`
	}
	if json.Unmarshal([]byte(text), &lock) != nil {
		return nil
	}
	var all []ListedPackage
	for _, rows := range lock.Dependencies {
		for name, p := range rows {
			if p.Type != "Project" {
				all = append(all, ListedPackage{Kind: KindNuGet, Name: strings.ToLower(name), Version: p.Resolved})
			}
		}
	}
	return sortedPackages(all)
}

// projectPackages reads the packages that a .NET project references.
func projectPackages(text string) []ListedPackage {
	var all []ListedPackage
	walkXMLElements(text, func(path []string, e xml.StartElement, _ func() string) {
		name := e.Name.Local
		if name != "PackageReference" && name != "PackageVersion" {
			return
		}
		p := ListedPackage{Kind: KindNuGet}
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "Include":
				p.Name = strings.ToLower(a.Value)
			case "Version":
				p.Version = a.Value
			}
		}
		if p.Name != "" {
			all = append(all, p)
		}
	})
	return sortedPackages(all)
}

// dotnetOutlines returns the declaration patterns of its files.
func dotnetOutlines() []OutlinePatterns {
	return []OutlinePatterns{
		{Name: "C#", Members: true, Ends: []string{".cs"}, Tests: []string{"*Test.cs", "*Tests.cs", "*.Designer.cs", "*.g.cs"}, Declares: []string{"public class ", "public sealed class ", "public static class ", "public abstract class ", "public partial class ", "public interface ", "public enum ", "public record ", "public struct ", "public readonly struct "}, Imports: []string{"using "}, Between: "."},
	}
}

// dotnetCommandRules are rows about the commands of its tools; see [Stack.CommandRules].
const dotnetCommandRules = `
deny  | publish  | dotnet nuget | nuget:push push nuget:delete delete nuget:sign setapikey
ask   | deps.new | dotnet | add:package tool:install tool:update workload new
ask   | deps.new | nuget | install | +
allow | build    | dotnet | build test clean restore --version --info
`

// nugetLicence reads the description of a fetched package.
func nugetLicence(p PackageSearchPaths, k ListedPackage) string {
	home := p.firstDirectory(p.lookupEnv("NUGET_PACKAGES"), ".nuget", "packages")
	if home == "" || k.Version == "" {
		return ""
	}
	dir := path.Join(home, strings.ToLower(k.Name), strings.ToLower(k.Version))
	var spec struct {
		License struct {
			Type string `xml:"type,attr"`
			Text string `xml:",chardata"`
		} `xml:"metadata>license"`
		URL string `xml:"metadata>licenseUrl"`
	}
	if decodeXMLLoosely(p.readText(dir, strings.ToLower(k.Name)+".nuspec"), &spec) != nil {
		return ""
	}
	text := strings.TrimSpace(spec.License.Text)
	switch {
	case spec.License.Type == "expression":
		return licencename.ExpressionFor(text)
	case spec.License.Type == "file" && filepath.IsLocal(text):
		return licencename.LicenceOfText(p.readText(dir, text))
	}
	if l, ok := strings.CutPrefix(strings.TrimSpace(spec.URL), "https://licenses.nuget.org/"); ok {
		return licencename.ExpressionFor(l)
	}
	return licencename.KnownName(spec.URL)
}

// dotnetSyntax returns the syntax of its files.
func dotnetSyntax() []SourceSyntax {
	sharp := braceSyntax([]string{".cs"}, LineMutations{Calls: true, Nothing: ";", Returns: returnsEnded, None: "null"})
	return []SourceSyntax{sharp.withExports(classExports, `"""`).withFunctionHeads(typedHeads), {Ends: []string{".fs"}, Comments: []string{"//"}, Block: [2]string{"/*", "*/"}, Exports: classExports}}
}
