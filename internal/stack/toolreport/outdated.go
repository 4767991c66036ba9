// Package toolreport reads information that the tools of languages print besides check results:
// newer versions of packages, durations of single tests, and the coverage of a file. It is
// pure.
package toolreport

import (
	"bufio"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

// OutdatedPackage is a package with a newer version.
type OutdatedPackage struct{ Name, Has, Newest string }

// OutdatedPackageLister is a package manager that lists newer versions of the packages in a file.
type OutdatedPackageLister struct {
	File    string   // name of the file
	Program string   // its name
	Args    []string // its command, which runs in the file's directory, and fails if no registry is reachable
	Names   string   // content of its file once it names a package
	Read    func(printed, text string) []OutdatedPackage

	// Still returns a command that passes as long as the file names a version.
	Still func(file string, s OutdatedPackage) string
}

// OutdatedPackageListers returns the package managers that list newer versions.
func OutdatedPackageListers() []OutdatedPackageLister {
	squeezed := func(file, text string) string {
		return "tr -d ' \\n' <" + scriptcommands.QuoteShellWord("./"+file) + " | grep -qF -- " + scriptcommands.QuoteShellWord(text)
	}
	// As a word: 1.2.3 is no part of 1.2.30.
	grep := func(file, text string) string {
		return "grep -qwF -- " + scriptcommands.QuoteShellWord(text) + " " + scriptcommands.QuoteShellWord("./"+file)
	}
	script := func(text string) []string { return []string{"sh", "-c", text} }
	// Without a network both would report that nothing is newer: pip does so after any error,
	// and go uses the versions in a cache, which a file before the proxies is.
	pip := script("pip index versions pip --disable-pip-version-check >/dev/null && " +
		"exec pip list --outdated --format=json --disable-pip-version-check")
	// npm skips development dependencies that are not installed.
	npm := script(`if test ! -d node_modules && grep -q '"devDependencies"' package.json; then
echo "error: nothing is installed, and npm says nothing then of what only developers need: run npm ci" >&2; exit 3; fi
exec npm outdated --json --no-offline`)
	modules := script(`p=$(go env GOPROXY | tr '|' ',' | tr ',' '\n' | grep -v -e '^file:' -e '^off$' | paste -sd, -)
if test -z "$p"; then echo "error: no module proxy is reached" >&2; exit 3; fi
GOPROXY=$p exec go list -mod=mod -u -m -json all`)
	cargo := strings.Fields("cargo update --dry-run --config net.offline=false")
	gems := strings.Fields("bundle outdated --parseable --only-explicit")
	composer := strings.Fields("composer outdated --direct --locked --format=json --no-interaction")
	return []OutdatedPackageLister{
		{"package-lock.json", "npm", npm, "node_modules/", readNPMOutdated, func(file string, s OutdatedPackage) string {
			return squeezed(file, fmt.Sprintf(`"node_modules/%s":{"version":"%s"`, s.Name, s.Has))
		}},
		{"pnpm-lock.yaml", "pnpm", strings.Fields("pnpm outdated --format json"), "@", readNPMOutdated, func(file string, s OutdatedPackage) string {
			return grep(file, s.Name+"@"+s.Has)
		}},
		{"go.mod", "go", modules, "require", readGoOutdated, func(file string, s OutdatedPackage) string {
			return grep(file, s.Name+" "+s.Has)
		}},
		{"Cargo.lock", "cargo", cargo, "source = ", readCargoOutdated, func(file string, s OutdatedPackage) string {
			has := fmt.Sprintf(`name = "%s" version = "%s"`, s.Name, s.Has)
			return "tr '\\n' ' ' <" + scriptcommands.QuoteShellWord("./"+file) + " | grep -qF -- " + scriptcommands.QuoteShellWord(has)
		}},
		{"requirements.txt", "pip", pip, "==", readPipOutdated, func(file string, s OutdatedPackage) string {
			return "grep -qiwF -- " + scriptcommands.QuoteShellWord(s.Name+"=="+s.Has) + " " + scriptcommands.QuoteShellWord("./"+file)
		}},
		{"Gemfile.lock", "bundle", gems, "    ", readGemOutdated, func(file string, s OutdatedPackage) string {
			return "grep -qxF -- " + scriptcommands.QuoteShellWord(fmt.Sprintf("    %s (%s)", s.Name, s.Has)) + " " + scriptcommands.QuoteShellWord("./"+file)
		}},
		{"composer.lock", "composer", composer, `"version":`, readComposerOutdated, func(file string, s OutdatedPackage) string {
			return squeezed(file, fmt.Sprintf(`"name":"%s","version":"%s"`, s.Name, s.Has))
		}},
	}
}

// LockDependentManifest is a file that names packages, whose package manager lists newer versions
// only if another file pins the versions.
type LockDependentManifest struct {
	File  string
	Names string   // its content once it names packages
	With  []string // the other files, any of which is enough
}

// LockDependentManifests returns such files.
func LockDependentManifests() []LockDependentManifest {
	return []LockDependentManifest{
		{"package.json", `ependencies"`, []string{"package-lock.json", "pnpm-lock.yaml"}},
		{"pyproject.toml", "dependencies", []string{"requirements.txt"}},
		{"setup.cfg", "install_requires", []string{"requirements.txt"}},
		{"setup.py", "install_requires", []string{"requirements.txt"}},
		{"Pipfile", "packages", []string{"requirements.txt"}},
		{"Cargo.toml", "dependencies", []string{"Cargo.lock"}},
		{"Gemfile", "gem", []string{"Gemfile.lock"}},
		{"composer.json", `"require`, []string{"composer.lock"}},
	}
}

// decodeObject decodes the first JSON value in an output that begins a line with the text open.
func decodeObject(printed, open string, into any) bool {
	for at := 0; ; {
		next := strings.Index(printed[at:], open)
		if next < 0 {
			return false
		}
		at += next
		if (at == 0 || printed[at-1] == '\n') && json.NewDecoder(strings.NewReader(printed[at:])).Decode(into) == nil {
			return true
		}
		at++
	}
}

// readNPMOutdated reads npm outdated --json, or that of pnpm. The version of a package that is not
// installed comes from the lock file.
func readNPMOutdated(printed, text string) []OutdatedPackage {
	var all map[string]json.RawMessage
	if !decodeObject(printed, "{", &all) {
		return nil
	}
	var lock struct {
		Packages map[string]struct{ Version string } `json:"packages"`
	}
	_ = json.Unmarshal([]byte(text), &lock) // the lock file of pnpm has another format
	var old []OutdatedPackage
	for name, raw := range all {
		var one struct{ Current, Latest string }
		if json.Unmarshal(raw, &one) != nil {
			continue // it is installed in several versions
		}
		if one.Current == "" {
			one.Current = lock.Packages["node_modules/"+name].Version
		}
		old = appendIfOutdated(old, OutdatedPackage{name, one.Current, one.Latest})
	}
	return sortOutdated(old)
}

// readGoOutdated reads go list -u -m -json: the modules that go.mod requires directly.
func readGoOutdated(printed, _ string) []OutdatedPackage {
	var old []OutdatedPackage
	at := strings.Index(printed, "{")
	if at < 0 {
		return nil
	}
	for d := json.NewDecoder(strings.NewReader(printed[at:])); ; {
		var m struct {
			Path, Version  string
			Main, Indirect bool
			Update         *struct{ Version string }
		}
		if d.Decode(&m) != nil {
			return sortOutdated(old)
		}
		if !m.Main && !m.Indirect && m.Update != nil {
			old = appendIfOutdated(old, OutdatedPackage{m.Path, m.Version, m.Update.Version})
		}
	}
}

var (
	cargoLine = regexp.MustCompile(`^\s*Updating (\S+) v(\S+) -> v(\S+)`)
	gemLine   = regexp.MustCompile(`^(\S+) \(newest ([^,\s]+), installed ([^,)\s]+)`)
)

func readCargoOutdated(printed, _ string) []OutdatedPackage {
	return matchOutdatedLines(printed, cargoLine, func(m []string) OutdatedPackage { return OutdatedPackage{m[1], m[2], m[3]} })
}

func readGemOutdated(printed, _ string) []OutdatedPackage {
	return matchOutdatedLines(printed, gemLine, func(m []string) OutdatedPackage { return OutdatedPackage{m[1], m[3], m[2]} })
}

func matchOutdatedLines(printed string, pattern *regexp.Regexp, of func(m []string) OutdatedPackage) (old []OutdatedPackage) {
	for scan := bufio.NewScanner(strings.NewReader(printed)); scan.Scan(); {
		if m := pattern.FindStringSubmatch(scan.Text()); m != nil {
			old = appendIfOutdated(old, of(m))
		}
	}
	return sortOutdated(old)
}

// readPipOutdated reads pip list --outdated: of the installed packages, only those that the file
// names.
func readPipOutdated(printed, text string) []OutdatedPackage {
	var all []struct {
		Name   string
		Has    string `json:"version"`
		Newest string `json:"latest_version"`
	}
	if !decodeObject(printed, "[", &all) {
		return nil
	}
	var old []OutdatedPackage
	named := strings.ToLower(text)
	for _, one := range all {
		if strings.Contains(named, strings.ToLower(one.Name+"=="+one.Has)) {
			old = appendIfOutdated(old, OutdatedPackage{one.Name, one.Has, one.Newest})
		}
	}
	return sortOutdated(old)
}

func readComposerOutdated(printed, _ string) []OutdatedPackage {
	var all struct {
		Locked, Installed []struct{ Name, Version, Latest string }
	}
	if !decodeObject(printed, "{", &all) {
		return nil
	}
	var old []OutdatedPackage
	for _, one := range slices.Concat(all.Locked, all.Installed) {
		old = appendIfOutdated(old, OutdatedPackage{one.Name, one.Version, one.Latest})
	}
	return sortOutdated(old)
}

// appendIfOutdated adds a package, if it is older than the newest version.
func appendIfOutdated(all []OutdatedPackage, s OutdatedPackage) []OutdatedPackage {
	if s.Name == "" || s.Has == "" || s.Newest == "" || s.Has == s.Newest {
		return all
	}
	return append(all, s)
}

func sortOutdated(all []OutdatedPackage) []OutdatedPackage {
	slices.SortStableFunc(all, func(a, b OutdatedPackage) int { return strings.Compare(a.Name+"\x00"+a.Has, b.Name+"\x00"+b.Has) })
	return slices.Compact(all)
}
