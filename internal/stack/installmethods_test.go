package stack

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func dir(t *testing.T, files ...string) string {
	t.Helper()
	at := t.TempDir()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		if err := errors.Join(os.MkdirAll(filepath.Join(at, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(at, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

func TestTable(t *testing.T) {
	for _, e := range InstallMethods() {
		if e.Name == "" || e.Lock == "" || len(e.Args) == 0 || len(e.Tools) == 0 || len(e.Out) == 0 || ProgramsOf(e.Family) == nil {
			t.Errorf("%+v", e)
		}
		if _, err := path.Match(e.Lock, ""); err != nil {
			t.Error(e.Name, err)
		}
		for _, p := range e.Also {
			if _, err := path.Match(p, ""); err != nil {
				t.Error(e.Name, p, err)
			}
		}
	}
}

const (
	npmWants = `{"packages": {"": {}, "packages/a": {"version": "1.0.0"}, "node_modules/a": {"link": true},
		"node_modules/x": {"version": "1.2.3", "integrity": "sha512-x"}, "node_modules/x/node_modules/y": {"version": "2.0.0"}, "node_modules/mac": {"version": "1.0.0", "optional": true}}}`
	npmHas = `node_modules/.package-lock.json={"packages": {"packages/a": {"version": "1.0.0"}, "node_modules/a": {"link": true},
		"node_modules/x": {"version": "1.2.3", "integrity": "sha512-x"}, "node_modules/x/node_modules/y": {"version": "2.0.0"}}}`
	yarnWants = "# yarn lockfile v1\n\n\n\"@a/b@^1\", \"@a/b@^1.2\":\n  version \"1.2.3\"\n  resolved \"https://r/b.tgz#1\"\n\nx@~2:\n  version \"2.0.0\"\n  resolved \"https://r/x.tgz#2\"\n  dependencies:\n    \"@a/b\" \"^1\"\n"
)

// TestSame tells what is what the lock file says from what is not.
func TestSame(t *testing.T) {
	npm := []string{npmHas, `node_modules/x/package.json={"version": "1.2.3"}`, `node_modules/x/node_modules/y/package.json={"version": "2.0.0"}`}
	gems := "GEM\n  remote: https://r\n  specs:\n    rack (3.0.0)\n    nokogiri (1.16.0-x86_64-linux)\n      racc (~> 1.4)\n\nPLATFORMS\n  ruby\n"
	composer := `{"packages": [{"name": "a/b", "version": "1.0", "dist": {"reference": "x"}}], "packages-dev": [{"name": "c/d", "version": "2.0"}]}`
	for name, tt := range map[string]struct {
		same  func(at fs.FS, lock string) error
		lock  string
		files []string
		link  string
		want  string // in the error; empty: it is the same
	}{
		"npm":                        {checkNpmInstallation, npmWants, npm, "node_modules/a", ""},
		"npm, a link is a directory": {checkNpmInstallation, npmWants, append(npm, "node_modules/a/package.json={}"), "", "node_modules/a: it is a link and should be a directory"},
		"npm, nothing there":         {checkNpmInstallation, npmWants, nil, "", "there is no node_modules/.package-lock.json"},
		"npm, one is missing":        {checkNpmInstallation, npmWants, npm[:2], "node_modules/a", "node_modules/x/node_modules/y"},
		"npm, one is newer":          {checkNpmInstallation, strings.Replace(npmWants, "1.2.3", "1.2.4", 1), npm, "node_modules/a", "another version"},
		"npm, another file of it":    {checkNpmInstallation, strings.Replace(npmWants, "sha512-x", "sha512-y", 1), npm, "node_modules/a", "another version"},
		"npm, one is wanted more":    {checkNpmInstallation, strings.Replace(npmWants, `"": {},`, `"": {}, "node_modules/z": {"version": "1.0.0"},`, 1), npm, "node_modules/a", "node_modules/z is not installed"},
		"npm, one is too much":       {checkNpmInstallation, strings.Replace(npmWants, `"node_modules/x/node_modules/y"`, `"node_modules/nothing/node_modules/y"`, 1), npm, "node_modules/a", "is not"},
		"npm, changed by hand":       {checkNpmInstallation, npmWants, append(npm, `node_modules/x/package.json={"version": "6.6.6"}`), "node_modules/a", `it is version "6.6.6"`},
		"npm, of old":                {checkNpmInstallation, `{"dependencies": {}}`, npm, "", "before 7"},
		"pnpm":                       {checkPnpmInstallation, "lock", []string{"node_modules/.pnpm/lock.yaml=lock"}, "", ""},
		"pnpm, another":              {checkPnpmInstallation, "lock", []string{"node_modules/.pnpm/lock.yaml=lock2"}, "", "another lock file"},
		"yarn":                       {checkYarnInstallation, yarnWants, []string{`node_modules/.yarn-integrity={"lockfileEntries": {"@a/b@^1": "https://r/b.tgz#1", "@a/b@^1.2": "https://r/b.tgz#1", "x@~2": "https://r/x.tgz#2"}}`}, "", ""},
		"yarn, another":              {checkYarnInstallation, yarnWants, []string{`node_modules/.yarn-integrity={"lockfileEntries": {"x@~2": "https://r/x.tgz#2"}}`}, "", "another lock file"},
		"requirements":               {checkPythonRequirements, "# c\nRequests[socks]==2.0 \\\n    --hash=sha256:0\nwin==1.0 ; sys_platform == 'win32'\n", []string{".venv/lib/python3.11/site-packages/requests-2.0.dist-info/METADATA="}, "", ""},
		"requirements, another":      {checkPythonRequirements, "requests==2.1\n", []string{".venv/lib/python3.11/site-packages/requests-2.0.dist-info/METADATA="}, "", "requests 2.1 is not installed"},
		"requirements, open":         {checkPythonRequirements, "requests>=2\n", []string{".venv/lib/python3.11/site-packages/requests-2.0.dist-info/METADATA="}, "", "pins no version"},
		"uv":                         {checkPythonLock, "[[package]]\nname = \"A.b\"\nversion = \"1.0\"\n", []string{".venv/lib/python3.11/site-packages/a_b-1.0.dist-info/METADATA="}, "", ""},
		"uv, another":                {checkPythonLock, "[[package]]\nname = \"a-b\"\nversion = \"1.1\"\n", []string{".venv/lib/python3.11/site-packages/a_b-1.0.dist-info/METADATA="}, "", "version 1.0"},
		"uv, hardly any":             {checkPythonLock, "name = \"a\"\nname = \"b\"\nversion = \"1\"\nname = \"c\"\nversion = \"1\"\nname = \"d\"\nversion = \"1\"\n", []string{".venv/lib/python3.11/site-packages/b-1.dist-info/METADATA="}, "", "1 of 3"},
		"gems":                       {checkGemInstallation, gems, []string{"vendor/bundle/ruby/3.1.0/gems/rack-3.0.0/x=", "vendor/bundle/ruby/3.1.0/gems/nokogiri-1.16.0-x86_64-linux/x="}, "", ""},
		"gems, one is missing":       {checkGemInstallation, gems, []string{"vendor/bundle/ruby/3.1.0/gems/rack-3.0.0/x="}, "", "nokogiri"},
		"composer":                   {checkComposerInstallation, composer, []string{`vendor/composer/installed.json={"packages": [{"name": "c/d", "version": "2.0"}, {"name": "a/b", "version": "1.0", "dist": {"reference": "x"}}]}`}, "", ""},
		"composer.json":              {checkComposerManifest, `{"require": {"php": ">=8", "ext-json": "*", "A/b": "^1"}, "require-dev": {"c/d": "*"}}`, []string{`vendor/composer/installed.json={"packages": [{"name": "c/d"}, {"name": "a/b"}]}`}, "", ""},
		"composer.json, one is new":  {checkComposerManifest, `{"require-dev": {"c/d": "*", "e/f": "*"}}`, []string{`vendor/composer/installed.json={"packages": [{"name": "c/d"}]}`}, "", "e/f is not installed"},
		"composer, another":          {checkComposerInstallation, composer, []string{`vendor/composer/installed.json={"packages": [{"name": "c/d", "version": "2.0"}, {"name": "a/b", "version": "1.0", "dist": {"reference": "y"}}]}`}, "", "a/b 1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			at := dir(t, tt.files...)
			if tt.link != "" {
				if err := os.Symlink("../packages/a", filepath.Join(at, tt.link)); err != nil {
					t.Fatal(err)
				}
			}
			err := tt.same(os.DirFS(at), tt.lock)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzSame never takes what is not there for what a lock file says, unless it
// says nothing.
func FuzzSame(f *testing.F) {
	f.Add(npmWants, strings.TrimPrefix(npmHas, "node_modules/.package-lock.json="))
	f.Add(yarnWants, `{"lockfileEntries": {"x": "y"}}`)
	at := f.TempDir()
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Join(at, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(at, name), []byte(text), 0o644)); err != nil {
			f.Fatal(err)
		}
	}
	write(".venv/lib/python3.11/site-packages/a-1.dist-info/METADATA", "")
	write("vendor/bundle/ruby/3/gems/a-1/x", "")
	f.Fuzz(func(t *testing.T, lock, has string) {
		for _, name := range []string{"node_modules/.package-lock.json", "node_modules/.yarn-integrity", "vendor/composer/installed.json"} {
			write(name, has)
		}
		for _, e := range InstallMethods() {
			if e.Same != nil {
				_ = e.Same(os.DirFS(at), lock)
			}
		}
		for pattern, from := range yarnEntries(lock) {
			if !strings.Contains(lock, from) || !strings.Contains(lock, pattern) {
				t.Errorf("made up %q from %q", pattern, from)
			}
		}
	})
}

// TestManagers takes the package manager that a package.json names, where no
// lock file does.
func TestManagers(t *testing.T) {
	for text, want := range map[string]string{
		`{"packageManager": "pnpm@9.1.0", "dependencies": {}}`:    "pnpm install --no-lockfile",
		`{"packageManager":"yarn@1.22.0", "devDependencies": {}}`: "yarn install --no-lockfile --non-interactive",
		`{"packageManager": "yarn@4.0.0", "dependencies": {}}`:    "yarn install --no-immutable",
		`{"packageManager": "bun@1.1.0", "dependencies": {}}`:     "bun install --no-save",
		`{"packageManager": "npm@10", "dependencies": {}}`:        "npm install --no-package-lock",
		`{"dependencies": {}}`:                                    "npm install --no-package-lock",
		`{"packageManager": "pnpm@9.1.0"}`:                        "",
		`not JSON, and "dependencies"`:                            "npm install --no-package-lock",
	} {
		got := ""
		for _, e := range InstallMethods() {
			if e.Lock == "package.json" && e.Fits(text) && got == "" {
				got = strings.Join(e.Args, " ")
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestYarnEntries(t *testing.T) {
	want := map[string]string{"@a/b@^1": "https://r/b.tgz#1", "@a/b@^1.2": "https://r/b.tgz#1", "x@~2": "https://r/x.tgz#2"}
	if d := cmp.Diff(want, yarnEntries(yarnWants)); d != "" {
		t.Error(d)
	}
}
