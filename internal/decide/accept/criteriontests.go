package accept

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// baseRedTest is a test that failed on the base each time, or a test file that could not be
// loaded there, or a whole gate whose runner names neither.
type baseRedTest struct {
	gate  string
	label string
	file  string // file of the test; empty: unknown
	text  string // text of the test on the base; empty: not found
}

// testGroup returns the class of a test within its file, from its name, or "" if the name has
// none.
func (r baseRedTest) testGroup() string {
	name := strings.TrimPrefix(r.label, r.file)
	for _, sep := range []string{"::", " > ", "."} {
		if i := strings.LastIndex(name, sep); i > 0 {
			return strings.Trim(name[:i], ":> .")
		}
	}
	return ""
}

// isBeside reports whether two tests are in the same file, and in the same class if both have
// one. Tests whose files are unknown match if they have the same class, or none.
func (r baseRedTest) isBeside(o baseRedTest) bool {
	return r.gate == o.gate && r.file == o.file && (r.testGroup() == o.testGroup() || r.testGroup() == "" || o.testGroup() == "")
}

// nameWords returns the words of a test's own name, without repetition, including short ones.
func (r baseRedTest) nameWords() []string {
	name := strings.Trim(strings.TrimPrefix(r.label, r.file), ":> .")
	name = strings.TrimPrefix(name, r.testGroup())
	var all []string
	for _, token := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, word := range splitCamelCase(token) {
			if word = strings.ToLower(word); word != "test" {
				all = appendUnique(all, word)
			}
		}
	}
	return all
}

// isLike reports whether the whole name of one test, if it has more than one word, occurs in
// the other test's name: test_eq_with_dict and test_query_eq_with_dict require the same for
// two subjects.
func (r baseRedTest) isLike(o baseRedTest) bool {
	a, b := r.nameWords(), o.nameWords()
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) > 1 && !slices.ContainsFunc(a, func(word string) bool { return !slices.Contains(b, word) })
}

// criterionWords is a task's text about a criterion, reduced to words that also occur in code and
// names.
type criterionWords struct {
	words []string // see [wordsOf]
	files []string // names of files
	names []string // of Subjects, those that exist in the code and are used as names
	loose []string // of these, those that may also be ordinary words: "a list that was split"
}

// wordsAboutCriterion reads a task's text about a criterion.
func (w GatePassedTree) wordsAboutCriterion(c nexus.Criterion) criterionWords {
	var s criterionWords
	s.names, s.loose = splitIntendedNames(w.Known, []string{w.Task.Title, c.Text, c.Check})
	for _, text := range []string{w.Task.Title, c.Text, c.Check} {
		text = boundText(text)
		for _, file := range fileRE.compile().FindAllString(text, -1) {
			s.files = appendDistinct(s.files, path.Base(file))
		}
		for _, word := range wordsOf(fileRE.compile().ReplaceAllString(text, " ")) {
			s.words = appendUnique(s.words, word)
		}
	}
	return s
}

// isEmpty reports whether the text has nothing that can be compared with names.
func (s criterionWords) isEmpty() bool { return len(s.words)+len(s.files) == 0 }

// testOverlap rates a test's overlap with the text: most for its name, less for its file's name,
// least for its text.
func (s criterionWords) testOverlap(r baseRedTest) int {
	n := 0
	in, of, text := wordsOf(strings.TrimPrefix(r.label, r.file)), wordsOf(fileStem(r.file)), wordsOf(r.text)
	for _, word := range s.words {
		switch {
		case slices.Contains(in, word):
			n += inName
		case slices.Contains(of, word):
			n += 2
		case slices.Contains(text, word):
			n++
		}
	}
	return n
}

// inName is the weight of a word in a test's name.
const inName = 3

// isInTestName reports whether a word of the text is in a test's name.
func (s criterionWords) isInTestName(r baseRedTest) bool {
	in := wordsOf(r.label)
	return slices.ContainsFunc(s.words, func(word string) bool { return slices.Contains(in, word) })
}

// touchesWording reports whether a change is at the place that the text describes: it touches a name
// or a file with one of its words.
func (w GatePassedTree) touchesWording(s criterionWords) bool {
	for _, file := range w.Changed {
		if stack.ServesTests(file) {
			continue
		}
		if slices.Contains(s.files, path.Base(file)) || shareWord(s.words, wordsOf(fileStem(file))) {
			return true
		}
	}
	return slices.ContainsFunc(w.Touched, func(name string) bool { return shareWord(s.words, wordsOf(name)) })
}

