package definitionofdone

import (
	"fmt"
	stdpath "path"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// deletionFindings returns findings for files that a change deletes or rewrites although
// its task does not name them, each with the submission's explanation. A moved file is not
// deleted, and generated files do not count.
func deletionFindings(r nexus.DefinitionOfDone, m MeasuredChange) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range m.Files {
		what := ""
		switch {
		case f.New, isGenerated(f.Path):
		case f.Gone && f.MovedTo != "":
			if isMovedAway(f.Path, f.MovedTo) {
				what = fmt.Sprintf("the file was renamed to %s", f.MovedTo)
			}
		case f.Gone:
			what = fmt.Sprintf("the file is deleted, with %d lines", f.Removed)
		case f.Was > 0 && f.Removed >= f.Was && len(f.Added) == 0:
			what = fmt.Sprintf("the file is emptied: its %d lines are gone", f.Was)
		case r.Rewritten > 0 && isRewritten(r, f):
			what = fmt.Sprintf("the file is rewritten: %d of its %d lines are gone", f.Removed, f.Was)
		}
		if what == "" || m.isPlanned(f.Path) || m.Task != nil && m.Task.namesFile(f.Path) {
			continue
		}
		found = append(found, nexus.Finding{File: f.Path, Message: what})
		if m.Task != nil {
			last := &found[len(found)-1]
			last.Name, last.Advice = f.Path, "Restore it, unless the task cannot be done otherwise."
			last.Message += ", and the task does not name it"
		}
	}
	if m.Task != nil {
		found = tamper.AddExplanations(found, m.Task.Said)
	}
	return found
}

// stub is the number of lines from which a file counts as rewritten if none of them stays.
const stub = 5

func isRewritten(r nexus.DefinitionOfDone, f FileChange) bool {
	return f.Removed >= r.Rewritten && f.Removed*100 >= r.RewrittenOf*f.Was || f.Removed >= stub && f.Removed == f.Was
}

// NeedsLineCount reports whether the file's earlier number of lines is needed.
func (f FileChange) NeedsLineCount(r nexus.DefinitionOfDone) bool {
	return !f.New && !f.Gone && f.Removed > 0 && (len(f.Added) == 0 || r.Rewritten > 0 && f.Removed >= min(stub, r.Rewritten))
}

// isMovedAway reports whether a file was moved to a place where its users no longer find it:
// its name has an added suffix, or it or a directory has an added mark in front.
func isMovedAway(from, to string) bool {
	base, now := stdpath.Base(from), stdpath.Base(to)
	if now != base && strings.HasPrefix(now, base) || slices.Contains([]string{".bak", ".old", ".orig", ".disabled", ".off", ".tmp"}, stdpath.Ext(to)) {
		return true
	}
	marked := func(path string) bool {
		return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") })
	}
	return marked(to) && !marked(from)
}

// namesFile reports whether a task names a file: in its text, or as a whole in the command of a
// check. A directory in a check's command does not count for its files.
func (t TaskWording) namesFile(file string) bool {
	if isMentioned(file, t.Texts) {
		return true
	}
	for _, check := range t.Checks {
		if slices.ContainsFunc(strings.FieldsFunc(check, isSeparator), func(w string) bool { return strings.TrimPrefix(w, "./") == file }) {
			return true
		}
	}
	return false
}

// ExplainedFindings returns the explained removals and added build outputs of a change: a
// reviewer must approve each by name before the change lands.
func ExplainedFindings(all []nexus.GateEvidence) []nexus.Finding {
	var found []nexus.Finding
	for _, e := range all {
		for _, f := range e.Findings {
			if (e.Gate == nexus.DonePrefix+nexus.DeletionBound || e.Gate == nexus.DonePrefix+nexus.BuiltBound) && f.Name != "" && f.Explained != "" {
				found = append(found, f)
			}
		}
	}
	return found
}

// isMentioned reports whether texts name a file: by its path or the path's end, by a directory,
// or by a pattern. The name of a file without an extension counts if it has a capital letter,
// such as Makefile.
func isMentioned(file string, texts []string) bool {
	base := stdpath.Base(file)
	for _, text := range texts {
		for _, w := range strings.FieldsFunc(text, isSeparator) {
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

// isSeparator reports whether a character cannot be part of a path.
func isSeparator(r rune) bool {
	return unicode.IsSpace(r) || slices.Contains([]rune("`\"'()[]{}<>,;|!?"), r)
}
