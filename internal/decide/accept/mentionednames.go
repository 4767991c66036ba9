package accept

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// MentionedNames lists the things that a text asks for by name. Each is a guess from words: it
// counts only after it was seen to fail.
type MentionedNames struct {
	Tests    []string // names of tests that it asks for, as it writes them
	Aside    []string // names of tests that it excludes
	Places   []FileLine
	Errors   []string // messages that it quotes
	Commands []string // commands that it reports as failing
	Exact    string   // the whole text, if it may be the name of one test
	At       []string // tests that fail at exactly the lines that it names; see [RequestedFailures.ResolvePlaces]
	All      bool     // all failing tests
	Within   string   // limits All to tests whose name or file contains this; empty: all
}

// FileLine is a line of a file.
type FileLine struct {
	File string
	Line int
}

// isInFileOf reports whether a finding is in the file of p.
func (p FileLine) isInFileOf(f nexus.Finding) bool {
	return f.File != "" && (f.File == p.File || strings.HasSuffix(f.File, "/"+p.File))
}

const maxWish = 20 // number of things of one kind that a text may name

// ParseMentioned finds the things that a goal or a criterion asks for by name.
func ParseMentioned(text string) MentionedNames {
	text = boundText(text)
	w := MentionedNames{Exact: strings.TrimSpace(text)}
	for _, at := range nameRE.compile().FindAllStringIndex(text, -1) {
		name := strings.TrimRight(text[at[0]:at[1]], "./:[")
		if endRE.compile().MatchString(text[at[1]:]) {
			continue // a file name
		}
		if isExcludedByWords(text, at[0], at[1]) {
			w.Aside = appendDistinct(w.Aside, name)
		} else {
			w.Tests = appendDistinct(w.Tests, name)
		}
	}
	for _, at := range fileRE.compile().FindAllStringIndex(text, -1) {
		name := strings.TrimPrefix(text[at[0]:at[1]], "./")
		switch {
		case !stack.IsTest(name), strings.HasPrefix(text[at[1]:], ":"), !passesRE.compile().MatchString(sentenceAround(text, at[0], at[1])):
		case isExcludedByWords(text, at[0], at[1]):
			w.Aside = appendDistinct(w.Aside, name)
		default:
			w.Tests = appendDistinct(w.Tests, name)
		}
	}
	w.Aside = slices.DeleteFunc(w.Aside, func(name string) bool { return slices.Contains(w.Tests, name) })
	for _, m := range placeRE.compile().FindAllStringSubmatch(text, -1) {
		if line, err := strconv.Atoi(m[2]); err == nil && line > 0 && len(w.Places) < maxWish {
			w.Places = append(w.Places, FileLine{strings.TrimPrefix(m[1], "./"), line})
		}
	}
	w.readQuotes(text)
	if m := allRE.compile().FindStringSubmatchIndex(text); m != nil && len(w.Tests) == 0 {
		w.All = true
		if in := withinRE.compile().FindStringSubmatch(text[m[1]:]); in != nil {
			w.Within = strings.Trim(in[1], "./")
		}
	}
	return w
}

// readQuotes reads a text's quotations: commands that it reports as failing, and messages.
func (w *MentionedNames) readQuotes(text string) {
	for _, at := range quotedRE.compile().FindAllStringSubmatchIndex(text, -1) {
		said := ""
		for i := 2; i < len(at); i += 2 {
			if at[i] >= 0 {
				said = strings.TrimSpace(text[at[i]:at[i+1]])
			}
		}
		switch {
		case isCommand(said):
			if failsRE.compile().MatchString(sentenceAround(text, at[0], at[1])) {
				w.Commands = appendDistinct(w.Commands, said)
			}
		case len(said) >= 10 && strings.Contains(said, " "):
			w.Errors = appendDistinct(w.Errors, said)
		}
	}
}

// MatchesFinding reports whether the text refers to a finding: it names its test or place, quotes
// its message, or asks for all failing tests.
func (w MentionedNames) MatchesFinding(f nexus.Finding) bool {
	if w.ExcludesFinding(f) {
		return false
	}
	if f.Test != "" && (f.Test == w.Exact || slices.Contains(w.At, f.Test) || slices.ContainsFunc(w.Tests, func(name string) bool { return isNameOfFinding(name, f) })) {
		return true
	}
	for _, p := range w.Places {
		if p.isInFileOf(f) && (f.Line == p.Line || f.Test != "") {
			return true
		}
	}
	said := normalizeText(f.Message)
	if slices.ContainsFunc(w.Errors, func(e string) bool {
		return strings.Contains(said, normalizeText(e)) || f.Test != "" && isTestTitle(f.Test, e)
	}) {
		return true
	}
	in := strings.ToLower(w.Within)
	return w.All && f.Test != "" && (strings.Contains(strings.ToLower(f.Test), in) || strings.Contains(strings.ToLower(f.File), in))
}

// ExcludesFinding reports whether the text excludes a finding's test by name.
func (w MentionedNames) ExcludesFinding(f nexus.Finding) bool {
	return f.Test != "" && slices.ContainsFunc(w.Aside, func(name string) bool { return isNameOfFinding(name, f) })
}