// mentionsChange reports whether a test contains a name that the change touches, or the name of a
// file that it changes.
func (w GatePassedTree) mentionsChange(r baseRedTest) bool {
	has := func(name string) bool { return hasWord(r.text, name) || hasWord(r.label, name) }
	if slices.ContainsFunc(w.Touched, has) {
		return true
	}
	return slices.ContainsFunc(w.Changed, func(file string) bool { return !stack.ServesTests(file) && has(path.Base(file)) })
}

// relates is the minimum weight that relates tests to the text: a word in a name, or two in
// the text of one test. One word in a text may be chance.
const relates = 2

// isRelated reports whether tests that pass now and failed before are about the subject of
// the text.
func (w GatePassedTree) isRelated(s criterionWords, tests []baseRedTest) bool {
	// without words, nothing distinguishes the tests
	return s.isEmpty() || w.relationStrength(s, tests) >= min(relates, len(s.words)+len(s.files))
}

// mayRelate is [GatePassedTree.isRelated] for tests that were chosen for the criterion: one word is
// sufficient.
func (w GatePassedTree) mayRelate(s criterionWords, tests []baseRedTest) bool {
	return s.isEmpty() || w.relationStrength(s, tests) > 0
}

// relationStrength rates how some tests, and the change, relate to the text. If the text uses a name
// that exists in the code, a test must contain that name, or the change must touch it.
func (w GatePassedTree) relationStrength(s criterionWords, tests []baseRedTest) int {
	known := func(name string) bool { return w.knowsName(name, tests) }
	named := slices.ContainsFunc(s.names, known) || slices.ContainsFunc(s.loose, known)
	if len(s.names) > 0 && !named {
		return 0
	}
	best := 0
	for _, r := range tests {
		n := s.testOverlap(r)
		if slices.ContainsFunc(s.files, func(f string) bool { return path.Base(r.file) == f || hasWord(r.text, f) || hasWord(r.label, f) }) {
			n += inName
		}
		if slices.ContainsFunc(s.names, func(name string) bool { return hasWord(r.text, name) }) {
			n += relates
		}
		best = max(best, n)
	}
	if w.touchesWording(s) {
		best += relates
	}
	if len(s.loose) > 0 && best < inName && !named {
		return 0
	}
	return best
}

// isRelatedByWordParts reports whether parts of words relate tests to the text: "hex" is a part of
// "hexadecimal", and "date" of "daterange". It is used if there is no other relation and no
// other test fails.
func (w GatePassedTree) isRelatedByWordParts(s criterionWords, tests []baseRedTest) bool {
	if len(s.names)+len(s.loose) > 0 {
		return false
	}
	return slices.ContainsFunc(tests, func(r baseRedTest) bool {
		return slices.ContainsFunc(wordsOf(strings.TrimPrefix(r.label, r.file)), func(in string) bool {
			return slices.ContainsFunc(s.words, func(said string) bool { return isWordPart(in, said) || isWordPart(said, in) })
		})
	})
}

// isWordPart reports whether a word starts with another one, or a long word ends with it.
func isWordPart(short, long string) bool {
	return len(short) > 2 && strings.HasPrefix(long, short) || len(short) > 3 && strings.HasSuffix(long, short)
}

// knowsName reports whether the change touches a name, or one of some tests contains it.
func (w GatePassedTree) knowsName(name string, tests []baseRedTest) bool {
	has := func(text string) bool {
		return hasWord(text, name) || slices.Contains(wordsOf(text), stemWord(strings.ToLower(name)))
	}
	return slices.ContainsFunc(w.Touched, has) ||
		slices.ContainsFunc(w.Changed, func(file string) bool { return !stack.ServesTests(file) && has(fileStem(file)) }) ||
		slices.ContainsFunc(tests, func(r baseRedTest) bool { return has(r.label) || has(r.text) || has(fileStem(r.file)) })
}

// remainingRedTests returns the tests that still fail and probably belong to a criterion, and why the
// first one does. Turned are the tests that show it; if there are none, only tests that the
// text names, or that both the change and the text are about, belong to it.
func (w GatePassedTree) remainingRedTests(s criterionWords, turned, left []baseRedTest) (open []string, why string) {
	best := 0
	for _, t := range turned {
		best = max(best, s.testOverlap(t))
	}
	for _, r := range left {
		reason := ""
		weight, near := s.testOverlap(r), slices.ContainsFunc(turned, r.isBeside)
		switch {
		case near && r.text == "":
			reason = "it is beside one that passes now, and its text is not known"
		case near && (weight > 0 || w.mentionsChange(r)):
			reason = "it is beside one that passes now, and is about the same"
		case slices.ContainsFunc(turned, r.isLike):
			reason = "it is called like one that passes now"
		case len(turned) > 0 && weight > 0 && weight >= best:
			reason = "the task speaks of it no less than of those that pass now"
		case len(turned) == 0 && (s.isInTestName(r) || weight > 0 && w.mentionsChange(r)):
			reason = "the task speaks of it"
		default:
			continue
		}
		if open = appendUnique(open, r.label); why == "" {
			why = reason
		}
	}
	return open, why
}

