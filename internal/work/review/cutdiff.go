package review

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
)

// CutDiff cuts a git diff into parts of at most so many bytes, between files if possible, else
// between hunks, else between lines. Each part of a file begins with the file's header, so
// that it identifies its file.
func CutDiff(diff string, bytes int) []string {
	if len(diff) <= bytes {
		return []string{diff}
	}
	var parts []string
	for _, file := range diffreview.SplitPatchByFile(diff) {
		for _, piece := range splitFile(file, bytes) {
			if n := len(parts); n > 0 && len(parts[n-1])+len(piece) <= bytes {
				parts[n-1] += piece
				continue
			}
			parts = append(parts, piece)
		}
	}
	return parts
}

// splitFile cuts the diff of one file.
func splitFile(file string, bytes int) []string {
	if len(file) <= bytes {
		return []string{file}
	}
	hunks := diffreview.SplitFileHunks(file)
	head := ""
	if !strings.HasPrefix(hunks[0], "@@ ") {
		head, hunks = hunks[0], hunks[1:]
	}
	if len(head) > bytes/2 {
		return splitLines(file, bytes) // not a file's diff with a header
	}
	var all []string
	at := head
	for _, h := range hunks {
		if len(at) > len(head) && len(at)+len(h) > bytes {
			all, at = append(all, at), head
		}
		if len(at)+len(h) <= bytes {
			at += h
			continue
		}
		// at equals head here: nothing of an earlier hunk is waiting
		for _, c := range splitLines(h, bytes-len(head)) {
			all = append(all, head+c)
		}
	}
	if len(at) > len(head) || len(all) == 0 {
		all = append(all, at)
	}
	return all
}

// splitLines cuts text between lines, and a line that is too long inside it.
func splitLines(text string, bytes int) []string {
	bytes = max(1, bytes)
	var all []string
	at := ""
	for line := range strings.Lines(text) {
		if len(at)+len(line) > bytes && at != "" {
			all, at = append(all, at), ""
		}
		for len(line) > bytes {
			all, line = append(all, line[:bytes]), line[bytes:]
		}
		at += line
	}
	if at != "" {
		all = append(all, at)
	}
	return all
}
