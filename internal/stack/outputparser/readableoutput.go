package outputparser

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// ReadableOutput returns the useful part of a tool's output. For a stream of go test -json it is the
// output of failed tests, packages and builds, package by package, as go test prints it without
// -json. It does not depend on the order in which packages ran in parallel. Other output is
// returned unchanged.
func ReadableOutput(out []byte) []byte {
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
		var e goTestEvent
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
			if !isProgressLine(e.Output) {
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

// isProgressLine reports whether a line only announces that a test continues.
func isProgressLine(line string) bool {
	for _, word := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "} {
		if strings.HasPrefix(line, word) {
			return true
		}
	}
	return false
}
