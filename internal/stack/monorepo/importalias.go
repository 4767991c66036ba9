package monorepo

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// importAlias is a name under which scripts import the files at a path. Each may have one star, which
// stands for the same text in both.
type importAlias struct{ name, at string }

// readAliases records the aliases for packages in TypeScript configurations at the root and outside
// of all packages. A configuration that cannot be parsed may use any name for any of them.
func (w *packageDependencyFinder) readAliases(files []treeEntry) {
	for _, f := range files {
		if i, ok := w.packageIndex(f.name); ok && w.Packages[i].Dir != "." || !isTSConfig(path.Base(f.name)) {
			continue
		}
		all, ok := readImportAliases(gosource.ReadRegularFile(w.tree, f.name), path.Dir(f.name))
		for n, k := range w.kinds {
			if k.Name == "node" {
				w.addAliasNames(n, all, ok, f.name)
			}
		}
	}
}

// addAliasNames records the aliases of a configuration for the packages of a kind.
func (w *packageDependencyFinder) addAliasNames(kind int, all []importAlias, read bool, config string) {
	for i, p := range w.Packages {
		if !slices.Contains(p.Kinds, w.kinds[kind].Name) || p.Dir == "." {
			continue
		}
		if !read {
			w.markDependsOnAll(i, config+" cannot be read")
		}
		for _, a := range all {
			w.addAlias(kind, i, a)
		}
	}
}

// isTSConfig reports whether a file configures TypeScript or its JavaScript service.
func isTSConfig(base string) bool {
	ok, _ := path.Match("[tj]sconfig*.json", base)
	return ok
}

// readImportAliases reads the aliases of a configuration in a directory; false if they cannot be
// parsed.
func readImportAliases(text, dir string) (all []importAlias, ok bool) {
	var c struct {
		CompilerOptions struct {
			BaseURL string `json:"baseUrl"`
			Paths   map[string][]string
		}
	}
	if err := json.Unmarshal(stripJSONComments(text), &c); err != nil {
		return nil, !strings.Contains(text, `"paths"`)
	}
	if base := c.CompilerOptions.BaseURL; base != "" {
		all = append(all, importAlias{"*", path.Join(dir, base, "*")})
	}
	for name, targets := range c.CompilerOptions.Paths {
		for _, at := range targets {
			all = append(all, importAlias{name, path.Join(dir, c.CompilerOptions.BaseURL, at)})
		}
	}
	return all, true
}

// addAlias records an alias for a package, if it leads there. If the name is not specific enough
// to recognize scripts that use it, all scripts need the package.
func (w *packageDependencyFinder) addAlias(kind, i int, a importAlias) {
	dir := w.Packages[i].Dir
	called, ending, starred := strings.Cut(a.name, "*")
	before, after, star := strings.Cut(a.at, "*")
	at := before
	if star { // a directory, and perhaps the beginning of a name in it
		at = path.Dir(before + "x")
	}
	known := !starred || strings.HasSuffix(called, "/")
	if own, ok := w.packageIndex(at); !ok || own != i {
		stands, ok := strings.CutPrefix(dir, before)
		if !star || !ok {
			return
		}
		called += strings.TrimSuffix(stands, after)
		known = startsNamePart(ending) && startsNamePart(after)
	}
	name := strings.TrimSuffix(called, "/")
	if name == "" || strings.Contains(name, "$") || !known {
		w.common[i] = true
		return
	}
	if !slices.Contains(w.names[kind][name], i) {
		w.names[kind][name] = append(w.names[kind][name], i)
	}
}

// shareUnknownNames makes all packages with scripts depend on the packages that scripts may import by any
// name.
func (w *packageDependencyFinder) shareUnknownNames() {
	for i := range w.Packages {
		if !slices.Contains(w.Packages[i].Kinds, "node") {
			continue
		}
		for to := range w.common {
			w.needs[i][to] = true
		}
	}
}

// startsNamePart reports whether the text after a star begins a new part of a name.
func startsNamePart(text string) bool { return text == "" || text[0] == '/' || text[0] == '.' }

// stripJSONComments returns the JSON of a TypeScript configuration without comments and without commas
// before a closing bracket.
func stripJSONComments(text string) []byte {
	text = strings.TrimPrefix(text, "\uFEFF")
	var out []byte
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case rest[0] == '"':
			end := 1
			for end < len(rest) && rest[end] != '"' {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(rest)-1)
			out = append(out, rest[:end+1]...)
			i += end
		case strings.HasPrefix(rest, "//"):
			line, _, _ := strings.Cut(rest, "\n")
			i += len(line) - 1
		case strings.HasPrefix(rest, "/*"):
			comment, _, _ := strings.Cut(rest[2:], "*/")
			i += len(comment) + 3
		case rest[0] == '}' || rest[0] == ']':
			out = append(bytes.TrimSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(",")), rest[0])
		default:
			out = append(out, rest[0])
		}
	}
	return out
}
