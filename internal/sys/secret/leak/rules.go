package leak

import (
	"bytes"
	_ "embed" // the rules of gitleaks
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// rulesOfGitleaks are the rules as gitleaks publishes them, unchanged. Their
// licence, MIT, stands beside them. make oracle says when they are not those of
// the release that it holds the matcher against.
//
//go:embed rules/gitleaks.toml
var rulesOfGitleaks []byte

// file is the form of the rules. What it does not name cannot be matched here,
// and is refused.
type file struct {
	Title      string
	MinVersion string
	Allowlist  list
	Rules      []struct {
		ID, Description, Regex, Path string
		SecretGroup                  int
		Entropy                      float64
		Keywords, Tags               []string
		Allowlists                   []list
	}
}

// list is what is allowed though a rule finds it.
type list struct {
	Description, Condition, RegexTarget string
	Paths, Regexes, StopWords           []string
}

// rule finds one kind of secret. Its patterns are compiled when a text first
// has one of its keywords: that of all of them takes longer than most patches.
type rule struct {
	id, about   string
	keywords    []string // in lower case; one of them is in a text with a secret
	pattern     *pattern
	path        *pattern // of the files that the rule is for; nil: all
	group       int      // of the pattern, with the secret; 0: the first that is not empty
	entropy     float64  // that the secret has more than; 0: any
	allowed     []allowed
	mayBeOthers bool // what another rule finds at the same place is not this rule's
}

// allowed is a [list] that is ready to be asked.
type allowed struct {
	all     bool // all that the list names must be so, not one of it
	target  string
	paths   *pattern // nil: no path is named, as below
	regexes *pattern
	words   []string
}

// pattern is compiled when it is first used.
type pattern struct {
	text string
	re   *regexp.Regexp
}

func (p *pattern) regexp() *regexp.Regexp {
	if p.re == nil {
		p.re = regexp.MustCompile(p.text)
	}
	return p.re
}

func (p *pattern) fits(s string) bool { return p != nil && s != "" && p.regexp().MatchString(s) }

// one returns a pattern of the text, nil for none.
func one(text string) *pattern {
	if text == "" {
		return nil
	}
	return &pattern{text: text}
}

// anyOf returns a pattern of all texts as gitleaks joins them: a flag that one of
// them sets holds for those behind it, too.
func anyOf(texts []string) *pattern {
	if len(texts) == 0 {
		return nil
	}
	return &pattern{text: "(?:" + strings.Join(texts, "|") + ")"}
}

// parse reads the rules, and what is allowed whichever rule finds it.
func parse(data []byte) ([]rule, []allowed, error) {
	var f file
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&f); err != nil {
		return nil, nil, fmt.Errorf("read the rules for secrets: %w", err)
	}
	if len(f.Rules) == 0 {
		return nil, nil, errors.New("read the rules for secrets: there are none")
	}
	rules := make([]rule, 0, len(f.Rules))
	for _, r := range f.Rules {
		if r.Regex == "" { // a rule for names of files, which hold no secret themselves
			continue
		}
		for i, k := range r.Keywords {
			r.Keywords[i] = strings.ToLower(k)
		}
		rules = append(rules, rule{
			id: r.ID, about: r.Description, keywords: r.Keywords, pattern: one(r.Regex), path: one(r.Path),
			group: r.SecretGroup, entropy: r.Entropy, allowed: ready(r.Allowlists...), mayBeOthers: strings.Contains(strings.ToLower(r.ID), "generic"),
		})
	}
	return rules, ready(f.Allowlist), nil
}

func ready(lists ...list) []allowed {
	var out []allowed
	for _, l := range lists {
		a := allowed{all: l.Condition == "AND", target: l.RegexTarget, paths: anyOf(l.Paths), regexes: anyOf(l.Regexes)}
		for _, w := range l.StopWords {
			a.words = append(a.words, strings.ToLower(w))
		}
		out = append(out, a)
	}
	return out
}

// file reports whether all of a file is allowed.
func (a allowed) file(name string) bool {
	if a.all && (a.regexes != nil || len(a.words) > 0) {
		return false // what is found in it decides, too
	}
	return a.paths.fits(name)
}

// finding reports whether what was found is allowed.
func (a allowed) finding(f finding, name, line string) bool {
	target := f.secret
	switch a.target {
	case "match":
		target = f.match
	case "line":
		target = line
	}
	regex, word := a.regexes.fits(target), a.word(f.secret)
	if !a.all {
		return regex || word
	}
	return (a.paths == nil || a.paths.fits(name)) && (a.regexes == nil || regex) && (len(a.words) == 0 || word)
}

func (a allowed) word(secret string) bool {
	secret = strings.ToLower(secret)
	for _, w := range a.words {
		if secret != "" && strings.Contains(secret, w) {
			return true
		}
	}
	return false
}
