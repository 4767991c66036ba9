package stack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// samples returns small files of each kind, as their tools write them.
func samples() map[string]string {
	return map[string]string{
		"go.mod":             "module example.org/x\n\nrequire (\n\texample.org/old v1.2.0\n\texample.org/gnu v2.0.0 // indirect\n)\nreplace example.org/a => example.org/b v1.0.0\n",
		"package-lock.json":  `{"packages": {"": {}, "node_modules/a": {"version": "1.1.0", "license": "MIT"}, "node_modules/a/node_modules/@s/b": {"version": "2.0.0"}, "packages/own": {"version": "1.0.0"}, "node_modules/own": {"link": true}}}`,
		"pnpm-lock.yaml":     "lockfileVersion: '9.0'\n\nimporters:\n  .:\n    dependencies:\n      a:\n        version: 1.1.0\n\npackages:\n\n  '@s/b@2.0.0':\n    resolution: {integrity: x}\n\n  a@1.1.0(b@2.0.0):\n    resolution: {integrity: x}\n\n  /old/0.1.0:\n    dev: true\n",
		"yarn.lock":          "# yarn lockfile v1\n\n\"@s/b@^2.0.0\", \"@s/b@^2.1.0\":\n  version \"2.1.0\"\n  resolved \"x\"\n\na@^1.0.0:\n  version \"1.1.0\"\n",
		"sub/yarn.lock":      "__metadata:\n  version: 8\n\n\"a@npm:^1.0.0\":\n  version: 1.1.0\n  resolution: \"a@npm:1.1.0\"\n\n\"own@workspace:.\":\n  version: 0.0.0-use.local\n",
		"bun.lock":           "{\n  \"lockfileVersion\": 1,\n  \"packages\": {\n    \"a\": [\"a@1.1.0\", \"\", {}, \"sha\"],\n    \"@s/b\": [\"@s/b@2.0.0\", \"\", {}, \"sha\"],\n  }\n}\n",
		"Cargo.lock":         "version = 4\n\n[[package]]\nname = \"rand\"\nversion = \"0.8.0\"\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.1\"\n",
		"poetry.lock":        "[[package]]\nname = \"django\"\nversion = \"4.2\"\n\n[package.dependencies]\nname = \"no\"\n",
		"requirements.txt":   "# none\nDjango[x]==4.2\n-r other.txt\nattrs\n",
		"Pipfile.lock":       `{"_meta": {}, "default": {"Django": {"version": "==4.2"}}, "develop": {"pytest": {"version": "==8.0"}}}`,
		"Gemfile.lock":       "GEM\n  remote: https://rubygems.org/\n  specs:\n    nokogiri (1.16.0-x86_64-linux)\n      racc (~> 1.4)\n    rack (3.0.8)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  rack (3.0.8)\n    odd (1.0)\n",
		"composer.lock":      `{"packages": [{"name": "monolog/monolog", "version": "v3.5.0", "license": ["MIT"]}], "packages-dev": [{"name": "x/two", "version": "1.0", "license": ["MIT", "GPL-3.0-or-later"]}]}`,
		"pom.xml":            "<project><properties><v>2.0.9</v></properties><dependencyManagement><dependencies><dependency><groupId>no</groupId><artifactId>no</artifactId></dependency></dependencies></dependencyManagement><dependencies><dependency><groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId><version>${v}</version><exclusions><exclusion><groupId>no</groupId></exclusion></exclusions></dependency><dependency><groupId>a.b</groupId><artifactId>c</artifactId></dependency></dependencies></project>",
		"gradle.lockfile":    "# This is a Gradle generated file\norg.slf4j:slf4j-api:2.0.9=runtimeClasspath\nempty=annotationProcessor\n",
		"packages.lock.json": `{"version": 1, "dependencies": {"net8.0": {"Newtonsoft.Json": {"type": "Direct", "resolved": "13.0.3"}, "own": {"type": "Project"}}}}`,
		"app.csproj":         `<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="Newtonsoft.Json" Version="13.0.3" /></ItemGroup></Project>`,
	}
}

func TestReader(t *testing.T) {
	for file, want := range map[string]string{
		"go.mod":             "go example.org/old@v1.2.0:4, go example.org/gnu@v2.0.0:5",
		"package-lock.json":  "node @s/b@2.0.0:0, node a@1.1.0:0 [MIT]",
		"pnpm-lock.yaml":     "node @s/b@2.0.0:11, node a@1.1.0:14, node old@0.1.0:17",
		"yarn.lock":          "node @s/b@2.1.0:3, node a@1.1.0:7",
		"sub/yarn.lock":      "node a@1.1.0:4",
		"bun.lock":           "node @s/b@2.0.0:5, node a@1.1.0:4",
		"Cargo.lock":         "rust rand@0.8.0:4, rust serde@1.0.1:8",
		"poetry.lock":        "python django@4.2:2",
		"requirements.txt":   "python django@4.2:2, python attrs@:4",
		"Pipfile.lock":       "python django@4.2:0, python pytest@8.0:0",
		"Gemfile.lock":       "ruby nokogiri@1.16.0:4, ruby rack@3.0.8:6",
		"composer.lock":      "php monolog/monolog@3.5.0:0 [MIT], php x/two@1.0:0 [MIT GPL-3.0-or-later]",
		"pom.xml":            "maven a.b:c@:0, maven org.slf4j:slf4j-api@2.0.9:0",
		"gradle.lockfile":    "maven org.slf4j:slf4j-api@2.0.9:2",
		"packages.lock.json": "nuget newtonsoft.json@13.0.3:0",
		"app.csproj":         "nuget newtonsoft.json@13.0.3:0",
	} {
		var got []string
		for _, p := range stack.PackageListReader(file)(samples()[file]) {
			text := fmt.Sprintf("%s %s:%d", p.Kind, p, p.Line)
			if len(p.Licences) > 0 {
				text += fmt.Sprint(" ", p.Licences)
			}
			got = append(got, text)
		}
		if d := cmp.Diff(want, strings.Join(got, ", ")); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
	if stack.PackageListReader("main.go") != nil {
		t.Error("main.go names packages")
	}
}

func TestAdded(t *testing.T) {
	had := []stack.ListedPackage{{Kind: stack.KindGo, Name: "a", Version: "1"}, {Kind: stack.KindNode, Name: "b", Version: "1"}}
	now := []stack.ListedPackage{{Kind: stack.KindGo, Name: "a", Version: "2"}, {Kind: stack.KindGo, Name: "b", Version: "1"}}
	if got := stack.AddedPackages(had, now); len(got) != 1 || got[0].Name != "b" {
		t.Error(got)
	}
}

func FuzzReader(f *testing.F) {
	for file, text := range samples() {
		f.Add(file, text)
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		read := stack.PackageListReader(file)
		if read == nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		for _, p := range read(text) {
			if p.Kind == "" || p.Line < 0 || p.Line > lines {
				t.Fatalf("%+v", p)
			}
		}
	})
}
