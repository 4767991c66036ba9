package stack

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// mostMissing limits the number of paths that [MissingPaths] returns.
const mostMissing = 50

// MissingPaths returns the paths below the root that a message about something missing may
// refer to: files by their names, and modules as far as their names are those of files. Dir is
// the directory in which the command ran and file the message's position; relative names may
// refer to either. A path that ends in a slash is a directory. The caller must check which of
// them are really missing.
func MissingPaths(dir, file, message string) []string {
	missing := regexp.MustCompile(`(?i)no such file|not found|ENOENT|(?:cannot|can't|can ?not|could not|couldn't|unable to|failed to) (?:find|open|load|read|resolve|access|stat|import)|(?:does not|doesn't) exist|no module named|no required module provides|is not in (?:std|goroot)|not a module|unresolved import|missing`)
	word := regexp.MustCompile("[^\\s'\"`()<>\\[\\]{},;|=\u2018\u2019\u201c\u201d]+")
	module := regexp.MustCompile(`No module named '?"?([\w.]+)`)
	var all []string
	add := func(names ...string) {
		for _, name := range names {
			if name, ok := cleanRelative(name); ok && len(all) < mostMissing && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	for l := range strings.Lines(message) {
		l = l[:min(len(l), 4096)]
		if !missing.MatchString(l) {
			continue
		}
		if m := module.FindStringSubmatch(l); m != nil {
			name := strings.ReplaceAll(strings.Trim(m[1], "."), ".", "/")
			for _, in := range []string{dir, path.Dir(file)} {
				add(path.Join(in, name+".py"), path.Join(in, name)+"/")
			}
			continue
		}
		for _, w := range word.FindAllString(l, -1) {
			add(possiblePaths(w, dir, file)...)
		}
	}
	return all
}

// cleanRelative cleans a path and reports whether it is below the root.
func cleanRelative(name string) (string, bool) {
	end := ""
	if strings.HasSuffix(name, "/") {
		end = "/"
	}
	name = path.Clean(name)
	return name + end, name != "." && !path.IsAbs(name) && !strings.HasPrefix(name, "..")
}

// possiblePaths returns the paths that a word of a message may refer to.
func possiblePaths(w, dir, file string) []string {
	w = strings.TrimRight(strings.TrimPrefix(w, "file://"), ".:!?")
	if !strings.ContainsAny(w, "/.") || strings.Contains(w, "://") || path.IsAbs(w) || strings.Trim(w, "./") == "" {
		return nil
	}
	var all []string
	for _, in := range []string{dir, path.Dir(file)} {
		all = append(all, path.Join(in, w))
		if path.Ext(w) == "" && strings.HasPrefix(w, ".") { // a module of JavaScript
			all = append(all, path.Join(in, w)+".js", path.Join(in, w)+".ts", path.Join(in, w)+".json", path.Join(in, w)+"/")
		}
	}
	for host, rest, ok := strings.Cut(w, "/"); ok && (strings.Contains(host, ".") || !strings.Contains(w, ".")); _, rest, ok = strings.Cut(rest, "/") {
		all = append(all, path.Join(dir, rest)+"/") // a package of a Go module
	}
	return all
}
