package codemap

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Sketch draws one file as a map does.
func Sketch(name, text string) string {
	f := surveyedFile{path: name}
	if f.lang, f.shown = languageOf(knownLanguages(), name); f.lang == nil {
		return printableText(name)
	}
	f.fileOutline = f.lang.outlineText(text)
	x := codePathIndex{whole: map[string]int{}, dirs: map[string]string{}}
	x.addFile(name, 0, f.lang.Stands)
	for _, i := range f.imports {
		x.findFile(name, i, true)
		x.findFile(name, i, false)
	}
	var all []scoredDeclaration
	for _, d := range f.declares {
		all = append(all, scoredDeclaration{declarationLine: d})
	}
	return f.drawFile(all, maxDeclared)
}

// MaxShown is how many files of a tree a survey has.
const MaxShown = maxShown

// Follow follows a survey of n files to another commit, and returns how many
// files are left of it.
func Follow(ctx context.Context, repo git.Repo, from, to string, n int) (files int, known bool, err error) {
	s := &CommitSurvey{commit: to, repo: repo, langs: knownLanguages()}
	known, err = s.updateFromEarlier(ctx, &CommitSurvey{commit: from, files: make([]surveyedFile, n)})
	return len(s.files), known, err
}
