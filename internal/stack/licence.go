package stack

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/licencename"
)

// LicenceFinder finds the licence of packages of a kind in their installed files.
type LicenceFinder struct {
	Kind string // of packages, as in [ListedPackage.Kind]
	// Of returns an SPDX expression, or "" if the package is not installed, is installed in
	// another version, or names no licence.
	Of func(p PackageSearchPaths, k ListedPackage) string
}

// PackageSearchPaths holds the places on a machine that are searched for packages. The zero value
// has none.
type PackageSearchPaths struct {
	Files fs.FS               // the machine's, from its root
	Home  string              // the user's
	Env   func(string) string // the user's environment; nil: it is empty
	Trees []string            // directories in which packages were installed beside the code
}

// LicenceOf returns the licence of a package as an SPDX expression, or "" if it is unknown.
func (p PackageSearchPaths) LicenceOf(k ListedPackage) string {
	if l := licencename.JoinExpression(k.Licences, " OR "); l != "" { // any of them is enough
		return l
	}
	local := filepath.IsLocal(k.Name) && (k.Version == "" || filepath.IsLocal(k.Version))
	if p.Files == nil || !local || strings.ContainsAny(k.Name+k.Version, "\x00\\*?[") {
		return ""
	}
	for _, s := range AllStacks() {
		for _, l := range s.Licences {
			if l.Kind == k.Kind {
				return l.Of(p, k)
			}
		}
	}
	return ""
}

func (p PackageSearchPaths) lookupEnv(name string) string {
	if p.Env == nil {
		return ""
	}
	return p.Env(name)
}

// userVariable returns a variable of the user, with HOME from Home.
func (p PackageSearchPaths) userVariable(name string) string {
	if name == "HOME" {
		return p.Home
	}
	return p.lookupEnv(name)
}

// firstDirectory returns the directory set if it is not empty, else the path below the home, or "" without
// a home.
func (p PackageSearchPaths) firstDirectory(set string, below ...string) string {
	if set != "" {
		return set
	}
	if p.Home == "" {
		return ""
	}
	return path.Join(append([]string{p.Home}, below...)...)
}

// maxLicence limits the size of a file that is read.
const maxLicence = 1 << 20

// readText returns the text of a regular file, "" for anything else: agents may have put something
// else there.
func (p PackageSearchPaths) readText(name ...string) string {
	f, err := p.Files.Open(trimRoot(path.Join(name...)))
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxLicence {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, maxLicence))
	if err != nil {
		return ""
	}
	return string(data)
}

// trimRoot returns an absolute path relative to the root.
func trimRoot(name string) string { return strings.TrimPrefix(name, "/") }

// matchingPaths returns the paths that match one of the patterns, in order.
func (p PackageSearchPaths) matchingPaths(patterns ...string) []string {
	var all []string
	for _, pattern := range patterns {
		found, _ := fs.Glob(p.Files, trimRoot(pattern)) // the patterns are constants
		for _, name := range found {
			all = append(all, "/"+name)
		}
	}
	return all
}

// licenceInText searches a directory for the text of a licence.
func (p PackageSearchPaths) licenceInText(dir string) string {
	entries, err := fs.ReadDir(p.Files, trimRoot(dir))
	if err != nil {
		return ""
	}
	for _, e := range entries {
		base := strings.ToLower(e.Name())
		named := func(begin string) bool { return strings.HasPrefix(base, begin) }
		if !e.Type().IsRegular() || !slices.ContainsFunc([]string{"licen", "copying", "unlicen", "mit-licen"}, named) {
			continue
		}
		if l := licencename.LicenceOfText(p.readText(dir, e.Name())); l != "" {
			return l
		}
	}
	return ""
}

// manifestLicence reads the licence of a package.json or composer.json, "" if the file is of
// another version.
func manifestLicence(text, version string) string {
	var m struct {
		Version  string `json:"version"`
		License  any    `json:"license"`
		Licenses []struct {
			Type string `json:"type"`
		} `json:"licenses"`
	}
	if json.Unmarshal([]byte(text), &m) != nil || version != "" && m.Version != "" && m.Version != version {
		return ""
	}
	var all []string
	switch l := m.License.(type) {
	case string:
		all = append(all, l)
	case map[string]any:
		if s, ok := l["type"].(string); ok {
			all = append(all, s)
		}
	case []any:
		for _, one := range l {
			if s, ok := one.(string); ok {
				all = append(all, s)
			}
		}
	}
	for _, l := range m.Licenses {
		all = append(all, l.Type)
	}
	return licencename.JoinExpression(all, " OR ")
}

func decodeXMLLoosely(text string, into any) error {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return d.Decode(into)
}
