package accept

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	patterns "github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// redTest is a test that failed on the base each time, or a file of tests that could not be
// loaded there, or a whole gate whose runner names neither.
type redTest struct {
	gate  string
	label string
	file  string // that it is in; empty where nobody says so
	text  string // of the test on the base; empty: nobody found it
}

// class is what a test belongs to within its file, by its name: empty where that does
// not say so.
func (r redTest) class() string {
	name := strings.TrimPrefix(r.label, r.file)
	for _, sep := range []string{"::", " > ", "."} {
		if i := strings.LastIndex(name, sep); i > 0 {
			return strings.Trim(name[:i], ":> .")
		}
	}
	return ""
}

// isBeside reports whether two tests are of one file, and of one class where both have
// one. Of tests whose file nobody knows, those of one class are, and those without.
func (r redTest) isBeside(o redTest) bool {
	return r.gate == o.gate && r.file == o.file && (r.class() == o.class() || r.class() == "" || o.class() == "")
}

// tokens are the words of a test's own name, each once, short ones, too.
func (r redTest) tokens() []string {
	name := strings.Trim(strings.TrimPrefix(r.label, r.file), ":> .")
	name = strings.TrimPrefix(name, r.class())
	var all []string
	for _, token := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, word := range humps(token) {
			if word = strings.ToLower(word); word != "test" {
				all = appendUnique(all, word)
			}
		}
	}
	return all
}

// isLike reports whether all of the name of one of two tests, if that is more than a word, is in that of
// the other: test_eq_with_dict and test_query_eq_with_dict ask for the same of two things.
func (r redTest) isLike(o redTest) bool {
	a, b := r.tokens(), o.tokens()
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) > 1 && !slices.ContainsFunc(a, func(word string) bool { return !slices.Contains(b, word) })
}

// wording is what a task says of a criterion, as far as that is in the words and
// names of a program.
type wording struct {
	words []string // see [wordsOf]
	files []string // names of files
	names []string // of Subjects, those that the code knows and that are meant as names
	loose []string // of these, those that may be ordinary words as well: "a list that was split"
}

// wordingOf reads what the task says about a criterion.
func (w Work) wordingOf(c nexus.Criterion) wording {
	var s wording
	s.names, s.loose = meantNames(w.Known, []string{w.Task.Title, c.Text, c.Check})
	for _, text := range []string{w.Task.Title, c.Text, c.Check} {
		text = bound(text)
		for _, file := range fileRE.re().FindAllString(text, -1) {
			s.files = add(s.files, path.Base(file))
		}
		for _, word := range wordsOf(fileRE.re().ReplaceAllString(text, " ")) {
			s.words = appendUnique(s.words, word)
		}
	}
	return s
}

// empty reports whether nothing is said that could be held against names.
func (s wording) empty() bool { return len(s.words)+len(s.files) == 0 }

