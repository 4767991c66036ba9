package trafficrecord

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// canonicalJSON returns a JSON value with sorted keys and without the parts that differ from run to
// run. Other texts are returned unchanged.
func canonicalJSON(data []byte) []byte {
	v, ok := decodeNormalized(data)
	if !ok {
		return data
	}
	out, err := json.Marshal(replaceTexts(v, sortedWords))
	if err != nil {
		return data
	}
	return out
}

// decodeNormalized returns a JSON value with normalized texts.
func decodeNormalized(data []byte) (any, bool) {
	if len(data) == 0 {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	all := volatilePatterns()
	return replaceTexts(v, func(s string) string { return replaceAll(s, all) }), true
}

// replaceTexts replaces every text of a value.
func replaceTexts(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = replaceTexts(v[i], change)
		}
	case map[string]any:
		for k := range v {
			v[k] = replaceTexts(v[k], change)
		}
	}
	return v
}

// sortedWords returns the words of a multi-line text, each once and sorted: tests print in another
// order each time if they iterate over a map or run in parallel, and the line that represents all
// of them differs.
func sortedWords(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	words := strings.Fields(s)
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

func normalizeText(s string) string { return replaceAll(s, volatilePatterns()) }

// shortHashMark marks a pattern of words that are replaced if they are short hashes.
const shortHashMark = "<hash>?"

type normalizationRule struct {
	pattern *regexp.Regexp
	with    string
}

// volatilePatterns lists the texts that differ when the same work is repeated: names of runs and commits,
// paths, times and durations. Briefs contain the commit from which the work starts; the rest is
// output of tools.
func volatilePatterns() []normalizationRule {
	var all []normalizationRule
	for _, x := range [][2]string{
		{`\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z| ?[+-]\d{2}:?\d{2})?`, "<time>"},
		{`\b\d{4}/\d{2}/\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?`, "<time>"},
		{`\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ \d{2}:\d{2}:\d{2} \d{4}(?: [+-]\d{4})?`, "<time>"},
		{`\b\d{4}-\d{2}-\d{2}\b`, "<day>"},
		{`(?:/[\w.@+~-]+)+/trees/[\w-]+`, "<trees>"},
		{`\b\d{6}-\d{6}-[a-z2-7]{3}\b`, "<run>"},
		{`/tmp/[^\s:"'\\]+`, "<tmp>"},
		{`\b[0-9a-f]{64}\b|\b[0-9a-f]{40}\b`, "<hash>"},
		// One in sixty short hashes has no letter. It is a number then, except where git and briefs
		// name a commit.
		{`((?i:\b(?:commit|merge|head is now at|landed as|onto)[: ]+|\[[\w./-]+ ))[0-9a-f]{7,12}\b`, "$1<hash>"},
		{`(?m)^([*|\\/ +-]*)\d{7,12} `, "$1<hash> "},
		{`\b[0-9a-f]*(?:[0-9][a-f]|[a-f][0-9])[0-9a-f]*\b`, shortHashMark},
		{`(?:\d+(?:\.\d+)?(?:ns|us|\x{b5}s|ms|s|m|h))+\b|\(cached\)`, "<span>"},
		{`"Elapsed":\d+(?:\.\d+)?(?:[eE]-?\d+)?`, `"Elapsed":<span>`},
		{`\b0x[0-9a-f]{6,}\b`, "<address>"},
		{`\bgoroutine \d+\b`, "goroutine <n>"},
		{`(127\.0\.0\.1|localhost|\[::1\]):\d+\b`, "$1:<port>"},
		{`, usually (?:about a second|\d+ (?:seconds|minutes|hours))`, ""}, // only after a gate has run here
		{`\b\d+ bytes left out`, "<n> bytes left out"},
	} {
		all = append(all, normalizationRule{regexp.MustCompile(x[0]), x[1]})
	}
	return all
}

func replaceAll(s string, all []normalizationRule) string {
	for _, r := range all {
		if r.with != shortHashMark {
			s = r.pattern.ReplaceAllString(s, r.with)
			continue
		}
		s = r.pattern.ReplaceAllStringFunc(s, func(word string) string {
			if len(word) >= 7 && len(word) <= 12 && strings.ContainsAny(word, "0123456789") { // a short hash
				return "<hash>"
			}
			return word
		})
	}
	return s
}
