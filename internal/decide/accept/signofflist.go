package accept

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

const heading = "# Checklist of run "

// SignOffMarkdown writes a checklist that [ParseSignOff] reads back.
func SignOffMarkdown(run nexus.RunID, t CriteriaTable, items []SignOffItem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n", heading, run)
	b.WriteString("Mark what you looked at: [x] it is as it should be, [n] it is not. Leave [ ] what you did not look at.\nWrite what you saw below it, after >; for [n] this is required.\n\n")
	if try := CheckoutResultCommand(run, t); try != "" {
		fmt.Fprintf(&b, "To try it: `%s`\n\n", try)
	}
	for _, i := range items {
		fmt.Fprintf(&b, "- [ ] %s (%s) %s\n", i.ID, i.Fingerprint, oneLine(i.Criterion))
		fmt.Fprintf(&b, "      %s %s: %s as %.12s\n", i.Task, oneLine(i.Title), i.Status, i.Commit)
		fmt.Fprintf(&b, "      %s: %s\n  >\n\n", i.State, cmp.Or(oneLine(i.Why), "unknown"))
	}
	return b.String()
}

// oneLine turns a text into one line without control characters.
func oneLine(text string) string {
	return sanitize.RevealHidden(strings.Join(strings.Fields(text), " "))
}

// Limits of a checklist.
const (
	maxList  = 1 << 20 // bytes
	maxWords = 2_000   // of one answer
)

// ParseSignOff parses an edited checklist: its run, and the marked answers. It never guesses:
// an unmarked criterion has no answer, and a mark that it does not understand is an error.
func ParseSignOff(text string) (run nexus.RunID, answers []SignOffAnswer, err error) {
	if len(text) > maxList {
		return "", nil, fmt.Errorf("it has %d bytes, the maximum is %d", len(text), maxList)
	}
	r := signOffListParser{
		item: regexp.MustCompile(`^[-*] \[(.?)\] (\S+) \(([0-9a-f]{12})\)(?: |$)`),
		box:  regexp.MustCompile(`^\s*[-*+]\s*\[`), seen: map[string]bool{},
	}
	n := 0
	for l := range strings.Lines(text) {
		n++
		if err := r.readLine(strings.TrimRight(l, " \t\r\n")); err != nil {
			return "", nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := r.endCriterion(); err != nil {
		return "", nil, fmt.Errorf("line %d: %w", n, err)
	}
	if r.run == "" {
		return "", nil, fmt.Errorf("no line starts with %q", heading)
	}
	return r.run, r.answers, nil
}

// signOffListParser is the state of a parser of a checklist.
type signOffListParser struct {
	item, box *regexp.Regexp
	seen      map[string]bool
	run       nexus.RunID
	at        *SignOffAnswer // criterion to which text lines belong; nil: none
	answers   []SignOffAnswer
}

func (r *signOffListParser) readLine(l string) error {
	if id, ok := strings.CutPrefix(l, heading); ok {
		if r.run != "" {
			return errors.New("it is about two runs")
		}
		r.run = nexus.RunID(strings.TrimSpace(id))
		return nil
	}
	m := r.item.FindStringSubmatch(l)
	words, said := strings.CutPrefix(strings.TrimLeft(l, " "), ">")
	words = strings.TrimSpace(words)
	switch {
	case m != nil:
		return r.startCriterion(m)
	case r.box.MatchString(l):
		return errors.New("a box that belongs to no criterion")
	case said && r.at == nil && words != "":
		return errors.New("there is a text that belongs to no criterion")
	case said && r.at != nil:
		r.at.Words += words + " "
	}
	return nil
}

// startCriterion starts a criterion.
func (r *signOffListParser) startCriterion(m []string) error {
	if err := r.endCriterion(); err != nil {
		return err
	}
	says, known := map[string]SignOffDecision{"": "", " ": "", "x": SignedOff, "X": SignedOff, "n": Rejected, "N": Rejected}[m[1]]
	if _, _, named := ParseID(m[2]); !known || !named || r.seen[m[2]] {
		return errors.New(checkMarkProblem(known, named, m))
	}
	r.seen[m[2]] = true
	r.at = &SignOffAnswer{ID: m[2], Print: m[3], Says: says}
	return nil
}

// endCriterion ends the current criterion.
func (r *signOffListParser) endCriterion() error {
	a := r.at
	if r.at = nil; a == nil {
		return nil
	}
	a.Words = strings.TrimSpace(a.Words)
	switch {
	case a.Says == "" && a.Words != "":
		return fmt.Errorf("there is a text for %s, which is not marked", a.ID)
	case len(a.Words) > maxWords:
		return fmt.Errorf("the text for %s has %d bytes, the maximum is %d", a.ID, len(a.Words), maxWords)
	case a.Says == Rejected && a.Words == "":
		return fmt.Errorf("%s is marked as wrong, but nothing says what is wrong", a.ID)
	case a.Says != "":
		r.answers = append(r.answers, *a)
	}
	return nil
}

func checkMarkProblem(known, named bool, m []string) string {
	switch {
	case !known:
		return fmt.Sprintf("unknown mark %q; the marks are x, n and a blank", m[1])
	case !named:
		return fmt.Sprintf("%q is not the name of a criterion", m[2])
	default:
		return m[2] + " is in it twice"
	}
}
