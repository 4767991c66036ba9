package policy

import (
	"slices"
	"strings"
)

// applyCallerRules applies the caller's entries to a simple command. They only tighten.
func (j *commandLineJudge) applyCallerRules(argv []argumentWord) {
	for _, own := range []struct {
		answer  RuleAnswer
		rule    string
		verb    string
		entries []string
	}{{Deny, "own.deny", "deny", j.rules.Deny}, {Ask, "own.ask", "ask about", j.rules.Ask}} {
		for _, e := range own.entries {
			certain, maybe := matchesEntry(argv, e)
			switch way := j.table.explanationOf("own").way; {
			case certain:
				j.addDecision(Decision{Decision: own.answer, Rule: own.rule, Reason: "the rules " + own.verb + " " + e, Way: way})
			case maybe:
				j.addDecision(Decision{Decision: Ask, Rule: "own.unseen", Reason: "it may be what the rules " + own.verb + ": " + e, Way: way})
			}
		}
	}
}

// isCallerEntry reports whether an entry is about words of a line that cannot be parsed.
func (j *commandLineJudge) isCallerEntry(argv []argumentWord) bool {
	return slices.ContainsFunc(append(slices.Clone(j.rules.Deny), j.rules.Ask...), func(e string) bool { return beginsWithWords(argv, e, false) })
}

// matchesEntry reports whether a command matches an entry, with any options between its words,
// and whether it may match once its unknown words are known.
func matchesEntry(argv []argumentWord, entry string) (certain, maybe bool) {
	variants := possibleOperands(argv)
	begins := func(unseen bool) bool {
		return slices.ContainsFunc(variants, func(words []argumentWord) bool { return beginsWithWords(words, entry, unseen) })
	}
	return beginsWithWords(argv, entry, false) || begins(false), begins(true)
}

// maxOptions limits the options whose next word may be their value.
const maxOptions = 6

// possibleOperands returns the words without options in every way to read them: the word after an option
// may be its value, or not.
func possibleOperands(argv []argumentWord) [][]argumentWord {
	all, options := [][]argumentWord{nil}, 0
	option := false
	for _, w := range argv {
		if strings.HasPrefix(w.text, "-") {
			option = !strings.Contains(w.text, "=")
			continue
		}
		n := len(all)
		if option && options < maxOptions {
			options++
			all = append(all, slices.Clone(all)...)
		}
		for i := range n {
			all[i] = append(slices.Clip(all[i]), w)
		}
		option = false
	}
	return all
}

func beginsWithWords(argv []argumentWord, entry string, unseen bool) bool {
	want := strings.Fields(entry)
	if strings.HasPrefix(entry, serverPrefix) { // it is not about a command
		return false
	}
	return len(want) > 0 && len(want) <= len(argv) && slices.EqualFunc(want, argv[:len(want)], func(e string, w argumentWord) bool {
		return w.dynamic && unseen || !w.dynamic && w.text == e
	})
}

// withoutOptions returns the words that are no options.
func withoutOptions(argv []argumentWord) (bare []argumentWord) {
	for _, w := range argv {
		if !strings.HasPrefix(w.text, "-") {
			bare = append(bare, w)
		}
	}
	return bare
}
