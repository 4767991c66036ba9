package measure

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// node reads the package.json of what is installed, where that is of the same
// version.
func (p LicencePlaces) node(k stack.Package) string {
	for _, t := range p.Trees {
		for _, dir := range append(
			[]string{filepath.Join(t, "node_modules", k.Name)},
			matching(filepath.Join(t, "node_modules", ".pnpm", strings.ReplaceAll(k.Name, "/", "+")+"@"+k.Version+"*", "node_modules", k.Name))...,
		) {
			if l := manifestLicence(readLicence(filepath.Join(dir, "package.json")), k.Version); l != "" {
				return l
			}
		}
	}
	return ""
}

// manifestLicence reads the licence of a package.json or composer.json, empty where
// it is of another version.
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
	return joinLicences(all, " OR ")
}

func joinLicences(said []string, with string) string {
	var all []string
	for _, s := range said {
		if name := LicenceName(s); name != "" {
			all = append(all, name)
		}
	}
	return strings.Join(all, with)
}

// composer reads what is installed below vendor.
func (p LicencePlaces) composer(k stack.Package) string {
	for _, t := range p.Trees {
		if l := manifestLicence(readLicence(filepath.Join(t, "vendor", filepath.FromSlash(k.Name), "composer.json")), ""); l != "" {
			return l
		}
	}
	return ""
}

// python reads the descriptions of what is installed in virtual environments.
func (p LicencePlaces) python(k stack.Package) string {
	for _, dir := range p.installed(k) {
		for _, found := range []string{PythonMetadata(readLicence(filepath.Join(dir, "METADATA"))), inText(dir), inText(filepath.Join(dir, "licenses"))} {
			if found != "" {
				return found
			}
		}
	}
	return ""
}

// installed returns where virtual environments describe a distribution.
func (p LicencePlaces) installed(k stack.Package) []string {
	var patterns, dirs []string
	for _, t := range p.Trees {
		for _, venv := range []string{".venv", "venv", "env"} {
			patterns = append(patterns, filepath.Join(t, venv, "lib", "python*", "site-packages", "*.dist-info"), filepath.Join(t, venv, "Lib", "site-packages", "*.dist-info"))
		}
	}
	if venv := p.env("VIRTUAL_ENV"); filepath.IsAbs(venv) {
		patterns = append(patterns, filepath.Join(venv, "lib", "python*", "site-packages", "*.dist-info"))
	}
	for _, dir := range matching(patterns...) {
		name, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(dir), ".dist-info"), "-")
		if distribution(name) == distribution(k.Name) && (k.Version == "" || version == k.Version) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// distribution writes the name of a distribution as an index does.
func distribution(name string) string {
	return strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(name, "-"))
}

// PythonMetadata reads the licence out of the core metadata of a Python package: the
// expression where there is one, else the classifiers that tell which licence
// it is, else the free text.
func PythonMetadata(text string) string {
	var free string
	var classifiers []string
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break // the description follows
		}
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			if last == "license" {
				free += "\n" + strings.TrimPrefix(strings.TrimSpace(line), "|")
			}
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch last = strings.ToLower(key); last {
		case "license-expression":
			if l := LicenceName(value); l != "" {
				return l
			}
		case "license":
			free = value
		case "classifier":
			if l, ok := strings.CutPrefix(value, "License :: "); ok {
				classifiers = append(classifiers, strings.TrimPrefix(l, "OSI Approved :: "))
			}
		}
	}
	if len(classifiers) > 0 {
		known := true
		for _, c := range classifiers {
			known = known && byName(c) != ""
		}
		if known {
			return joinLicences(classifiers, " AND ") // nobody says whether one of them will do
		}
	}
	if l := LicenceName(free); l != "" {
		return l
	}
	return joinLicences(classifiers, " AND ")
}

// crate reads the Cargo.toml of a vendored crate, or of one that Cargo has
// unpacked.
func (p LicencePlaces) crate(k stack.Package) string {
	var dirs []string
	for _, t := range p.Trees {
		dirs = append(dirs, filepath.Join(t, "vendor", k.Name), filepath.Join(t, "vendor", k.Name+"-"+k.Version))
	}
	if home := p.at(p.env("CARGO_HOME"), ".cargo"); home != "" {
		dirs = append(dirs, matching(filepath.Join(home, "registry", "src", "*", k.Name+"-"+k.Version))...)
	}
	for _, dir := range dirs {
		text := readLicence(filepath.Join(dir, "Cargo.toml"))
		version := regexp.MustCompile(`(?m)^version\s*=\s*"([^"]*)"`).FindStringSubmatch(text)
		if version != nil && version[1] != k.Version {
			continue
		}
		if m := regexp.MustCompile(`(?m)^license\s*=\s*"([^"]*)"`).FindStringSubmatch(text); m != nil {
			return LicenceName(m[1])
		}
		if l := inText(dir); l != "" {
			return l
		}
	}
	return ""
}

