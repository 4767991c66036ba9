package policy

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/script"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// sed judges a stream edit: printing and replacing is allowed; running, reading or writing
// anything else needs approval.
func (j *judgement) sed(argv []shell.Word) {
	scripts, operands, inPlace, known := script.SedWords(argv[1:])
	if !known {
		j.add(Ask, "text.sed", "an option of sed is not known")
	}
	j.maybeOptions([]string{"-f"}, operands)
	for _, s := range scripts {
		if s.Dynamic || !script.Sed(s.Text) {
			j.add(Ask, "text.sed", "the script may run or write something")
		}
	}
	if inPlace {
		j.writes(operands)
		return
	}
	j.reads(operands)
}

// awk judges a program that only prints and calculates.
func (j *judgement) awk(argv []shell.Word) {
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		switch o := rest[0]; {
		case o.Text == "-F" && len(rest) > 1:
			rest = rest[2:]
		case o.Text == "-v" && len(rest) > 1:
			if name, _, ok := strings.Cut(rest[1].Text, "="); !ok || name == "" {
				j.add(Ask, "text.awk", "the value of a variable is unknown")
			}
			rest = rest[2:]
		case strings.HasPrefix(o.Text, "-F") && !o.Dynamic:
			rest = rest[1:]
		default:
			j.add(Ask, "text.awk", "an option of awk is not known")
			return
		}
	}
	if len(rest) == 0 {
		return
	}
	if rest[0].Dynamic || !script.Awk(rest[0].Text) {
		j.add(Ask, "text.awk", "the program may run or write something")
	}
	for _, w := range rest[1:] {
		if w.Dynamic && !w.Fixed {
			j.add(Ask, "path.unseen", "which file it reads is not known before it runs")
			continue
		}
		j.reads([]shell.Word{w})
	}
}
