package parserbase

import (
	"bytes"
	"encoding/json"
	"strings"
)

// DecodeDocument finds the JSON value in a tool's output, standard output first, after lines of other
// kinds. It decodes it into v; ok is false if there is none, and broken is true if one begins
// and does not end.
func (in ToolOutput) DecodeDocument(v any) (ok, broken bool) {
	for _, data := range [][]byte{in.Stdout, in.Stderr} {
		for at := 0; at < len(data); {
			end := bytes.IndexByte(data[at:], '\n')
			if end < 0 {
				end = len(data) - at
			}
			line := bytes.TrimSpace(data[at : at+end])
			if len(line) > 0 && (line[0] == '{' || line[0] == '[') && !isOrdinaryLine(line) {
				if json.NewDecoder(bytes.NewReader(data[at:])).Decode(v) == nil {
					return true, false
				}
				broken = true
			}
			if broken {
				break
			}
			at += end + 1
		}
	}
	return false, broken
}

// isOrdinaryLine reports whether a line only looks like the beginning of JSON: "[warn] x".
func isOrdinaryLine(line []byte) bool {
	if line[0] != '[' {
		return false
	}
	rest := bytes.TrimSpace(line[1:])
	return len(rest) > 0 && !strings.ContainsRune("{[\"]", rune(rest[0]))
}

// EachObject calls each for every line that is a JSON object, and returns the
// other lines.
func EachObject(data []byte, each func(line []byte) bool) []string {
	var rest []string
	for l := range bytes.SplitSeq(data, []byte("\n")) {
		if t := bytes.TrimSpace(l); len(t) > 0 && t[0] == '{' && each(t) {
			continue
		}
		if len(l) > 0 {
			rest = append(rest, CleanLine(l))
		}
	}
	return rest
}
