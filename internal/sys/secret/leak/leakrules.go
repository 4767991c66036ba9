package leak

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// leakRuleFile is the format of the rules. Fields that are not in it are not supported, and refused.
type leakRuleFile struct {
	Title      string
	MinVersion string
	Allowlist  allowList
	Rules      []struct {
		ID, Description, Regex, Path string
		SecretGroup                  int
		Entropy                      float64
		Keywords, Tags               []string
		Allowlists                   []allowList
	}
}

// allowList is a list of allowed matches.
type allowList struct {
	Description, Condition, RegexTarget string
	Paths, Regexes, StopWords           []string
}

// leakRule finds one kind of secret. Its patterns are compiled when a text first contains one of its
// keywords: compiling all of them takes longer than most patches.
type leakRule struct {
	id, about   string
	keywords    []string // in lower case; a text with a secret has one of them
	pattern     *lazyRulePattern
	path        *lazyRulePattern // of the files that the rule applies to; nil: all
	group       int              // of the pattern, with the secret; 0: the first that is not empty
	entropy     float64          // minimum entropy of the secret; 0: none
	allowed     []compiledAllowList
	mayBeOthers bool // a match of another rule at the same place is preferred
}

// compiledAllowList is a [allowList] in its compiled form.
type compiledAllowList struct {
	all     bool // all criteria of the list must match, instead of one
	target  string
	paths   *lazyRulePattern // nil: no criterion, also below
	regexes *lazyRulePattern
	words   []string
}

// lazyRulePattern is a regular expression that is compiled at its first use.
type lazyRulePattern struct {
	text string
	re   *regexp.Regexp
}

func (p *lazyRulePattern) compiledRegexp() *regexp.Regexp {
	if p.re == nil {
		p.re = regexp.MustCompile(p.text)
	}
	return p.re
}

func (p *lazyRulePattern) matchesText(s string) bool {
	return p != nil && s != "" && p.compiledRegexp().MatchString(s)
}

// newLazyPattern returns a pattern of the text, nil for none.
func newLazyPattern(text string) *lazyRulePattern {
	if text == "" {
		return nil
	}
	return &lazyRulePattern{text: text}
}

// joinPatterns returns a pattern of all texts joined as in gitleaks: a flag of one of them also applies
// to those after it.
func joinPatterns(texts []string) *lazyRulePattern {
	if len(texts) == 0 {
		return nil
	}
	return &lazyRulePattern{text: "(?:" + strings.Join(texts, "|") + ")"}
}

// parseRules parses the rules, and the allowed matches of all rules.
func parseRules(data []byte) ([]leakRule, []compiledAllowList, error) {
	var f leakRuleFile
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&f); err != nil {
		return nil, nil, fmt.Errorf("read the rules for secrets: %w", err)
	}
	if len(f.Rules) == 0 {
		return nil, nil, errors.New("read the rules for secrets: there are none")
	}
	rules := make([]leakRule, 0, len(f.Rules))
	for _, r := range f.Rules {
		if r.Regex == "" { // a rule for file names, which contain no secrets
			continue
		}
		for i, k := range r.Keywords {
			r.Keywords[i] = strings.ToLower(k)
		}
		rules = append(rules, leakRule{
			id: r.ID, about: r.Description, keywords: r.Keywords, pattern: newLazyPattern(r.Regex), path: newLazyPattern(r.Path),
			group: r.SecretGroup, entropy: r.Entropy, allowed: compileAllowLists(r.Allowlists...), mayBeOthers: strings.Contains(strings.ToLower(r.ID), "generic"),
		})
	}
	return rules, compileAllowLists(f.Allowlist), nil
}

func compileAllowLists(lists ...allowList) []compiledAllowList {
	var out []compiledAllowList
	for _, l := range lists {
		a := compiledAllowList{all: l.Condition == "AND", target: l.RegexTarget, paths: joinPatterns(l.Paths), regexes: joinPatterns(l.Regexes)}
		for _, w := range l.StopWords {
			a.words = append(a.words, strings.ToLower(w))
		}
		out = append(out, a)
	}
	return out
}

// allowsFile reports whether a file is allowed as a whole.
func (a compiledAllowList) allowsFile(name string) bool {
	if a.all && (a.regexes != nil || len(a.words) > 0) {
		return false // the match decides, too
	}
	return a.paths.matchesText(name)
}

// allowsMatch reports whether a match is allowed.
func (a compiledAllowList) allowsMatch(f leakRuleMatch, name, line string) bool {
	target := f.secret
	switch a.target {
	case "match":
		target = f.match
	case "line":
		target = line
	}
	regex, word := a.regexes.matchesText(target), a.hasStopWord(f.secret)
	if !a.all {
		return regex || word
	}
	return (a.paths == nil || a.paths.matchesText(name)) && (a.regexes == nil || regex) && (len(a.words) == 0 || word)
}

func (a compiledAllowList) hasStopWord(secret string) bool {
	secret = strings.ToLower(secret)
	for _, w := range a.words {
		if secret != "" && strings.Contains(secret, w) {
			return true
		}
	}
	return false
}
