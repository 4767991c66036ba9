package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
)

// diffBytes limits the diff in a prompt.
const diffBytes = 50_000

// sideBytes limits one side of a merge in a prompt.
const sideBytes = 20_000

// maxNamed limits the files that are named without their contents.
const maxNamed = 100

// CutDiff cuts a git diff to a number of bytes. Every file gets a fair share: small ones stay
// whole, and large ones share the rest. A note at the end lists the cuts.
func CutDiff(diff string, bytes int) string {
	if len(diff) <= bytes {
		return diff
	}
	files := diffreview.SplitPatchByFile(diff)
	shares := shareBytesFairly(files, bytes)
	var b, note strings.Builder
	cut := 0
	for i, f := range files {
		shown := truncateToWholeLines(f, shares[i])
		b.WriteString(shown)
		if len(shown) == len(f) {
			continue
		}
		if cut++; cut <= maxNamed {
			fmt.Fprintf(&note, "\n- %s: %d of %d lines shown", diffPath(f), strings.Count(shown, "\n"), strings.Count(f, "\n"))
		}
	}
	if cut > maxNamed {
		fmt.Fprintf(&note, "\n- and %d more files", cut-maxNamed)
	}
	fmt.Fprintf(&b, "[... the diff has %d bytes; cut for length:%s ...]\n", len(diff), note.String())
	return b.String()
}

// shareBytesFairly distributes bytes among files: no file gets more than the largest possible equal share.
func shareBytesFairly(files []string, bytes int) []int {
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(files[a]) - len(files[b]) })
	shares := make([]int, len(files))
	for n, i := range order {
		shares[i] = min(len(files[i]), bytes/(len(order)-n))
		bytes -= shares[i]
	}
	return shares
}

// truncateToWholeLines returns the longest beginning of whole lines within bytes.
func truncateToWholeLines(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return text[:strings.LastIndexByte(text[:max(0, bytes)], '\n')+1]
}

// diffPath returns the file of a part of a diff.
func diffPath(part string) string {
	first, _, _ := strings.Cut(part, "\n")
	if files := diffreview.ParseDiff(first); len(files) == 1 {
		first = files[0].Path
	}
	return SingleLine(first)
}
