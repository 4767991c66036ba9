package files

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Limits of searching a text for quotes.
const (
	maxVeiled    = 200     // files that a text names and that are compared with it
	maxVeiledAll = 8 << 20 // most bytes of all these files
	leastVeiled  = 12      // bytes of a line; a shorter one does not identify its file
	maxKeptFiles = 50_000  // hidden files
)

// RedactHidden removes from a text for an agent the quotes of files that .nexusignore hides from
// agents: their parts of a diff, and their lines if the text names them, as in the messages of
// gates that quote code. Quotes of other files stay unchanged.
func (r HiddenPathRules) RedactHidden(root *os.Root, text string) string {
	return r.redactHiddenQuotes(root, text, true)
}

// RedactOutput does the same as [HiddenPathRules.RedactHidden] for the output of a command. Nothing in that
// counts as a diff of ours, whatever its form.
func (r HiddenPathRules) RedactOutput(root *os.Root, text string) string {
	return r.redactHiddenQuotes(root, text, false)
}

func (r HiddenPathRules) redactHiddenQuotes(root *os.Root, text string, diffs bool) string {
	kept := r.hiddenFiles(root)
	if kept == nil {
		return text
	}
	text = redactDiff(text, func(name string) bool { return r.IsIgnored(root, name) })
	read := 0
	var named []string
	for _, name := range kept {
		if base := path.Base(name); len(named) < maxVeiled && containsFileName(text, base) {
			named = append(named, name)
		}
	}
	for _, name := range named {
		if read > maxVeiledAll {
			break
		}
		data := readForSecrets(root, name)
		read += len(data)
		text = redactLines(text, name, string(data), diffs)
	}
	return text
}

// hiddenFiles returns the files that .nexusignore hides from agents, nil if there are none.
func (r HiddenPathRules) hiddenFiles(root *os.Root) []string {
	var all []string
	within := ""
	r.walkTree(root, func(name string, d fs.DirEntry, kept bool) (enter, more bool) {
		if within != "" && !strings.HasPrefix(name, within+"/") {
			within = ""
		}
		if kept && within == "" {
			within = name
		}
		if within != "" && d.Type().IsRegular() {
			all = append(all, name)
		}
		return true, len(all) < maxKeptFiles
	})
	return all
}

// containsFileName reports whether a text contains a file's name as a separate word.
func containsFileName(text, base string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], base)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(base)
		if (i == 0 || !isWordByte(text[i-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		from = i + 1
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// quoted matches a quoted part of a line in the messages of a gate.
var quoted = regexp.MustCompile("`[^`\n]{8,}`|\"[^\"\n]{8,}\"|'[^'\n]{8,}'")

// redactLines removes from a text the lines of a file, and quotes of them, except inside diffs
// of ours (if diffs is set), which contain only visible files.
func redactLines(text, name, data string, diffs bool) string {
	var lines []string
	for line := range strings.Lines(data) {
		if line = strings.TrimSpace(line); len(line) >= leastVeiled && strings.Contains(text, line) {
			lines = append(lines, line)
		}
	}
	// one may be part of another
	slices.SortStableFunc(lines, func(a, b string) int { return len(b) - len(a) })
	instead := "[a line of " + name + ", which .nexusignore hides from agents]"
	unquoted := func(span string) string {
		if strings.Contains(data, span[1:len(span)-1]) {
			return span[:1] + "[what .nexusignore hides from agents]" + span[:1]
		}
		return span
	}
	var b strings.Builder
	fence, diff := "", false // the outermost; a nested one is quoted text
	for line := range strings.Lines(text) {
		switch bare := strings.TrimSpace(line); {
		case fence == "" && strings.HasPrefix(bare, "```"):
			info := strings.TrimLeft(bare, "`")
			fence, diff = strings.TrimSuffix(bare, info), diffs && info == "diff"
		case fence != "" && bare == fence:
			fence = ""
		}
		if fence == "" || !diff {
			for _, l := range lines {
				line = strings.ReplaceAll(line, l, instead)
			}
			line = quoted.ReplaceAllStringFunc(line, unquoted)
		}
		b.WriteString(line)
	}
	return b.String()
}

// redactDiff removes the parts of hidden files from the diffs in a text.
func redactDiff(text string, hides func(string) bool) string {
	if !strings.Contains(text, "diff --git ") {
		return text
	}
	var b strings.Builder
	hidden := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			name := ""
			if name, hidden = hiddenHeaderName(line, hides); hidden {
				fmt.Fprintf(&b, "[changes of %s, which .nexusignore hides from agents]\n", name)
			}
		case hidden && !isDiffLine(line):
			hidden = false
		}
		if !hidden {
			b.WriteString(line)
		}
	}
	return b.String()
}

// isDiffLine reports whether a line may be in a file's part of a diff.
func isDiffLine(line string) bool {
	if strings.TrimSpace(line) == "" {
		return true
	}
	switch line[0] {
	case ' ', '+', '-', '@', '\\':
		return true
	}
	return slices.ContainsFunc([]string{"index ", "old mode ", "new mode ", "new file ", "deleted file ", "similarity ", "dissimilarity ", "rename ", "copy ", "Binary ", "GIT binary", "literal ", "delta "},
		func(head string) bool { return strings.HasPrefix(line, head) })
}

// hiddenHeaderName returns which of the two names in the header of a part is hidden.
func hiddenHeaderName(head string, hides func(string) bool) (string, bool) {
	rest := strings.TrimSpace(strings.TrimPrefix(head, "diff --git "))
	for i := 0; i <= len(rest); i++ {
		if i < len(rest) && rest[i] != ' ' {
			continue
		}
		for _, n := range []string{rest[:i], rest[min(i+1, len(rest)):]} {
			n = strings.Trim(n, `"`)
			for _, prefix := range []string{"a/", "b/"} {
				if name, ok := strings.CutPrefix(n, prefix); ok && hides(name) {
					return name, true
				}
			}
		}
	}
	return "", false
}
