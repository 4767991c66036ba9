package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Interfaces returns patterns of the files that a user interface is made of:
// what shows it, what drives it, and what says which libraries it has.
func Interfaces() []string {
	return []string{
		"*.html", "*.htm", "*.css", "*.scss", "*.sass", "*.less", "*.jsx", "*.tsx", "*.vue", "*.svelte", "*.astro", "*.mdx",
		"*.ejs", "*.hbs", "*.pug", "*.erb", "*.haml", "*.twig", "*.jinja", "*.j2", "*.cshtml", "*.razor", "*.tmpl", "*.svg",
		"**/templates/**", "**/views/**", "**/components/**", "**/pages/**", "**/public/**", "**/static/**", "**/e2e/**",
		"playwright.config.*", "cypress.config.*", "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock*",
	}
}

// Apart says why a gate does not concern a change: what it judges is not among
// the files that changed, and it is no criterion's check. It is empty where the
// gate judges any change, or this one.
func Apart(g Gate, changed []string, criteria []nexus.Criterion) string {
	if len(g.Only) == 0 || slices.ContainsFunc(criteria, func(c nexus.Criterion) bool { return strings.TrimSpace(c.Check) == g.Name }) {
		return ""
	}
	for _, file := range changed {
		if slices.ContainsFunc(g.Only, func(p string) bool { return matches(p, file) }) {
			return ""
		}
	}
	return "the change touches no file of the user interface (gates.ui)"
}

// matches reports whether a pattern fits a file: one without a slash its name,
// any other the path, in which ** stands for any directories, or none.
func matches(pattern, file string) bool {
	if !strings.Contains(pattern, "/") {
		ok, _ := path.Match(pattern, path.Base(file)) // a bad pattern fits nothing
		return ok
	}
	return below(strings.Split(pattern, "/"), strings.Split(file, "/"))
}

func below(pattern, file []string) bool {
	if len(pattern) == 0 || len(file) == 0 {
		return len(pattern) == len(file)
	}
	if pattern[0] == "**" {
		return len(pattern) == 1 || below(pattern[1:], file) || below(pattern, file[1:])
	}
	ok, _ := path.Match(pattern[0], file[0])
	return ok && below(pattern[1:], file[1:])
}

// apart is [Runner.Apart] where there is one.
func (r Runner) apart(g Gate) string {
	if r.Apart == nil {
		return ""
	}
	return r.Apart(g)
}