// gem reads the specification of an installed gem.
func (p LicencePlaces) gem(k stack.Package) string {
	var homes []string
	for _, t := range p.Trees {
		homes = append(homes, matching(filepath.Join(t, "vendor", "bundle", "ruby", "*"))...)
	}
	homes = append(homes, filepath.SplitList(p.env("GEM_HOME")+string(filepath.ListSeparator)+p.env("GEM_PATH"))...)
	for _, dir := range []string{p.at("", ".gem", "ruby", "*"), p.at("", ".local", "share", "gem", "ruby", "*"), "/var/lib/gems/*", "/usr/share/rubygems-integration/*", "/usr/lib/ruby/gems/*"} {
		if dir != "" {
			homes = append(homes, matching(dir)...)
		}
	}
	list := regexp.MustCompile(`\.licenses?\s*=\s*(\[[^\]]*\]|"[^"]*"|'[^']*')`)
	quoted := regexp.MustCompile(`["']([^"']+)["']`)
	for _, home := range homes {
		if !filepath.IsAbs(home) {
			continue
		}
		spec := readLicence(filepath.Join(home, "specifications", k.Name+"-"+k.Version+".gemspec"))
		if m := list.FindStringSubmatch(spec); m != nil {
			var said []string
			for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
				said = append(said, q[1])
			}
			if l := joinLicences(said, " OR "); l != "" {
				return l
			}
		}
		if l := inText(filepath.Join(home, "gems", k.Name+"-"+k.Version)); l != "" {
			return l
		}
	}
	return ""
}

// maxParents bounds how far the licence of a POM is looked for above it.
const maxParents = 5

// maven reads a POM of the local repository, and those above it.
func (p LicencePlaces) maven(k stack.Package) string {
	home := p.at("", ".m2", "repository")
	group, artifact, ok := strings.Cut(k.Name, ":")
	if home == "" || !ok {
		return ""
	}
	version := k.Version
	for range maxParents {
		if group == "" || artifact == "" || version == "" || !filepath.IsLocal(filepath.Join(group, artifact, version)) {
			return ""
		}
		text := readLicence(filepath.Join(home, strings.ReplaceAll(group, ".", string(filepath.Separator)), artifact, version, artifact+"-"+version+".pom"))
		var pom struct {
			Licenses []struct {
				Name string `xml:"name"`
				URL  string `xml:"url"`
			} `xml:"licenses>license"`
			Parent struct {
				Group    string `xml:"groupId"`
				Artifact string `xml:"artifactId"`
				Version  string `xml:"version"`
			} `xml:"parent"`
		}
		if decodeLoose(text, &pom) != nil {
			return ""
		}
		var said []string
		for _, l := range pom.Licenses {
			name := l.Name
			if byName(name) == "" && byName(l.URL) != "" {
				name = l.URL
			}
			said = append(said, name)
		}
		if l := joinLicences(said, " AND "); l != "" { // nobody says whether one of them will do
			return l
		}
		group, artifact, version = strings.TrimSpace(pom.Parent.Group), strings.TrimSpace(pom.Parent.Artifact), strings.TrimSpace(pom.Parent.Version)
	}
	return ""
}

func decodeLoose(text string, into any) error {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return d.Decode(into)
}

// nuget reads the description of a package that was fetched.
func (p LicencePlaces) nuget(k stack.Package) string {
	home := p.at(p.env("NUGET_PACKAGES"), ".nuget", "packages")
	if home == "" || k.Version == "" {
		return ""
	}
	dir := filepath.Join(home, strings.ToLower(k.Name), strings.ToLower(k.Version))
	var spec struct {
		License struct {
			Type string `xml:"type,attr"`
			Text string `xml:",chardata"`
		} `xml:"metadata>license"`
		URL string `xml:"metadata>licenseUrl"`
	}
	if decodeLoose(readLicence(filepath.Join(dir, strings.ToLower(k.Name)+".nuspec")), &spec) != nil {
		return ""
	}
	text := strings.TrimSpace(spec.License.Text)
	switch {
	case spec.License.Type == "expression":
		return LicenceName(text)
	case spec.License.Type == "file" && filepath.IsLocal(text):
		return LicenceText(readLicence(filepath.Join(dir, text)))
	}
	if l, ok := strings.CutPrefix(strings.TrimSpace(spec.URL), "https://licenses.nuget.org/"); ok {
		return LicenceName(l)
	}
	return byName(spec.URL)
}