// SubjectWords returns the words of a task that may be names in the code. A caller with access to
// the code checks which of them exist.
func SubjectWords(t nexus.Task) []string {
	var all []string
	for _, text := range TaskTexts(t) {
		words := strings.FieldsFunc(boundText(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
		for i, word := range words {
			commands := i == 0 && slices.Contains(instructionVerbs(), strings.ToLower(word)) && (len(words) < 2 || !slices.Contains(statementWords(), strings.ToLower(words[1])))
			if len(word) > 2 && !commands && len(wordsOf(word)) > 0 {
				all = appendDistinct(all, word)
			}
		}
	}
	return all
}

// splitIntendedNames separates names in the code from ordinary words with the same spelling, by their
// use in some texts. If some are written in the form of names only, no others are meant.
func splitIntendedNames(known, texts []string) (names, loose []string) {
	var clear []string
	for _, name := range known {
		ordinary := true
		for _, text := range texts {
			text = boundText(text)
			for _, at := range wordPositions(text, name) {
				if isWrittenAsCode(text, at, at+len(name)) || strings.ContainsFunc(name[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_' }) {
					clear = appendUnique(clear, name)
				}
				ordinary = ordinary && isOrdinary(text[:at], text[at+len(name):])
			}
		}
		if ordinary {
			loose = append(loose, name)
		} else {
			names = append(names, name)
		}
	}
	if len(clear) > 0 {
		return clear, nil
	}
	return names, loose
}

// isWrittenAsCode reports whether a part of a text is marked as code.
func isWrittenAsCode(text string, from, to int) bool {
	return from > 0 && strings.IndexByte("`.", text[from-1]) >= 0 || to < len(text) && strings.IndexByte("`(", text[to]) >= 0
}

// isOrdinary reports whether the words around a word make it an ordinary word: an article or
// a form of "to be" before it, and no "function" after it.
func isOrdinary(before, after string) bool {
	follows := strings.Fields(strings.ToLower(after))
	if len(follows) > 0 && slices.Contains(strings.Fields("function method class command option flag macro helper"), strings.Trim(follows[0], ".,:;")) {
		return false
	}
	words := strings.Fields(strings.ToLower(before))
	return len(words) > 0 && slices.Contains(strings.Fields("a an the its their this that these those each every some any no own same other such is are was were be been being"), words[len(words)-1])
}

// instructionVerbs returns verbs with which people give instructions. Before a word of tells such a verb
// is a name instead: "add still gives the wrong result".
func instructionVerbs() []string {
	return strings.Fields("add allow change check clean create delete drop extend fix get handle implement improve keep let list load make move open parse print put raise read remove rename replace return run save send set show sort split start stop support turn update use validate write")
}

func statementWords() []string {
	return strings.Fields("accepts always and breaks can cannot crashes does doesn ends fails for gives goes hangs has ignores in is loses must never of on only or panics prints raises returns says shall should shows still takes throws when with works writes yields")
}

// wordsOf returns the significant words of a text, without repetition and endings. The parts
// of names count as words.
func wordsOf(text string) []string {
	var all []string
	for _, token := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, word := range splitCamelCase(token) {
			if word = stemWord(strings.ToLower(word)); len(word) > 2 && !commonWords[word] {
				all = appendUnique(all, word)
			}
		}
	}
	return all
}

// splitCamelCase splits a name before a capital letter or a digit.
func splitCamelCase(token string) []string {
	var all []string
	runes, from := []rune(token), 0
	for i := 1; i < len(runes); i++ {
		was, is := runes[i-1], runes[i]
		last := unicode.IsUpper(was) && unicode.IsUpper(is) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsLower(was) && unicode.IsUpper(is) || unicode.IsDigit(was) != unicode.IsDigit(is) || last {
			all, from = append(all, string(runes[from:i])), i
		}
	}
	return append(all, string(runes[from:]))
}

// stemWord removes the ending of a plural or of a verb form.
func stemWord(word string) string {
	for _, end := range []string{"ies", "ing", "ed", "es", "s"} {
		rest, cut := strings.CutSuffix(word, end)
		switch {
		case !cut || len(rest) < 3 || end == "s" && strings.HasSuffix(rest, "s"):
		case end == "ies":
			return rest + "y"
		default:
			return dropDoubledEnd(strings.TrimSuffix(rest, "e"))
		}
	}
	if rest, cut := strings.CutSuffix(word, "e"); cut && len(rest) > 2 {
		return rest
	}
	return dropDoubledEnd(word)
}

// dropDoubledEnd removes one of two equal letters at the end, which an ending doubles: splitting,
// mapped.
func dropDoubledEnd(word string) string {
	if n := len(word); n > 3 && word[n-1] == word[n-2] && strings.IndexByte("bdgmnprt", word[n-1]) >= 0 {
		return word[:n-1]
	}
	return word
}

// commonWords are words without significance, without their endings.
var commonWords = listCommonWords()

func listCommonWords() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`a about after again all also always an and any anything are as at be because been before both but by can cannot
		case check class code command correct correctly could def did do does doing done each either else even every exact exactly except expect expected fail fails failing failed
		fix fixes for found from func function get gets give gives given got had has have here how if in instead into is it its itself just keep let like line
		make makes many may method more most must needs never new no nor not nothing now of off old on once one only or other otherwise our out output over
		pass passes passed program result results return returns right run runs same self shall should so some something still such test tests tested testing than that the their them then
		there these they thing this those through to too true under unit unless until up use used uses using value values very was way we well were what when where whether which while
		who whose why will with within without work works would wrong yes you your assert assertequal false none null nil var const import bug error errors issue problem
		bash make unittest`) {
		all[word], all[stemWord(word)] = true, true
	}
	for _, s := range stack.AllStacks() {
		for _, name := range s.Programs {
			all[name], all[stemWord(name)] = true, true
		}
	}
	return all
}

