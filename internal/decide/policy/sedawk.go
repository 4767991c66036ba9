package policy

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// judgeSed judges a stream edit: printing and replacing is allowed; running, reading or writing
// anything else needs approval.
func (j *lineJudge) judgeSed(argv []shell.Word) {
	scripts, operands, inPlace, known := script.SplitSedWords(argv[1:])
	if !known {
		j.addAnswer(Ask, "text.sed", "an option of sed is not known")
	}
	j.askAboutPossibleOptions([]string{"-f"}, operands)
	for _, s := range scripts {
		if s.Dynamic || !script.IsHarmlessSed(s.Text) {
			j.addAnswer(Ask, "text.sed", "the script may run or write something")
		}
	}
	if inPlace {
		j.judgeWrites(operands)
		return
	}
	j.judgeReads(operands)
}

// judgeAwk judges a program that only prints and calculates.
func (j *lineJudge) judgeAwk(argv []shell.Word) {
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		switch o := rest[0]; {
		case o.Text == "-F" && len(rest) > 1:
			rest = rest[2:]
		case o.Text == "-v" && len(rest) > 1:
			if name, _, ok := strings.Cut(rest[1].Text, "="); !ok || name == "" {
				j.addAnswer(Ask, "text.awk", "the value of a variable is unknown")
			}
			rest = rest[2:]
		case strings.HasPrefix(o.Text, "-F") && !o.Dynamic:
			rest = rest[1:]
		default:
			j.addAnswer(Ask, "text.awk", "an option of awk is not known")
			return
		}
	}
	if len(rest) == 0 {
		return
	}
	if rest[0].Dynamic || !script.IsHarmlessAwk(rest[0].Text) {
		j.addAnswer(Ask, "text.awk", "the program may run or write something")
	}
	for _, w := range rest[1:] {
		if w.Dynamic && !w.Fixed {
			j.addAnswer(Ask, "path.unseen", "which file it reads is not known before it runs")
			continue
		}
		j.judgeReads([]shell.Word{w})
	}
}
