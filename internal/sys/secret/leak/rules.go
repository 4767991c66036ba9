package leak

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// file is the format of the rules. Fields that are not in it are not supported, and refused.
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

// list is a list of allowed matches.
type list struct {
	Description, Condition, RegexTarget string
	Paths, Regexes, StopWords           []string
}

// rule finds one kind of secret. Its patterns are compiled when a text first contains one of its
// keywords: compiling all of them takes longer than most patches.
type rule struct {
	id, about   string
	keywords    []string // in lower case; a text with a secret has one of them
	pattern     *pattern
	path        *pattern // of the files that the rule applies to; nil: all
	group       int      // of the pattern, with the secret; 0: the first that is not empty
	entropy     float64  // minimum entropy of the secret; 0: none
	allowed     []allowed
	mayBeOthers bool // a match of another rule at the same place is preferred
}

// allowed is a [list] in its compiled form.
type allowed struct {
	all     bool // all criteria of the list must match, instead of one
	target  string
	paths   *pattern // nil: no criterion, also below
	regexes *pattern
	words   []string
}

// pattern is a regular expression that is compiled at its first use.
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

// anyOf returns a pattern of all texts joined as in gitleaks: a flag of one of them also applies
// to those after it.
func anyOf(texts []string) *pattern {
	if len(texts) == 0 {
		return nil
	}
	return &pattern{text: "(?:" + strings.Join(texts, "|") + ")"}
}

// parse parses the rules, and the allowed matches of all rules.
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
		if r.Regex == "" { // a rule for file names, which contain no secrets
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

// file reports whether a file is allowed as a whole.
func (a allowed) file(name string) bool {
	if a.all && (a.regexes != nil || len(a.words) > 0) {
		return false // the match decides, too
	}
	return a.paths.fits(name)
}

// finding reports whether a match is allowed.
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
