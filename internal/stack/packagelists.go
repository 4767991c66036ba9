package stack

import (
	"cmp"
	"encoding/xml"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The kinds of packages, by package manager.
const (
	KindGo     = "go"
	KindNode   = "node"
	KindPython = "python"
	KindRust   = "rust"
	KindRuby   = "ruby"
	KindPHP    = "php"
	KindMaven  = "maven"
	KindNuGet  = "nuget"
)

// ListedPackage is a package that a file names.
type ListedPackage struct {
	Kind     string
	Name     string
	Version  string // empty: the file has none
	Line     int    // that names it; 0 is unknown
	Licences []string
}

// String returns the form name@version.
func (p ListedPackage) String() string { return p.Name + "@" + p.Version }

// PackageListFormat describes how to read the packages that files name.
type PackageListFormat struct {
	Files    []string // names of the files, or patterns of them
	Packages func(text string) []ListedPackage
}

// PackageListReader returns a function that reads the packages in a file, or nil for a file that
// names none. The function skips lines that it cannot parse.
func PackageListReader(file string) func(text string) []ListedPackage {
	for _, s := range AllStacks() {
		for _, l := range s.Listings {
			if matchesAny(l.Files, []string{path.Base(file)}) {
				return l.Packages
			}
		}
	}
	return nil
}

// AddedPackages returns the packages in now whose version is not in before.
func AddedPackages(before, now []ListedPackage) []ListedPackage {
	had := map[string]bool{}
	for _, p := range before {
		had[p.Kind+" "+p.Name] = true
	}
	var all []ListedPackage
	for _, p := range now {
		if !had[p.Kind+" "+p.Name] {
			all = append(all, p)
		}
	}
	return all
}

// sortedPackages sorts packages by name and removes duplicates.
func sortedPackages(all []ListedPackage) []ListedPackage {
	slices.SortStableFunc(all, func(a, b ListedPackage) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return slices.CompactFunc(all, func(a, b ListedPackage) bool { return a.Name == b.Name && a.Version == b.Version })
}

// packagesByLinePattern reads files with one package per line, by a pattern for its name and its version.
func packagesByLinePattern(kind, text, pattern string) []ListedPackage {
	row := regexp.MustCompile(pattern)
	var all []ListedPackage
	n := 0
	for line := range strings.Lines(text) {
		n++
		if m := row.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			all = append(all, ListedPackage{Kind: kind, Name: m[1], Version: m[2], Line: n})
		}
	}
	return sortedPackages(all)
}

// tomlPackageReader returns a function that reads lock files with a table per package.
func tomlPackageReader(kind string) func(string) []ListedPackage {
	return func(text string) []ListedPackage {
		var all []ListedPackage
		n, name, inside := 0, "", false
		for line := range strings.Lines(text) {
			n++
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			value = strings.Trim(strings.TrimSpace(value), `"`)
			switch key = strings.TrimSpace(key); {
			case strings.HasPrefix(key, "["):
				name, inside = "", key == "[[package]]"
			case !inside:
			case key == "name":
				name = value
			case key == "version" && name != "":
				all = append(all, ListedPackage{Kind: kind, Name: name, Version: value, Line: n - 1})
			}
		}
		return all
	}
}

// deepestElement limits how deeply elements are nested.
const deepestElement = 100

// walkXMLElements calls see for each element, with the names of the enclosing elements and a function
// that reads its text.
func walkXMLElements(text string, see func(path []string, e xml.StartElement, value func() string)) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var path []string
	for {
		t, err := d.Token()
		if err != nil || len(path) > deepestElement {
			return
		}
		switch e := t.(type) {
		case xml.StartElement:
			ended := false
			see(path, e, func() string {
				var s string
				if d.DecodeElement(&s, &e) != nil {
					return ""
				}
				ended = true
				return strings.TrimSpace(s)
			})
			if !ended {
				path = append(path, e.Name.Local)
			}
		case xml.EndElement:
			path = path[:max(0, len(path)-1)]
		}
	}
}