// asksForRed reports whether the text asks for something that can be seen to fail before the
// work.
func (w MentionedNames) asksForRed() bool {
	return w.All || len(w.Tests)+len(w.Places)+len(w.At)+len(w.Errors)+len(w.Commands) > 0
}

// isNameOfFinding reports whether a name is that of a failing test or of its file.
func isNameOfFinding(name string, f nexus.Finding) bool {
	return isTestName(f.Test, name) || f.File != "" && (f.File == name || strings.HasSuffix(f.File, "/"+name))
}

// isTestName reports whether a name in a text is one of a test's own names: the whole name,
// its last parts, or, in Go, the parent of a subtest.
func isTestName(test, name string) bool {
	if test == name {
		return true
	}
	for _, sep := range []string{".", "::", " > ", "/", " "} {
		if strings.HasSuffix(test, sep+name) || strings.Contains(test, sep+name+"/") || strings.Contains(test, sep+name+"[") || strings.Contains(test, sep+name+" ") {
			return true
		}
	}
	return strings.HasPrefix(test, name+"/") || strings.HasPrefix(test, name+"::") || strings.HasPrefix(test, name+"[") || strings.HasPrefix(test, name+" ")
}

// isTestTitle reports whether a quoted text is a test's title, or its end.
func isTestTitle(test, quoted string) bool {
	test, quoted = normalizeText(test), normalizeText(quoted)
	return test == quoted || strings.HasSuffix(test, " > "+quoted) || strings.HasSuffix(test, ". "+quoted) || strings.HasSuffix(test, "."+quoted)
}

func normalizeText(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func appendDistinct(all []string, s string) []string {
	if s == "" || slices.Contains(all, s) || len(all) == maxWish {
		return all
	}
	return append(all, s)
}

const maxText = 64 << 10 // bytes of a text that are read

func boundText(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "?")
}

// sentenceAround returns the sentence around a part of a text.
func sentenceAround(text string, i, end int) string {
	from := strings.LastIndexAny(text[:i], "\n;") + 1
	if dot := strings.LastIndex(text[:i], ". "); dot >= from {
		from = dot + 2
	}
	to := len(text)
	if next := strings.IndexAny(text[end:], "\n;"); next >= 0 {
		to = end + next
	}
	if dot := strings.Index(text[end:to], ". "); dot >= 0 {
		to = end + dot
	}
	return text[min(from, i):i] + " " + text[end:to]
}

// isExcludedByWords reports whether the words around a name exclude it.
func isExcludedByWords(text string, from, to int) bool {
	start := max(strings.LastIndexAny(text[:from], "\n;")+1, strings.LastIndex(text[:from], ". ")+1)
	words := strings.Fields(strings.ToLower(text[start:from]))
	for _, word := range slices.Backward(words) {
		word = strings.Trim(word, "`'\",():")
		switch {
		case slices.Contains([]string{"except", "excluding", "ignore", "ignoring", "skip", "skipping", "leave", "leaving", "not", "without", "besides", "than", "from", "touch", "touching", "unlike"}, word):
			return word != "from" || strings.Contains(strings.Join(words, " "), "apart from")
		case slices.Contains([]string{"", "the", "a", "test", "tests", "and", "or", "for", "in", "case", "cases", "alone"}, word), nameRE.compile().MatchString(text[start:from]) && isName(word):
		default:
			return isFollowedByException(text[to:])
		}
	}
	return isFollowedByException(text[to:])
}

func isName(word string) bool {
	return strings.HasPrefix(word, "test") || strings.Contains(word, "test_")
}

// isFollowedByException reports whether the words after a name exclude it.
func isFollowedByException(rest string) bool {
	return sparedRE.compile().MatchString(rest[:min(len(rest), 60)])
}

// lazyPattern is a regular expression that is compiled at its use. Every Nexus process imports
// this package, and few of them read a text.
type lazyPattern string

func (p lazyPattern) compile() *regexp.Regexp { return regexp.MustCompile(string(p)) }

