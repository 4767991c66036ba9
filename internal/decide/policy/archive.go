package policy

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// judgeUnzip judges the files that it reads, and its output directory.
func (j *lineJudge) judgeUnzip(argv []shell.Word) {
	for i := 1; i < len(argv); i++ {
		switch a := argv[i]; {
		case a.Text == "-d" && i+1 < len(argv):
			i++
			j.judgeWrites(argv[i : i+1])
		case a.Dynamic && !a.Fixed, strings.HasPrefix(a.Text, "-d") && !a.Dynamic:
			j.addAnswer(Ask, "file.write.option", "it is unknown where unzip writes")
		case strings.HasPrefix(a.Text, "-"):
			if strings.Trim(a.Text, "-oqnltujvxZ1p") != "" {
				j.addAnswer(Ask, "file.write.option", "an option of unzip may run or write something else")
			}
		default:
			j.judgeWrites([]shell.Word{a})
		}
	}
}

// isPlainTarOption reports whether an option of tar only selects files or sets the format.
func isPlainTarOption(w shell.Word) bool {
	return !w.Dynamic && regexp.MustCompile(`^--(strip-components=\d+|exclude-vcs|exclude-vcs-ignores|exclude=.*|wildcards|no-same-owner|no-same-permissions|sort=\w+|mtime=[\w@: +-]+|owner=\w+(:\d+)?|group=\w+(:\d+)?|numeric-owner|format=\w+|list|extract|create|gzip|verbose|null|zstd|bzip2|xz|auto-compress|keep-old-files|one-top-level)$`).MatchString(w.Text)
}

func (j *lineJudge) judgeTar(argv []shell.Word) {
	for i, a := range argv[1:] {
		if i == 0 && !strings.HasPrefix(a.Text, "-") {
			if a.Dynamic || strings.Trim(a.Text, "cxtzjJvf") != "" {
				j.addAnswer(Ask, "file.tar", "an option of tar may run or write something else")
			}
			continue
		}
		if isPlainTarOption(a) {
			continue
		}
		if strings.HasPrefix(a.Text, "-") && strings.Trim(a.Text, "-cxtzjJvfO") != "" && a.Text != "-C" && !strings.HasPrefix(a.Text, "--exclude=") {
			j.addAnswer(Ask, "file.tar", "an option of tar may run or write something else")
		}
		if !strings.HasPrefix(a.Text, "-") {
			if strings.Contains(a.Text, ":") {
				j.addAnswer(Ask, "file.tar", "tar takes the part before a colon as the name of another machine")
			}
			j.judgeWrites([]shell.Word{a})
		}
	}
}
