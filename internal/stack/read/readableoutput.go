package read

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Legible returns what of a tool's output is worth reading. Of a stream of go
// test -json that is what failed tests, packages and builds printed, package
// by package, as go test prints it without -json; so it is the same however
// the packages ran side by side. Other output stays as it is.
func Legible(out []byte) []byte {
	type part struct {
		pkg, test string
		text      strings.Builder
		failed    bool
	}
	var parts []*part
	at := map[[2]string]*part{}
	find := func(pkg, test string) *part {
		p := at[[2]string{pkg, test}]
		if p == nil {
			p = &part{pkg: pkg, test: test}
			at[[2]string{pkg, test}] = p
			parts = append(parts, p)
		}
		return p
	}
	var rest []byte
	events := 0
	for line := range bytes.Lines(out) {
		var e event
		if line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Action == "" {
			rest = append(rest, line...)
			continue
		}
		events++
		pkg := e.Package
		if strings.HasPrefix(e.Action, "build-") {
			pkg = e.ImportPath
		}
		p := find(pkg, e.Test)
		switch e.Action {
		case "output", "build-output":
			if !chatter(e.Output) {
				p.text.WriteString(e.Output)
			}
		case "fail", "build-fail":
			p.failed = true
		}
	}
	if events == 0 {
		return out
	}
	slices.SortStableFunc(parts, func(a, b *part) int {
		return cmp.Or(strings.Compare(a.pkg, b.pkg), cmp.Compare(len(b.test), 0)-cmp.Compare(len(a.test), 0)) // a package ends after its tests
	})
	var b bytes.Buffer
	for _, p := range parts {
		if p.failed {
			b.WriteString(p.text.String())
		}
	}
	b.Write(rest)
	return b.Bytes()
}

// chatter reports whether a line only says that a test continues.
func chatter(line string) bool {
	for _, word := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "} {
		if strings.HasPrefix(line, word) {
			return true
		}
	}
	return false
}
