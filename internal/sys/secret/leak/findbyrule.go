package leak

import (
	"context"
	"math"
	"sort"
	"strings"

	"github.com/zricethezav/gitleaks/v8/detect/codec"
)

// maxDecodeDepth limits the levels of encoding that are decoded.
const maxDecodeDepth = 2

// leakRuleMatch is a match of a rule.
type leakRuleMatch struct {
	rule          *leakRule
	match, secret string
	line, column  int // of the match, from 0 and from 1
}

// leakSearchText is the searched text in its original form.
type leakSearchText struct {
	name string // of its file
	raw  string
	ends []int // where its lines end
}

// searchText returns the matches of all rules in a text, also in its decoded parts. The results are
// those of gitleaks.
func (f *SecretLeakFinder) searchText(ctx context.Context, name, raw string) []leakRuleMatch {
	for _, a := range f.allowed {
		if a.allowsFile(name) {
			return nil
		}
	}
	t := leakSearchText{name: name, raw: raw}
	for i := range len(raw) {
		if raw[i] == '\n' {
			t.ends = append(t.ends, i)
		}
	}
	if len(t.ends) == 0 {
		t.ends = []int{len(raw)}
	}
	var found []leakRuleMatch
	var encoded []*codec.EncodedSegment
	decoder, now := codec.NewDecoder(), raw
	for n := 0; ; n++ {
		small := strings.ToLower(now)
		for i := range f.rules {
			if ctx.Err() != nil {
				return found
			}
			if r := &f.rules[i]; r.hasKeyword(small) {
				found = append(found, f.findByRule(r, t, now, encoded)...)
			}
		}
		if n == maxDecodeDepth {
			break
		}
		if now, encoded = decoder.Decode(now, encoded); len(encoded) == 0 {
			break
		}
	}
	return dropGeneric(found)
}

// hasKeyword reports whether a lower-case text contains a keyword of the rule.
func (r *leakRule) hasKeyword(small string) bool {
	for _, k := range r.keywords {
		if strings.Contains(small, k) {
			return true
		}
	}
	return len(r.keywords) == 0
}

// findByRule returns the matches of one rule in the current form of a text: the original, or one
// with decoded parts.
func (f *SecretLeakFinder) findByRule(r *leakRule, t leakSearchText, now string, encoded []*codec.EncodedSegment) []leakRuleMatch {
	if r.path != nil && !r.path.compiledRegexp().MatchString(t.name) {
		return nil
	}
	for _, a := range r.allowed {
		if a.allowsFile(t.name) {
			return nil
		}
	}
	var found []leakRuleMatch
	for _, at := range r.pattern.compiledRegexp().FindAllStringIndex(now, -1) {
		g := leakRuleMatch{rule: r, match: strings.Trim(now[at[0]:at[1]], "\n")}
		line := ""
		if len(encoded) > 0 {
			decoded := codec.SegmentsWithDecodedOverlap(encoded, at[0], at[1])
			if len(decoded) == 0 {
				continue // it was found before the decoding
			}
			at, line = codec.AdjustMatchIndex(decoded, at), codec.CurrentLine(decoded, now)
		} else {
			at[1] = at[0] + len(g.match)
		}
		var own string
		if g.line, g.column, own = t.lineAndColumn(at[0], at[1]); line == "" {
			line = own
		}
		if g.secret = r.secretPart(g.match); r.entropy != 0 && entropy(g.secret) <= r.entropy {
			continue
		}
		if !isAllowed(f.allowed, g, t.name, line) && !isAllowed(r.allowed, g, t.name, line) {
			found = append(found, g)
		}
	}
	return found
}

func isAllowed(by []compiledAllowList, g leakRuleMatch, name, line string) bool {
	for _, a := range by {
		if a.allowsMatch(g, name, line) {
			return true
		}
	}
	return false
}

// secretPart returns the part of a match that is the secret.
func (r *leakRule) secretPart(match string) string {
	groups := r.pattern.compiledRegexp().FindStringSubmatch(match)
	if r.group > 0 && r.group < len(groups) {
		return groups[r.group]
	}
	for i := 1; i < len(groups); i++ {
		if groups[i] != "" {
			return groups[i]
		}
	}
	return match
}

// lineAndColumn returns the line and the column of a range, and the text of its lines. As in gitleaks, all
// lines but the first begin with the line feed of the one before.
func (t leakSearchText) lineAndColumn(start, end int) (line, column int, own string) {
	begin := func(n int) int {
		if n == 0 {
			return 0
		}
		return t.ends[n-1]
	}
	line = sort.SearchInts(t.ends, start+1)
	column = start - begin(line) + 1
	from, to := begin(line), end
	if line == len(t.ends) { // in a last line without a line feed
		from = 0
		for to < len(t.raw) && t.raw[to] != '\n' && t.raw[to] != '\r' {
			to++
		}
		return line, column, t.raw[from:to]
	}
	to = t.ends[line]
	if last := sort.SearchInts(t.ends, end); last > line && last < len(t.ends) {
		to = t.ends[last]
	}
	return line, column, t.raw[from:max(to, end)]
}

// dropGeneric drops matches of generic rules if a specific rule matches at the same place.
func dropGeneric(all []leakRuleMatch) []leakRuleMatch {
	var kept []leakRuleMatch
	for _, g := range all {
		known := false
		for _, h := range all {
			known = known || g.rule.mayBeOthers && !h.rule.mayBeOthers && g.line == h.line && strings.Contains(h.secret, g.secret)
		}
		if !known {
			kept = append(kept, g)
		}
	}
	return kept
}

// entropy returns the average bits per character of a text.
func entropy(s string) float64 {
	counts := map[rune]int{}
	for _, r := range s {
		counts[r]++
	}
	bits := 0.0
	for _, n := range counts {
		share := float64(n) / float64(len(s))
		bits -= share * math.Log2(share)
	}
	return bits
}
