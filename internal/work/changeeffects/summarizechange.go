package changeeffects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Limits of reading a change.
const (
	mostWeighed = 200 // files whose lines get marks
	mostMarks   = 4000
)

// SummarizeChange returns the differences between two commits that decide whether the change
// may land without a person. A reason is part of the marks of its lines.
func SummarizeChange(ctx context.Context, repo git.Repo, from, to, reason string) (nexus.LoopItemChange, error) {
	var c nexus.LoopItemChange
	names, err := ChangedNames(ctx, repo, from, to)
	if err != nil {
		return c, err
	}
	for n, f := range names {
		c.Files = append(c.Files, f.Path)
		base := strings.ToLower(path.Base(f.Path))
		if stack.IsManifest(f.Path) || stack.IsToolWrittenFile(base) || strings.HasPrefix(base, "requirements") {
			c.Dependencies = append(c.Dependencies, f.Path)
		}
		for _, x := range slices.Concat(f.Changed, f.Gone) {
			c.Public = append(c.Public, x.Name+" in "+f.Path)
		}
		if n < mostWeighed && len(c.Touched) < mostMarks {
			before, after := plainTextLines(fileTextAt(ctx, repo, from, f.Path)), plainTextLines(fileTextAt(ctx, repo, to, f.Path))
			c.Touched = append(c.Touched, differingLineMarks(reason, f.Path, before, after)...)
		}
	}
	c.Touched = c.Touched[:min(len(c.Touched), mostMarks)]
	added, deleted, err := CountLines(ctx, repo, from, to)
	c.Lines = added + deleted
	return c, err
}

// CountLines returns the number of lines that a change adds and removes.
func CountLines(ctx context.Context, repo git.Repo, from, to string) (added, deleted int, err error) {
	out, err := repo.Run(ctx, "diff-tree", "-r", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", "--end-of-options", from, to)
	for line := range strings.Lines(out) {
		for n, word := range strings.Fields(line) {
			switch count, err := strconv.Atoi(word); {
			case err != nil: // a dash, for a binary file
			case n == 0:
				added += count
			case n == 1:
				deleted += count
			}
		}
	}
	return added, deleted, err
}

func plainTextLines(text string) []string {
	if strings.ContainsRune(text, 0) {
		return nil
	}
	return strings.Split(text, "\n")
}

// differingLineMarks returns the marks of lines that are in only one of two versions of a file. A
// line that only moved is in both.
func differingLineMarks(reason, file string, before, after []string) []string {
	was, is := lineMarks(reason, file, before), lineMarks(reason, file, after)
	var all []string
	only := func(these, those []string) {
		left := map[string]int{}
		for _, m := range those {
			left[m]++
		}
		for _, m := range these {
			if left[m]--; m != "" && left[m] < 0 && !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	only(was, is)
	only(is, was)
	return all
}

// LineMarks returns an identifier for each line of a file, based on its text and a reason and not
// on its number; "" for a line with almost no text.
func LineMarks(reason, file, text string) []string {
	return lineMarks(reason, file, plainTextLines(text))
}

func lineMarks(reason, file string, lines []string) []string {
	times := map[string]int{}
	plain := make([]string, len(lines))
	for i, line := range lines {
		plain[i] = strings.Join(strings.Fields(line), " ")
		times[plain[i]]++
	}
	all := make([]string, len(lines))
	last := ""
	for i, line := range plain {
		if countSignificantCharacters(line) < 3 {
			continue
		}
		mark := line
		if times[line] > 1 { // an equal line exists: the lines above tell them apart
			mark = last + "\n" + line
		}
		sum := sha256.Sum256([]byte(reason + "\x00" + file + "\x00" + mark))
		all[i], last = hex.EncodeToString(sum[:8]), line
	}
	return all
}

// countSignificantCharacters counts characters other than spaces and brackets.
func countSignificantCharacters(line string) int {
	n := 0
	for _, r := range line {
		if !strings.ContainsRune(" \t{}()[];,:", r) {
			n++
		}
	}
	return n
}