// weight says how much of what is said a test has: in its name most, in that of its file less, and least in its text.
func (s wording) weight(r redTest) int {
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

// inName is what a word weighs that is in the name of a test.
const inName = 3

// called reports whether a word of the wording is in the name of a test.
func (s wording) called(r redTest) bool {
	in := wordsOf(r.label)
	return slices.ContainsFunc(s.words, func(word string) bool { return slices.Contains(in, word) })
}

// touches reports whether a change is where the wording says: it touches a name or a file
// that has a word of it.
func (w Work) touches(s wording) bool {
	for _, file := range w.Changed {
		if stack.ServesTests(file) {
			continue
		}
		if slices.Contains(s.files, path.Base(file)) || overlap(s.words, wordsOf(fileStem(file))) {
			return true
		}
	}
	return slices.ContainsFunc(w.Touched, func(name string) bool { return overlap(s.words, wordsOf(name)) })
}

// mentions reports whether a test has a name in it that the change touches, or the name
// of a file that it changes.
func (w Work) mentions(r redTest) bool {
	has := func(name string) bool { return hasWord(r.text, name) || hasWord(r.label, name) }
	if slices.ContainsFunc(w.Touched, has) {
		return true
	}
	return slices.ContainsFunc(w.Changed, func(file string) bool { return !stack.ServesTests(file) && has(path.Base(file)) })
}

// relates is how much has to relate tests to what the wording is about: a word in a name, or two in the
// text of one test. One word in a text is a matter of chance.
const relates = 2

// isRelated reports whether tests that turned green are about what the wording is about.
func (w Work) isRelated(s wording, tests []redTest) bool {
	return s.empty() || w.relation(s, tests) >= min(relates, len(s.words)+len(s.files)) // unshownReason tells one test from another
}

// mayRelate is [Work.isRelated] for what somebody chose for the criterion: one word is enough.
func (w Work) mayRelate(s wording, tests []redTest) bool {
	return s.empty() || w.relation(s, tests) > 0
}

// relation says how much relates some tests, and what the change touches, to the wording. Where
// that names something that the code knows, one of them has to have that name, or the change touches it.
func (w Work) relation(s wording, tests []redTest) int {
	known := func(name string) bool { return w.knows(name, tests) }
	named := slices.ContainsFunc(s.names, known) || slices.ContainsFunc(s.loose, known)
	if len(s.names) > 0 && !named {
		return 0
	}
	best := 0
	for _, r := range tests {
		n := s.weight(r)
		if slices.ContainsFunc(s.files, func(f string) bool { return path.Base(r.file) == f || hasWord(r.text, f) || hasWord(r.label, f) }) {
			n += inName
		}
		if slices.ContainsFunc(s.names, func(name string) bool { return hasWord(r.text, name) }) {
			n += relates
		}
		best = max(best, n)
	}
	if w.touches(s) {
		best += relates
	}
	if len(s.loose) > 0 && best < inName && !named {
		return 0
	}
	return best
}

// isAkin reports whether parts of words relate tests to the wording: "hex" is a part of "hexadecimal",
// and "date" of "daterange". That is for where nothing else does, and no other test is red.
func (w Work) isAkin(s wording, tests []redTest) bool {
	if len(s.names)+len(s.loose) > 0 {
		return false
	}
	return slices.ContainsFunc(tests, func(r redTest) bool {
		return slices.ContainsFunc(wordsOf(strings.TrimPrefix(r.label, r.file)), func(in string) bool {
			return slices.ContainsFunc(s.words, func(said string) bool { return isPart(in, said) || isPart(said, in) })
		})
	})
}

// isPart reports whether a word begins with another, or a long one ends with it.
func isPart(short, long string) bool {
	return len(short) > 2 && strings.HasPrefix(long, short) || len(short) > 3 && strings.HasSuffix(long, short)
}

// knows reports whether the change touches a name, or one of some tests has it.
func (w Work) knows(name string, tests []redTest) bool {
	has := func(text string) bool {
		return hasWord(text, name) || slices.Contains(wordsOf(text), stemmed(strings.ToLower(name)))
	}
	return slices.ContainsFunc(w.Touched, has) ||
		slices.ContainsFunc(w.Changed, func(file string) bool { return !stack.ServesTests(file) && has(fileStem(file)) }) ||
		slices.ContainsFunc(tests, func(r redTest) bool { return has(r.label) || has(r.text) || has(fileStem(r.file)) })
}

// openReds returns the tests that are red still and belong to what a criterion asks for, by
// what is known, and why the first does. Turned are those that show it; where none do,
// only what the wording names, or what the change and the wording are both about, belongs to it.
func (w Work) openReds(s wording, turned, left []redTest) (open []string, why string) {
	best := 0
	for _, t := range turned {
		best = max(best, s.weight(t))
	}
	for _, r := range left {
		reason := ""
		weight, near := s.weight(r), slices.ContainsFunc(turned, r.isBeside)
		switch {
		case near && r.text == "":
			reason = "it is beside one that passes now, and its text is not known"
		case near && (weight > 0 || w.mentions(r)):
			reason = "it is beside one that passes now, and is about the same"
		case slices.ContainsFunc(turned, r.isLike):
			reason = "it is called like one that passes now"
		case len(turned) > 0 && weight > 0 && weight >= best:
			reason = "the task speaks of it no less than of those that pass now"
		case len(turned) == 0 && (s.called(r) || weight > 0 && w.mentions(r)):
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

// Subjects returns the words of a task that may be names of what it is about. Which of
// them the code knows is for somebody to look up who sees the code.
func Subjects(t nexus.Task) []string {
	var all []string
	for _, text := range Texts(t) {
		words := strings.FieldsFunc(bound(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
		for i, word := range words {
			commands := i == 0 && slices.Contains(orders(), strings.ToLower(word)) && (len(words) < 2 || !slices.Contains(tells(), strings.ToLower(words[1])))
			if len(word) > 2 && !commands && len(wordsOf(word)) > 0 {
				all = add(all, word)
			}
		}
	}
	return all
}

// meantNames tells names that the code knows from ordinary words that happen to be names, by how some
// texts use them. Where some are written as only names are, no others are meant.
func meantNames(known, texts []string) (names, loose []string) {
	var clear []string
	for _, name := range known {
		ordinary := true
		for _, text := range texts {
			text = bound(text)
			for _, at := range wordAt(text, name) {
				if marked(text, at, at+len(name)) || strings.ContainsFunc(name[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_' }) {
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

// marked reports whether a part of a text is written as code is.
func marked(text string, from, to int) bool {
	return from > 0 && strings.IndexByte("`.", text[from-1]) >= 0 || to < len(text) && strings.IndexByte("`(", text[to]) >= 0
}

// isOrdinary reports whether what is around a word makes it one of the language: an article or a form of
// to be before it, and no "function" after it.
func isOrdinary(before, after string) bool {
	follows := strings.Fields(strings.ToLower(after))
	if len(follows) > 0 && slices.Contains(strings.Fields("function method class command option flag macro helper"), strings.Trim(follows[0], ".,:;")) {
		return false
	}
	words := strings.Fields(strings.ToLower(before))
	return len(words) > 0 && slices.Contains(strings.Fields("a an the its their this that these those each every some any no own same other such is are was were be been being"), words[len(words)-1])
}

// orders are words with which people say what is to be done, and tells those that follow
// where such a word names something instead: "add still gives the wrong result".
func orders() []string {
	return strings.Fields("add allow change check clean create delete drop extend fix get handle implement improve keep let list load make move open parse print put raise read remove rename replace return run save send set show sort split start stop support turn update use validate write")
}

func tells() []string {
	return strings.Fields("accepts always and breaks can cannot crashes does doesn ends fails for gives goes hangs has ignores in is loses must never of on only or panics prints raises returns says shall should shows still takes throws when with works writes yields")
}

// wordsOf returns what a text says in words that tell one thing from another, each
// once, without their endings: those of names are words, too.
func wordsOf(text string) []string {
	var all []string
	common := *commonWords()
	for _, token := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, word := range humps(token) {
			if word = stemmed(strings.ToLower(word)); len(word) > 2 && !common[word] {
				all = appendUnique(all, word)
			}
		}
	}
	return all
}

// humps splits a name where a capital or a digit begins another word.
func humps(token string) []string {
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

// stemmed takes the ending from a word that one of several, or what is being done, has.
func stemmed(word string) string {
	for _, end := range []string{"ies", "ing", "ed", "es", "s"} {
		rest, cut := strings.CutSuffix(word, end)
		switch {
		case !cut || len(rest) < 3 || end == "s" && strings.HasSuffix(rest, "s"):
		case end == "ies":
			return rest + "y"
		default:
			return single(strings.TrimSuffix(rest, "e"))
		}
	}
	if rest, cut := strings.CutSuffix(word, "e"); cut && len(rest) > 2 {
		return rest
	}
	return single(word)
}

// single takes one of two equal letters from the end, which an ending doubles: splitting, mapped.
func single(word string) string {
	if n := len(word); n > 3 && word[n-1] == word[n-2] && strings.IndexByte("bdgmnprt", word[n-1]) >= 0 {
		return word[:n-1]
	}
	return word
}

// commonWords are words that tell nothing apart, without their endings.
var commonWords = patterns.Once(listCommonWords)

func listCommonWords() *map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`a about after again all also always an and any anything are as at be because been before both but by can cannot
		case check class code command correct correctly could def did do does doing done each either else even every exact exactly except expect expected fail fails failing failed
		fix fixes for found from func function get gets give gives given got had has have here how if in instead into is it its itself just keep let like line
		make makes many may method more most must needs never new no nor not nothing now of off old on once one only or other otherwise our out output over
		pass passes passed program result results return returns right run runs same self shall should so some something still such test tests tested testing than that the their them then
		there these they thing this those through to too true under unit unless until up use used uses using value values very was way we well were what when where whether which while
		who whose why will with within without work works would wrong yes you your assert assertequal false none null nil var const import bug error errors issue problem
		bash make unittest`) {
		all[word], all[stemmed(word)] = true, true
	}
	for _, s := range stack.All() {
		for _, name := range s.Programs {
			all[name], all[stemmed(name)] = true, true
		}
	}
	return &all
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(word string) bool { return slices.Contains(b, word) })
}

// hasWord reports whether a text has a name that is not a part of another.
func hasWord(text, name string) bool { return len(wordAt(text, name)) > 0 }

// wordAt returns where a text has a name that is not a part of another.
func wordAt(text, name string) (all []int) {
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

// fileStem is the name of a file without its endings.
func fileStem(file string) string {
	base, _, _ := strings.Cut(path.Base(file), ".")
	if base == "" {
		return file
	}
	return base
}

// TestText returns the part of a file that a test is, by its name and how lines are
// indented: empty where it is not found.
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

// shortNames returns what a test may be called in its file, the likeliest first.
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

// names says which tests, for people.
func labels(all []redTest) []string {
	var names []string
	for _, r := range all {
		names = appendUnique(names, r.label)
	}
	return names
}

// unrelated says why tests that turned green do not show a criterion.
func (s wording) unrelated(turned []redTest) string {
	why := fmt.Sprintf("these failed before and pass now, but nothing relates them to it: %s", joinFew(labels(turned)))
	if len(s.names) > 0 {
		why += fmt.Sprintf("; neither they nor what the change touches has %s in it", nexus.Join(s.names))
	}
	return why
}