// Patterns of names in texts.
const (
	nameRE lazyPattern = `(?:[\w./-]*\.)?\b(?:Test|Fuzz|Example|Benchmark)[A-Z_0-9]\w*(?:/[\w#.=-]+)*` +
		`|[\w./-]+\.\w+::[\w:\[\].-]+|\b(?:[\w.]+\.)?test_\w+(?:\[[^\]\n]{0,80}\])?\b|\btest[A-Z]\w+`
	placeRE   lazyPattern = `(?:^|[\s("'` + "`" + `])((?:\./)?[\w@.-]+(?:/[\w@.-]+)*\.[A-Za-z]\w{0,5}):(\d{1,6})\b`
	quotedRE  lazyPattern = "`([^`\n]{1,300})`" + `|"([^"\n]{1,300})"|(?:^|[\s(])'([^'\n]{1,300})'(?:$|[\s).,:;])`
	commandRE lazyPattern = `^(?:\./[\w./-]+|([\w.-]+) \S)[^\n]*$`
	failsRE   lazyPattern = `(?i)\b(?:fails?|failed|failing|breaks?|broken|crash(?:es)?|panics?|errors?|exits? (?:with )?(?:code )?[1-9]\d*|(?:must|should|has to|to) (?:pass|succeed|work|exit 0)|make[^.;\n]{0,20}pass|(?:does not|doesn't) (?:pass|work|run|succeed))\b`
	endRE     lazyPattern = `^\.(?:pyi?|rb|php|[cm]?[jt]sx?|sh|bats|c|cc|cpp|rs|java|kt|lua|pl|t|exs?)\b`
	passesRE  lazyPattern = `(?i)\b(?:pass(?:es)?|green|fails?|failing|red|broken)\b`
	fileRE    lazyPattern = `[\w./-]+\.[a-z]{1,4}\b`
	allRE     lazyPattern = `(?i)\b(?:fix|repair|resolve|unbreak)\b[^.;\n]{0,20}\b(?:failing|broken|red|failed)\s+(?:unit |integration )?(?:tests?|specs?|suite|ci|build)\b` +
		`|\b(?:make|get)\b[^.;\n]{0,30}\b(?:tests|suite|specs|ci)\b[^.;\n]{0,12}\b(?:pass|green|work)\b` +
		`|\b(?:tests|suite|ci) (?:is|are) (?:red|failing|broken)\b`
	withinRE lazyPattern = `^\s+(?:in|of|for|under)\s+(?:the\s+)?(?:file\s+|package\s+|module\s+)?` + "`?" + `([\w./-]+)`
	sparedRE lazyPattern = `^[` + "`" + `'")]*,?\s+(?:is|are|was|were|may|can|should)\s+(?:un|not )related|^[` + "`" + `'")]*,?\s+(?:may|can)\s+(?:stay|fail|be (?:ignored|left))|^[` + "`" + `'")]*,?\s+(?:is|are) (?:known|expected) to fail|^[` + "`" + `'")]*\s+alone\b`
)

// isCommand reports whether a text is a command: one of the project's programs, or a known
// one, with arguments.
func isCommand(said string) bool {
	m := commandRE.compile().FindStringSubmatch(said)
	return m != nil && (m[1] == "" || stack.IsProgram(m[1]) && !slices.Contains(ambiguousPrograms(), m[1]) ||
		slices.Contains([]string{"make", "ninja", "sh", "bash", "deno", "zig", "test", "grep"}, m[1]))
}

// ambiguousPrograms returns program names that are also ordinary words.
func ambiguousPrograms() []string {
	return []string{"black", "coverage", "next", "tap", "ava", "turbo", "rollup", "cypress", "playwright", "rails", "pest"}
}

// RequestedFailures are the things that several texts ask for by name.
type RequestedFailures []MentionedNames

// ParseMentions parses texts.
func ParseMentions(texts []string) RequestedFailures {
	all := make(RequestedFailures, len(texts))
	for i, text := range texts {
		all[i] = ParseMentioned(text)
	}
	return all
}

// ResolvePlaces returns the mentions with places replaced by the failures on a base. If a
// test fails at exactly the named line, the mention refers to that test, even if its line
// moves later, and not to the other tests of its file.
func (w RequestedFailures) ResolvePlaces(base []nexus.Finding) RequestedFailures {
	all := slices.Clone(w)
	for i, one := range all {
		var left []FileLine
		for _, p := range one.Places {
			var at []string
			for _, f := range base {
				if f.Test != "" && f.Line == p.Line && p.isInFileOf(f) {
					at = append(at, f.Test)
				}
			}
			if all[i].At = slices.Concat(all[i].At, at); len(at) == 0 {
				left = append(left, p)
			}
		}
		all[i].Places = left
	}
	return all
}

// MatchesFinding reports whether a mention refers to a finding and no mention excludes it.
func (w RequestedFailures) MatchesFinding(f nexus.Finding) bool {
	return slices.ContainsFunc(w, func(one MentionedNames) bool { return one.MatchesFinding(f) }) && !slices.ContainsFunc(w, func(one MentionedNames) bool { return one.ExcludesFinding(f) })
}

// MatchesByName is [RequestedFailures.MatchesFinding] without mentions of all failing tests.
func (w RequestedFailures) MatchesByName(f nexus.Finding) bool {
	some := slices.Clone(w)
	for i := range some {
		some[i].All = false
	}
	return some.MatchesFinding(f)
}

// AsksForFailingThing reports whether a mention asks for something that can be seen to fail before the
// work.
func (w RequestedFailures) AsksForFailingThing() bool {
	return slices.ContainsFunc(w, MentionedNames.asksForRed)
}

// FindingLabel returns a finding's name for people.
func FindingLabel(f nexus.Finding) string {
	text, _, _ := strings.Cut(strings.TrimSpace(f.Message), "\n")
	switch {
	case f.Test != "":
		return f.Test
	case f.File != "" && f.Line > 0:
		return path.Clean(f.File) + ":" + strconv.Itoa(f.Line) + ": " + text
	case f.File != "":
		return path.Clean(f.File) + ": " + text
	}
	return text
}
