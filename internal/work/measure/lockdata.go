package measure

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strings"
)

// npm reads its lock file, which names licences.
func npm(text string) []Package {
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			License any    `json:"license"`
			Link    bool   `json:"link"`
		} `json:"packages"`
	}
	if json.Unmarshal([]byte(text), &lock) != nil {
		return nil
	}
	var all []Package
	for at, p := range lock.Packages {
		i := strings.LastIndex(at, "node_modules/")
		if i < 0 || p.Link {
			continue
		}
		found := Package{Kind: NodeKind, Name: at[i+len("node_modules/"):], Version: p.Version}
		if licence, _ := p.License.(string); licence != "" {
			found.Licences = []string{licence}
		}
		all = append(all, found)
	}
	return sortedPackages(all)
}

// pipfile reads a Pipfile.lock.
func pipfile(text string) []Package {
	var lock map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &lock) != nil {
		return nil
	}
	var all []Package
	for _, part := range []string{"default", "develop"} {
		var rows map[string]struct {
			Version string `json:"version"`
		}
		if json.Unmarshal(lock[part], &rows) != nil {
			continue
		}
		for name, p := range rows {
			all = append(all, Package{Kind: PythonKind, Name: strings.ToLower(name), Version: strings.TrimLeft(p.Version, "=")})
		}
	}
	return sortedPackages(all)
}

// composer reads its lock file, which names licences: any of them will do.
func composer(text string) []Package {
	type row struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		License any    `json:"license"`
	}
	var lock struct {
		Packages []row `json:"packages"`
		Dev      []row `json:"packages-dev"`
	}
	if json.Unmarshal([]byte(text), &lock) != nil {
		return nil
	}
	var all []Package
	for _, p := range slices.Concat(lock.Packages, lock.Dev) {
		found := Package{Kind: PHPKind, Name: p.Name, Version: strings.TrimPrefix(p.Version, "v")}
		switch l := p.License.(type) {
		case string:
			found.Licences = []string{l}
		case []any:
			for _, one := range l {
				if s, ok := one.(string); ok {
					found.Licences = append(found.Licences, s)
				}
			}
		}
		all = append(all, found)
	}
	return sortedPackages(all)
}

// nuget reads a packages.lock.json.
func nuget(text string) []Package {
	var lock struct {
		Dependencies map[string]map[string]struct {
			Type     string `json:"type"`
			Resolved string `json:"resolved"`
		} `json:"dependencies"`
	}
	if json.Unmarshal([]byte(text), &lock) != nil {
		return nil
	}
	var all []Package
	for _, rows := range lock.Dependencies {
		for name, p := range rows {
			if p.Type != "Project" {
				all = append(all, Package{Kind: NuGetKind, Name: strings.ToLower(name), Version: p.Resolved})
			}
		}
	}
	return sortedPackages(all)
}

// projectFile reads the packages that a project of .NET refers to.
func projectFile(text string) []Package {
	var all []Package
	walkXML(text, func(path []string, e xml.StartElement, _ func() string) {
		name := e.Name.Local
		if name != "PackageReference" && name != "PackageVersion" {
			return
		}
		p := Package{Kind: NuGetKind}
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

// pom reads the dependencies of a project of Maven, with the properties that
// stand in the same file.
func pom(text string) []Package {
	var all []Package
	var at Package
	properties := map[string]string{}
	walkXML(text, func(path []string, e xml.StartElement, value func() string) {
		depth := len(path)
		managed := slices.Contains(path, "dependencyManagement") || slices.Contains(path, "plugin") || slices.Contains(path, "exclusion")
		switch {
		case depth > 1 && path[depth-1] == "properties":
			properties[e.Name.Local] = value()
		case managed:
		case e.Name.Local == "dependency" && depth > 0 && path[depth-1] == "dependencies":
			all = append(all, at)
			at = Package{Kind: MavenKind}
		case depth > 0 && path[depth-1] == "dependency":
			switch e.Name.Local {
			case "groupId":
				at.Name = value() + at.Name
			case "artifactId":
				at.Name += ":" + value()
			case "version":
				at.Version = value()
			}
		}
	})
	all = append(all, at)
	property := regexp.MustCompile(`\$\{([^}]*)\}`)
	for i := range all {
		all[i].Version = property.ReplaceAllStringFunc(all[i].Version, func(p string) string { return properties[p[2:len(p)-1]] })
	}
	return sortedPackages(slices.DeleteFunc(all, func(p Package) bool { return p.Kind == "" || !strings.Contains(strings.Trim(p.Name, ":"), ":") }))
}

// maxXMLDepth bounds how deep elements lie in others.
const maxXMLDepth = 100

// walkXML calls see for each element, with the names of those around it and what
// reads the text in it.
func walkXML(text string, see func(path []string, e xml.StartElement, value func() string)) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var path []string
	for {
		t, err := d.Token()
		if err != nil || len(path) > maxXMLDepth {
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