func shareWord(a, b []string) bool {
	return slices.ContainsFunc(a, func(word string) bool { return slices.Contains(b, word) })
}

// hasWord reports whether a text contains a name that is not part of another name.
func hasWord(text, name string) bool { return len(wordPositions(text, name)) > 0 }

// wordPositions returns the positions of a name in a text where it is not part of another name.
func wordPositions(text, name string) (all []int) {
	if name == "" {
		return nil
	}
	part := func(b byte) bool {
		return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= 0x80
	}
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return all
		}
		i += from
		end := i + len(name)
		if (i == 0 || !part(text[i-1])) && (end == len(text) || !part(text[end])) {
			all = append(all, i)
		}
		from = i + 1
	}
}

// fileStem returns a file's name without its extensions.
func fileStem(file string) string {
	base, _, _ := strings.Cut(path.Base(file), ".")
	if base == "" {
		return file
	}
	return base
}

// TestText returns the part of a file that contains a test, found by its name and by
// indentation, or "" if it is not found.
func TestText(file, text, label string) string {
	if label == file || path.Base(file) == label {
		return text
	}
	lines := strings.Split(text, "\n")
	for _, name := range shortNames(strings.TrimPrefix(label, file)) {
		at := slices.IndexFunc(lines, func(l string) bool { return hasWord(l, name) })
		if at < 0 {
			continue
		}
		indent := func(l string) int { return len(l) - len(strings.TrimLeft(l, " \t")) }
		end := at + 1
		for end < len(lines) && (strings.TrimSpace(lines[end]) == "" || indent(lines[end]) > indent(lines[at]) || strings.ContainsAny(strings.TrimSpace(lines[end])[:1], ")]}")) {
			end++
		}
		return strings.Join(lines[at:end], "\n")
	}
	return ""
}

// shortNames returns possible names of a test within its file, the likeliest first.
func shortNames(label string) []string {
	label, _, _ = strings.Cut(label, "[")
	label, _, _ = strings.Cut(label, "(")
	var all []string
	for _, sep := range []string{"::", " > ", "."} {
		if i := strings.LastIndex(label, sep); i >= 0 {
			label = label[i+len(sep):]
		}
	}
	label = strings.TrimSpace(label)
	if root, _, sub := strings.Cut(label, "/"); sub {
		all = append(all, root)
	}
	return append(all, label)
}

// testLabels returns the names of tests, for people.
func testLabels(all []baseRedTest) []string {
	var names []string
	for _, r := range all {
		names = appendUnique(names, r.label)
	}
	return names
}

// unrelatedReason returns why tests that pass now and failed before do not show a criterion.
func (s criterionWords) unrelatedReason(turned []baseRedTest) string {
	why := fmt.Sprintf("these failed before and pass now, but nothing relates them to it: %s", joinFirstNames(testLabels(turned)))
	if len(s.names) > 0 {
		why += fmt.Sprintf("; neither they nor what the change touches has %s in it", nexus.JoinWords(s.names))
	}
	return why
}
