// Package eventtapetest formats events as lines that people read and tests replay:
//
//	@90s attempt.started attempt=T1.1 task=T1 tier=fast base=c0
//
// A line contains a time since the tape's start, a fact's kind, and its JSON fields that are
// not zero, nested ones with dotted names. A value has no quotes if it cannot be mistaken for
// JSON. Empty lines and lines that begin with "#" are skipped.
package eventtapetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TapeStartTime is the start time of tapes.
func TapeStartTime() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// FormatEvent returns an event as a line of a tape.
func FormatEvent(e nexus.Event) string {
	return "@" + e.At.Sub(TapeStartTime()).String() + " " + FormatFact(e.Fact)
}

// FormatFact returns a fact as a line of a tape, without a time.
func FormatFact(f nexus.Fact) string {
	kind, data, err := nexus.EncodeFact(f)
	if err != nil {
		return fmt.Sprintf("%s # %v", nexus.FactKind(f), err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Sprintf("%s # %v", kind, err)
	}
	var words []string
	flattenFields(&words, "", fields)
	return strings.Join(append([]string{kind}, words...), " ")
}

func flattenFields(words *[]string, prefix string, fields map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch v := fields[name].(type) {
		case nil:
		case map[string]any:
			flattenFields(words, prefix+name+".", v)
		default:
			if text := formatValue(v); text != `""` && text != "0" && text != "false" {
				*words = append(*words, prefix+name+"="+text)
			}
		}
	}
}

// formatValue formats a value, without quotes if it is unambiguous.
func formatValue(v any) string {
	if list, ok := v.([]any); ok && slices.IndexFunc(list, func(x any) bool { return !needsNoQuotes(x) }) < 0 {
		var items []string
		for _, x := range list {
			items = append(items, fmt.Sprint(x))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	if needsNoQuotes(v) {
		return fmt.Sprint(v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return `"?"`
	}
	return string(data)
}

// needsNoQuotes reports whether a value is a string that needs no quotes.
func needsNoQuotes(v any) bool {
	s, ok := v.(string)
	return ok && s != "" && !json.Valid([]byte(s)) && !strings.ContainsAny(s, " \t\r\n\"[]{},#=") && strings.ToValidUTF8(s, "") == s
}

// ReadTape parses a tape to the events of a run, numbered from 1. A line without a time
// happens a second after the one before.
func ReadTape(run nexus.RunID, text string) ([]nexus.Event, error) {
	var events []nexus.Event
	at := TapeStartTime()
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at = at.Add(time.Second)
		if stamp, rest, ok := strings.Cut(line, " "); ok && strings.HasPrefix(stamp, "@") {
			d, err := time.ParseDuration(stamp[1:])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			at, line = TapeStartTime().Add(d), rest
		}
		f, err := ParseFact(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		events = append(events, nexus.Event{Seq: int64(len(events) + 1), Run: run, At: at, Fact: f})
	}
	return events, nil
}

// ParseFact parses the output of [FormatFact].
func ParseFact(line string) (nexus.Fact, error) {
	words, err := splitBlanks(line)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	for _, word := range words[1:] {
		name, text, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q has no value", word)
		}
		if err := setField(fields, strings.Split(name, "."), parseValue(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", words[0], err)
	}
	return nexus.DecodeFact(words[0], data)
}

// splitBlanks cuts a line at the blanks outside quotes.
func splitBlanks(line string) ([]string, error) {
	var words []string
	word, quoted, escaped := strings.Builder{}, false, false
	for _, r := range line + " " {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && (r == ' ' || r == '\t'):
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		}
		word.WriteRune(r)
	}
	if quoted || len(words) == 0 {
		return nil, fmt.Errorf("%q is not a fact", line)
	}
	return words, nil
}

// parseValue converts a value to its form in JSON.
func parseValue(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		var list []any
		for item := range strings.SplitSeq(strings.TrimSuffix(inner, "]"), ",") {
			list = append(list, item)
		}
		return list
	}
	return text
}

func setField(fields map[string]any, path []string, v any) error {
	for ; len(path) > 1; path = path[1:] {
		inner, ok := fields[path[0]].(map[string]any)
		if !ok {
			if fields[path[0]] != nil {
				return fmt.Errorf("%s has a value of its own", path[0])
			}
			inner = map[string]any{}
			fields[path[0]] = inner
		}
		fields = inner
	}
	fields[path[0]] = v
	return nil
}
