package changemetrics_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
)

func writeFile(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const mit = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n... all copies or substantial portions of the Software."

// TestLicences finds licences where each manager puts packages, and none for a
// package that is not there, or that is of another version.
func TestLicences(t *testing.T) {
	home, tree, modules := t.TempDir(), t.TempDir(), t.TempDir()
	writeFile(t, modules, map[string]string{"example.org/!free/m@v1.0.0/LICENSE": mit, "example.org/gnu@v2.0.0/COPYING": "GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007"})
	writeFile(t, home, map[string]string{
		".cargo/registry/src/index/rand-0.8.0/Cargo.toml":               "[package]\nname = \"rand\"\nversion = \"0.8.0\"\nlicense = \"MIT/Apache-2.0\"\n",
		".cargo/registry/src/index/own-1.0.0/Cargo.toml":                "[package]\nversion = \"1.0.0\"\nlicense-file = \"LICENSE\"\n",
		".cargo/registry/src/index/own-1.0.0/LICENSE":                   mit,
		".m2/repository/org/slf4j/slf4j-api/2.0.9/slf4j-api-2.0.9.pom":  `<?xml version="1.0" encoding="ISO-8859-1"?><project xmlns="http://maven.apache.org/POM/4.0.0"><parent><groupId>org.slf4j</groupId><artifactId>parent</artifactId><version>2.0.9</version></parent></project>`,
		".m2/repository/org/slf4j/parent/2.0.9/parent-2.0.9.pom":        "<project><licenses><license><name>The MIT License</name></license></licenses></project>",
		".m2/repository/a/b/1/b-1.pom":                                  "<project><licenses><license><name>A Friendly One</name><url>https://www.apache.org/licenses/LICENSE-2.0.txt</url></license><license><name>GPLv3</name></license></licenses></project>",
		".nuget/packages/newtonsoft.json/13.0.3/newtonsoft.json.nuspec": `<package><metadata><id>Newtonsoft.Json</id><license type="expression">MIT</license></metadata></package>`,
		".nuget/packages/old/1.0.0/old.nuspec":                          `<package><metadata><licenseUrl>https://licenses.nuget.org/Apache-2.0</licenseUrl></metadata></package>`,
		".local/share/gem/ruby/3.1.0/specifications/rack-3.0.8.gemspec": "Gem::Specification.new do |s|\n  s.name = \"rack\".freeze\n  s.licenses = [\"MIT\".freeze]\nend\n",
		".local/share/gem/ruby/3.1.0/specifications/two-1.0.gemspec":    "  s.licenses = [\"Ruby\".freeze, \"BSD-2-Clause\".freeze]\n",
		".local/share/gem/ruby/3.1.0/gems/texted-1.0/MIT-LICENSE":       mit,
	})
	writeFile(t, tree, map[string]string{
		".venv/lib/python3.12/site-packages/Django-4.2.dist-info/METADATA":       "Metadata-Version: 2.1\nName: Django\nLicense: BSD-3-Clause\nClassifier: License :: OSI Approved :: BSD License\n\nLicense: in the description\n",
		".venv/lib/python3.12/site-packages/attrs-23.2.0.dist-info/METADATA":     "Metadata-Version: 2.4\nName: attrs\nLicense-Expression: MIT\n",
		".venv/lib/python3.12/site-packages/zope_x-1.0.dist-info/METADATA":       "Name: zope.x\nLicense: UNKNOWN\nClassifier: License :: OSI Approved :: Apache Software License\nClassifier: License :: OSI Approved :: MIT License\n",
		".venv/lib/python3.12/site-packages/bare-1.0.dist-info/METADATA":         "Name: bare\n",
		".venv/lib/python3.12/site-packages/bare-1.0.dist-info/licenses/COPYING": "GNU GENERAL PUBLIC LICENSE\n Version 2, June 1991",
		"node_modules/@s/b/package.json":                                         `{"version": "2.0.0", "license": "(MIT OR GPL-3.0)"}`,
		"node_modules/old/package.json":                                          `{"version": "0.1.0", "licenses": [{"type": "BSD"}]}`,
		"node_modules/.pnpm/deep@1.0.0/node_modules/deep/package.json":           `{"version": "1.0.0", "license": "ISC"}`,
		"vendor/monolog/monolog/composer.json":                                   `{"license": "MIT"}`,
		"vendor/example.org/kept/LICENSE":                                        mit,
	})
	if err := os.MkdirAll(filepath.Join(tree, "node_modules", "pipe"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(tree, "node_modules", "pipe", "package.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := stack.PackageSearchPaths{Files: changemetrics.MachineFS{}, Home: home, Trees: []string{tree}, Env: func(name string) string {
		return map[string]string{"GOMODCACHE": modules}[name]
	}}
	for _, c := range []struct{ kind, name, version, want string }{
		{stack.KindGo, "example.org/Free/m", "v1.0.0", "MIT"},
		{stack.KindGo, "example.org/gnu", "v2.0.0", "GPL-3.0"},
		{stack.KindGo, "example.org/gnu", "v2.0.1", ""},
		{stack.KindGo, "example.org/kept", "v1.0.0", "MIT"},
		{stack.KindRust, "rand", "0.8.0", "MIT OR Apache-2.0"},
		{stack.KindRust, "rand", "0.8.1", ""},
		{stack.KindRust, "own", "1.0.0", "MIT"},
		{stack.KindMaven, "org.slf4j:slf4j-api", "2.0.9", "MIT"},
		{stack.KindMaven, "a:b", "1", "Apache-2.0 AND GPL-3.0"},
		{stack.KindMaven, "a:b", "", ""},
		{stack.KindNuGet, "newtonsoft.json", "13.0.3", "MIT"},
		{stack.KindNuGet, "old", "1.0.0", "Apache-2.0"},
		{stack.KindRuby, "rack", "3.0.8", "MIT"},
		{stack.KindRuby, "two", "1.0", "Ruby OR BSD-2-Clause"},
		{stack.KindRuby, "texted", "1.0", "MIT"},
		{stack.KindRuby, "rack", "3.0.9", ""},
		{stack.KindPython, "django", "4.2", "BSD-3-Clause"},
		{stack.KindPython, "django", "4.3", ""},
		{stack.KindPython, "attrs", "", "MIT"},
		{stack.KindPython, "zope.x", "1.0", "Apache-2.0 AND MIT"},
		{stack.KindPython, "bare", "1.0", "GPL-2.0"},
		{stack.KindNode, "@s/b", "2.0.0", "(MIT OR GPL-3.0)"},
		{stack.KindNode, "old", "0.1.0", "BSD"},
		{stack.KindNode, "deep", "1.0.0", "ISC"},
		{stack.KindNode, "pipe", "1.0.0", ""},
		{stack.KindNode, "../../etc", "1.0.0", ""},
		{stack.KindNode, "@s/b", "*", ""},
		{stack.KindPHP, "monolog/monolog", "3.5.0", "MIT"},
		{"", "x", "1", ""},
	} {
		if got := p.LicenceOf(stack.ListedPackage{Kind: c.kind, Name: c.name, Version: c.version}); got != c.want {
			t.Errorf("%s %s@%s: %q, want %q", c.kind, c.name, c.version, got, c.want)
		}
	}
	if got := (stack.PackageSearchPaths{}).LicenceOf(stack.ListedPackage{Kind: stack.KindPHP, Name: "x/y", Version: "1", Licences: []string{"MIT", "GPL-3.0-or-later"}}); got != "MIT OR GPL-3.0-or-later" {
		t.Error(got)
	}
}
