package policy

import (
	_ "embed" // the table
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

//go:embed rules.txt
var rulesText string

// programRule is a row of the table: its answer to a program, if its conditions hold.
type programRule struct {
	answer   RuleAnswer
	rule     string
	programs []string
	verbs    []string // first operands; empty: any
	options  []string // one of them must be there
	without  []string // none of them may be there
	external bool     // an operand behind the verb must name something outside the tree
	version  bool     // an operand behind the verb must have a version behind an @
	each     bool     // each operand must be a verb
	one      bool     // at most one operand may be behind the verb
}

// ruleExplanation is what people and models read about a rule.
type ruleExplanation struct{ reason, way string }

// programRuleTable is the table of rules.txt with the rows of all stacks. The same program may have
// several rows.
type programRuleTable struct {
	rows    map[string][]programRule
	reads   map[string][]programRule // what the rows that deny and ask are not about, by program
	classes map[string]string        // by program
	why     map[string]ruleExplanation
}

var table = parseProgramRules()

// parseProgramRules reads the table. A malformed row is skipped; a test holds that there is none.
func parseProgramRules() *programRuleTable {
	t := &programRuleTable{rows: map[string][]programRule{}, reads: map[string][]programRule{}, classes: map[string]string{}, why: map[string]ruleExplanation{}}
	for line := range strings.Lines(rulesText + stack.CommandRules()) {
		t.addLine(line)
	}
	return t
}

func (t *programRuleTable) addLine(line string) {
	cells := strings.Split(strings.TrimSpace(line), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	switch {
	case strings.HasPrefix(line, "#") || len(cells) < 3:
	case cells[0] == "why" && len(cells) == 4:
		t.why[cells[1]] = ruleExplanation{cells[2], cells[3]}
	case cells[0] == "class":
		for name := range strings.FieldsSeq(cells[2]) {
			t.classes[name] = cells[1]
		}
	case cells[0] == "read":
		addRow(t.reads, programRule{}, cells[1:])
	case len(cells) >= 4:
		addRow(t.rows, programRule{answer: RuleAnswer(cells[0]), rule: cells[1]}, cells[2:])
	}
}

// addRow adds a row for each of its programs. The cells are its programs, its verbs and, if there are
// any, its conditions.
func addRow(rows map[string][]programRule, r programRule, cells []string) {
	r.programs, r.verbs = strings.Fields(cells[0]), strings.Fields(cells[1])
	if len(cells) > 2 {
		r.addConditions(strings.Fields(cells[2]))
	}
	for _, name := range r.programs {
		rows[name] = append(rows[name], r)
	}
}

func (r *programRule) addConditions(words []string) {
	for _, w := range words {
		option, none := strings.CutPrefix(w, "!")
		switch {
		case none:
			r.without = append(r.without, option)
		case w == "+":
			r.external = true
		case w == "@":
			r.version = true
		case w == "=":
			r.each = true
		case w == "1":
			r.one = true
		default:
			r.options = append(r.options, w)
		}
	}
}

// hasProgram reports whether the table has a row about a program.
func (t *programRuleTable) hasProgram(program string) bool {
	return len(t.rows[program]) > 0 || t.classes[program] != ""
}

// explanationOf returns the text about a rule, or about its group.
func (t *programRuleTable) explanationOf(rule string) ruleExplanation {
	if e, ok := t.why[rule]; ok {
		return e
	}
	group, _, _ := strings.Cut(rule, ".")
	return t.why[group]
}

// matches reports whether a row is about a command. Options between the program and its verb
// hide neither.
func (r programRule) matches(argv []argumentWord) bool {
	args := argv[1:]
	excluded := hasOption
	if r.answer == Allow {
		excluded = mayHaveOption
	}
	if slices.ContainsFunc(r.without, func(o string) bool { return excluded(args, o) }) {
		return false
	}
	if len(r.options) > 0 && !slices.ContainsFunc(r.options, func(o string) bool { return hasOption(args, o) }) {
		return false
	}
	if r.answer == Allow {
		return r.matchesOperands(withoutOptions(args))
	}
	return slices.ContainsFunc(possibleOperands(args), r.matchesOperands)
}

// onlyReads reports whether a row says that a command changes nothing outside, in whatever way the
// program reads its words.
func (t *programRuleTable) onlyReads(program string, argv []argumentWord) bool {
	args := argv[1:]
	if slices.ContainsFunc(args, func(w argumentWord) bool { return w.dynamic }) {
		return false
	}
	return slices.ContainsFunc(t.reads[program], func(r programRule) bool {
		if slices.ContainsFunc(r.without, func(o string) bool { return mayHaveOption(args, o) }) {
			return false
		}
		if len(r.options) > 0 && !hasCertainOption(args, r.options) {
			return false
		}
		bare := slices.DeleteFunc(slices.Clone(args), func(w argumentWord) bool { return slices.Contains(r.options, w.text) }) // these take no value
		return !slices.ContainsFunc(possibleOperands(bare), func(operands []argumentWord) bool { return !r.matchesOperands(operands) })
	})
}

// hasCertainOption reports whether one of the options is among the words, and no word is the same option with
// another value. A word that may be the value of the option before it is none.
func hasCertainOption(args []argumentWord, options []string) bool {
	found := false
	for i, w := range args {
		if w.text == "--" {
			break
		}
		before := ""
		if i > 0 {
			before = args[i-1].text
		}
		name, _, _ := strings.Cut(w.text, "=")
		switch {
		case slices.Contains(options, w.text):
			found = found || !strings.HasPrefix(before, "-") || strings.Contains(before, "=") || slices.Contains(options, before)
		case slices.ContainsFunc(options, func(o string) bool { known, _, _ := strings.Cut(o, "="); return known == name }):
			return false
		}
	}
	return found
}

// asksForHelp reports whether a command with a verb only prints the help page of the verb.
func asksForHelp(argv []argumentWord) bool {
	last := argv[len(argv)-1]
	return len(argv) > 2 && slices.Contains([]string{"--help", "-h", "-help"}, last.text) &&
		!slices.ContainsFunc(argv[:len(argv)-1], func(w argumentWord) bool { return w.dynamic || w.isOption() })
}

// restrictsProgram reports whether a row denies or asks about a program.
func (t *programRuleTable) restrictsProgram(program string) bool {
	return slices.ContainsFunc(t.rows[program], func(r programRule) bool { return r.answer != Allow })
}

func (r programRule) matchesOperands(operands []argumentWord) bool {
	switch {
	case r.each:
		return len(operands) == 0 && slices.Contains(r.verbs, ".") ||
			len(operands) > 0 && !slices.ContainsFunc(operands, func(w argumentWord) bool { return w.dynamic || !slices.Contains(r.verbs, w.text) })
	case len(r.verbs) == 0:
		return !r.external || slices.ContainsFunc(operands, argumentWord.namesExternalPackage)
	case len(operands) == 0:
		return slices.Contains(r.verbs, ".")
	}
	return slices.ContainsFunc(r.verbs, func(verb string) bool {
		first, second, two := strings.Cut(verb, ":")
		rest := operands[1:]
		if operands[0].text != verb && (!two || operands[0].text != first || len(rest) == 0 || rest[0].text != second) {
			return false
		}
		if operands[0].text != verb {
			rest = rest[1:]
		}
		return (!r.one || len(rest) < 2) && (!r.external || slices.ContainsFunc(rest, argumentWord.namesExternalPackage)) && (!r.version || slices.ContainsFunc(rest, argumentWord.hasVersion))
	})
}

// mayHaveOption reports whether an option is among the words in any spelling that a program may accept:
// shortened, or with one dash instead of two.
func mayHaveOption(args []argumentWord, option string) bool {
	long := strings.TrimLeft(option, "-")
	return hasOption(args, option) || len(long) > 1 && slices.ContainsFunc(args, func(w argumentWord) bool {
		name, _, _ := strings.Cut(w.text, "=")
		short := strings.TrimLeft(name, "-")
		return w.isOption() && short != "" && (short == long || strings.HasPrefix(name, "--") && strings.HasPrefix(long, short))
	})
}

// hasOption reports whether an option is among the words, alone, with a value, or in a cluster of
// single letters.
func hasOption(args []argumentWord, option string) bool {
	return slices.ContainsFunc(args, func(w argumentWord) bool {
		name, _, _ := strings.Cut(w.text, "=")
		cluster := len(option) == 2 && len(name) > 2 && name[0] == '-' && name[1] != '-'
		return name == option || cluster && strings.Contains(name[1:], option[1:])
	})
}
