package codemap

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Sketch draws one file as a map does.
func Sketch(name, text string) string {
	f := file{path: name}
	if f.lang, f.shown = of(languages(), name); f.lang == nil {
		return plain(name)
	}
	f.outline = f.lang.outline(text)
	x := index{whole: map[string]int{}, dirs: map[string]string{}}
	x.add(name, 0, f.lang.Stands)
	for _, i := range f.imports {
		x.find(name, i, true)
		x.find(name, i, false)
	}
	var all []scoredLine
	for _, d := range f.declares {
		all = append(all, scoredLine{declared: d})
	}
	return f.draw(all, maxDeclared)
}

// MaxShown is how many files of a tree a survey has.
const MaxShown = maxShown

// Follow follows a survey of n files to another commit, and returns how many
// files are left of it.
func Follow(ctx context.Context, repo git.Repo, from, to string, n int) (files int, known bool, err error) {
	s := &Survey{commit: to, repo: repo, langs: languages()}
	known, err = s.follow(ctx, &Survey{commit: from, files: make([]file, n)})
	return len(s.files), known, err
}
