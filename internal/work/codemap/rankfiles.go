package codemap

import (
	"cmp"
	"context"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// MapQuery is the subject of a map. The zero MapQuery asks for an overview of the
// repository.
type MapQuery struct {
	Task   string   // words of the task
	Goal   string   // words of the goal that it is part of, which count less
	Files  []string // files that its plan names
	Landed []string // files that changed since the run began
	Own    string   // directory of the task's package; empty: none
	Near   []string // directories of the packages that this one needs
}

// isEmpty reports whether the subject is empty.
func (a MapQuery) isEmpty() bool {
	return strings.TrimSpace(a.Task+a.Goal) == "" && len(a.Files) == 0
}

// packageWeight returns the weight of a file by its package.
func (a MapQuery) packageWeight(file string) float64 {
	switch {
	case a.Own == "":
		return 1
	case isUnderDirectory(a.Own, file):
		return ofOwn
	case slices.ContainsFunc(a.Near, func(dir string) bool { return dir != "." && isUnderDirectory(dir, file) }):
		return 1
	default:
		return ofOther
	}
}

// isListed reports whether a map includes the file in its file list.
func (a MapQuery) isListed(file string) bool { return a.Own == "" || a.packageWeight(file) >= 1 }

func isUnderDirectory(dir, file string) bool { return strings.HasPrefix(file, dir+"/") }

// The weights of a file's score.
const (
	ofGoal   = 0.4  // weight of a word of the goal, relative to one of the task
	inPath   = 2.5  // a word in its path
	inName   = 1.5  // a word in the name of a declaration
	planned  = 1000 // the plan names it
	landed   = 1.5  // it changed since the run began
	ofTests  = 0.4  // weight of a test, relative to the tested file
	ofOwn    = 3.0  // of a file of the task's package, relative to a package that this needs
	ofOther  = 0.3  // weight of a file of any other package
	saturate = 1.2  // how soon repeated words count less
	slope    = 0.6  // how much a long file counts less
	least    = 0.3  // share of the best file's score below which a file is not shown
	mostRead = 24   // files of which declarations are shown
)

// weightedQueryWord is a word of the subject, with its weight.
type weightedQueryWord struct {
	hash   uint32
	weight float64 // rarer words weigh more
}

// rankFiles returns the files that match a subject, the best first, with their scores, and the
// words that matched.
func (s *CommitSurvey) rankFiles(a MapQuery) (files []int, scores map[int]float64, words map[string]weightedQueryWord) {
	wanted := weightedWords(weightedText{a.Task, 1}, weightedText{a.Goal, ofGoal})
	words = map[string]weightedQueryWord{}
	total, lines := 0.0, 0.0
	in := map[uint32]float64{}
	for _, f := range s.files {
		if f.lines == 0 {
			continue
		}
		total++
		lines += float64(f.lines)
		for w := range wanted {
			if wordFrequency(f.words, hashWord(w)) > 0 {
				in[hashWord(w)]++
			}
		}
	}
	for w, weight := range wanted {
		if n := in[hashWord(w)]; n > 0 {
			words[w] = weightedQueryWord{hashWord(w), weight * math.Log(1+(total-n+0.5)/(n+0.5))}
		}
	}
	scores = map[int]float64{}
	for i, f := range s.files {
		if f.lang == nil || !f.shown {
			continue
		}
		score := s.scoreFile(f, words, lines/max(1, total), wanted)
		if stack.ServesTests(f.path) {
			score *= ofTests
		}
		if slices.Contains(a.Landed, f.path) && score > 0 {
			score *= landed
		}
		score *= a.packageWeight(f.path)
		if slices.Contains(a.Files, f.path) {
			score += planned
		}
		if score > 0 {
			scores[i] = score
			files = append(files, i)
		}
	}
	slices.SortStableFunc(files, func(x, y int) int {
		return cmp.Or(cmp.Compare(scores[y], scores[x]), cmp.Compare(s.files[y].score, s.files[x].score), cmp.Compare(x, y))
	})
	return files, scores, words
}

// scoreFile returns how well a file matches the words of a subject.
func (s *CommitSurvey) scoreFile(f surveyedFile, words map[string]weightedQueryWord, usual float64, wanted map[string]float64) float64 {
	score := 0.0
	long := 1 - slope + slope*float64(f.lines)/max(1, usual)
	names := map[string]bool{}
	for _, d := range f.declares {
		forEachWord(d.name, func(w string) { names[w] = true })
	}
	inPaths := map[string]bool{}
	forEachWord(strings.TrimSuffix(f.path, path.Ext(f.path)), func(w string) { inPaths[w] = true })
	for _, w := range slices.Sorted(maps.Keys(wanted)) { // in order, so that sums are the same each time
		a, ok := words[w]
		if !ok {
			if inPaths[w] { // it is only in the path
				score += inPath * wanted[w]
			}
			continue
		}
		if n := wordFrequency(f.words, a.hash); n > 0 {
			score += a.weight * n * (saturate + 1) / (n + saturate*long)
		}
		if names[w] {
			score += a.weight * inName
		}
		if inPaths[w] {
			score += a.weight * inPath
		}
	}
	if score > 0 {
		score *= 1 + 0.05*math.Log1p(float64(f.lines))
	}
	return score
}

// scoredDeclaration is a declaration with its score.
type scoredDeclaration struct {
	declarationLine
	score float64
}

// scoreDeclarations returns the declarations of files with their scores, in the order of the file.
func (s *CommitSurvey) scoreDeclarations(ctx context.Context, files []int, words map[string]weightedQueryWord) (map[int][]scoredDeclaration, error) {
	all := map[int][]scoredDeclaration{}
	var read []int
	for _, i := range files {
		if s.files[i].lines > 0 {
			read = append(read, i)
		}
	}
	order := slices.Sorted(maps.Keys(words))
	err := s.forEachText(ctx, s.repo, read, func(i int, text string) {
		f := s.files[i]
		lines := strings.SplitAfter(text, "\n")
		for n, d := range f.declares {
			end := len(lines)
			if n+1 < len(f.declares) {
				end = f.declares[n+1].line - 1
			}
			one := scoredDeclaration{declarationLine: d}
			body := countWords(strings.Join(lines[min(d.line-1, len(lines)):min(end, len(lines))], ""))
			name := map[string]bool{}
			forEachWord(d.name, func(w string) { name[w] = true })
			for _, w := range order {
				a := words[w]
				if n := wordFrequency(body, a.hash); n > 0 {
					one.score += a.weight * n * (saturate + 1) / (n + saturate)
				}
				if name[w] {
					one.score += a.weight * inPath
				}
			}
			if !d.private {
				one.score *= 1.1
			}
			all[i] = append(all[i], one)
		}
	})
	return all, err
}
