package related

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// crates finds the crates of a workspace that a change concerns: those that it
// touches, and those whose manifests name one of these.
func (s *survey) crates(g gate.Gate) Choice {
	names := map[string]string{} // by directory
	texts := map[string]string{} // manifests, by name
	title := regexp.MustCompile(`(?m)^\[package\](?:\n[^\[]*?)?\nname\s*=\s*"([^"]+)"`)
	for _, f := range s.all() {
		if path.Base(f) != "Cargo.toml" {
			continue
		}
		if _, here := local(g, f); !here {
			continue
		}
		text := strings.ReplaceAll(s.read(f), "\r\n", "\n")
		if m := title.FindStringSubmatch(text); m != nil && !option(m[1]) {
			names[path.Dir(f)], texts[m[1]] = m[1], text
		}
	}
	hit, why := s.owners(g, names)
	if why != "" {
		return every("%s", why)
	}
	for i := 0; i < len(hit); i++ {
		needs := regexp.MustCompile(`(?m)^(?:\[[\w.'"()=\- ]*dependencies\.)?"?` + regexp.QuoteMeta(hit[i]) + `"?\s*[\].=]|package\s*=\s*"` + regexp.QuoteMeta(hit[i]) + `"`)
		for name, text := range texts {
			if !slices.Contains(hit, name) && needs.MatchString(text) {
				hit = append(hit, name)
			}
		}
	}
	slices.Sort(hit)
	switch {
	case len(hit) == 0:
		return none()
	case len(hit) == len(texts):
		return every("the change affects all %d crates", len(texts))
	}
	return Choice{Some: true, Tests: hit}
}

// owners returns the crates that the changed files belong to, or why that
// cannot be told. Names are those of the crates by directory.
func (s *survey) owners(g gate.Gate, names map[string]string) (hit []string, why string) {
	for _, f := range s.changed {
		if _, here := local(g, f); !here || idle(f) {
			continue
		}
		owner := ""
		for _, dir := range above(f) {
			if owner = names[dir]; owner != "" {
				break
			}
		}
		if path.Ext(f) != ".rs" || owner == "" {
			return nil, f + " is not a source file of a crate"
		}
		if !slices.Contains(hit, owner) {
			hit = append(hit, owner)
		}
	}
	return hit, ""
}
