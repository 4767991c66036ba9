package bounds

import (
	"fmt"
	stdpath "path"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/done"
)

// taken names the files that a change deletes or rewrites and its task does not
// name, each with what its submission says. A file that was moved is not
// deleted, and one that tools write is nobody's.
func taken(r done.Rules, m Measured) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range m.Files {
		what := ""
		switch {
		case f.New, f.Moved, lock(f.Path):
		case f.Gone:
			what = fmt.Sprintf("the file is deleted, with %d lines", f.Removed)
		case r.Rewritten > 0 && f.Removed >= r.Rewritten && f.Removed*100 >= r.RewrittenOf*f.Was:
			what = fmt.Sprintf("the file is rewritten: %d of its %d lines are gone", f.Removed, f.Was)
		}
		if what == "" || m.planned(f.Path) || m.Task != nil && mentioned(f.Path, m.Task.Texts) {
			continue
		}
		found = append(found, nexus.Finding{File: f.Path, Message: what})
		if m.Task != nil {
			last := &found[len(found)-1]
			last.Name, last.Advice = f.Path, "Put it back, unless the task cannot be done without that."
			last.Message += ", and the task does not name it"
		}
	}
	if m.Task != nil {
		found = tamper.Explain(found, m.Task.Said)
	}
	return found
}

// Taken returns what a change takes away and explains, and what a reviewer has
// to agree to by name before it lands.
func Taken(all []nexus.Evidence) []nexus.Finding {
	var found []nexus.Finding
	for _, e := range all {
		for _, f := range e.Findings {
			if e.Gate == done.Prefix+done.Deletion && f.Name != "" && f.Explained != "" {
				found = append(found, f)
			}
		}
	}
	return found
}

// mentioned reports whether texts name a file: by its path or the end of it, by a
// directory that it is in, or by a pattern. The name of a file without an ending
// counts where it has a capital, such as Makefile.
func mentioned(file string, texts []string) bool {
	base := stdpath.Base(file)
	for _, text := range texts {
		for _, w := range strings.FieldsFunc(text, apart) {
			w = strings.TrimPrefix(strings.TrimRight(w, ".:"), "./")
			dir := strings.TrimSuffix(strings.TrimSuffix(w, "/**"), "/")
			pattern := strings.Contains(w, "*") && strings.Trim(w, "*./") != ""
			whole, _ := stdpath.Match(w, file)
			last, _ := stdpath.Match(w, base)
			switch {
			case w == "":
			case w == file, pattern && (whole || last):
				return true
			case strings.Contains(w, "/") && (strings.HasPrefix(file, dir+"/") || strings.HasSuffix(file, "/"+w)):
				return true
			case w == base && (strings.Contains(strings.Trim(base, "."), ".") || strings.ContainsFunc(base, unicode.IsUpper)):
				return true
			}
		}
	}
	return false
}

// apart reports whether a character is no part of a path.
func apart(r rune) bool {
	return unicode.IsSpace(r) || slices.Contains([]rune("`\"'()[]{}<>,;|!?"), r)
}
