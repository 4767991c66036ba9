package definitionofdone_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestLicences takes one alternative that is allowed, wants all parts of it to
// be, and never one that is denied.
func TestLicences(t *testing.T) {
	allowed, denied := []string{"MIT", "Apache-2.0"}, []string{"GPL-3.0"}
	for _, c := range []struct {
		licence         string
		allowed, denied []string
		want            string // empty: it may be kept
	}{
		{"mit", allowed, nil, ""},
		{"(MIT OR GPL-3.0)", allowed, denied, ""},
		{"MIT AND Apache-2.0", allowed, denied, ""},
		{"Apache-2.0 WITH LLVM-exception", allowed, denied, ""},
		{"MIT AND ISC", allowed, denied, "allowed_licences"},
		{"ISC", allowed, nil, "allowed_licences"},
		{"GPL-3.0-or-later", allowed, denied, "denied_licences"},
		{"MIT AND GPL-3.0-only", allowed, denied, "denied_licences"},
		{"MIT", allowed, []string{"MIT"}, "denied_licences"},
		{"ISC", nil, denied, ""},
		{"GPL-3.0+", nil, denied, "denied_licences"},
		{"ISC", nil, nil, "allowed_licences"},
		{"LGPL-3.0", nil, denied, ""},
	} {
		r := nexus.DefinitionOfDone{Modes: map[string]nexus.BoundMode{nexus.LicencesBound: nexus.BoundBlock}, Licences: c.allowed, Denied: c.denied}
		said := ""
		for _, e := range definitionofdone.CheckBounds(r, definitionofdone.MeasuredChange{Whole: true, Run: true, Deps: []definitionofdone.AddedDependency{{Name: "x@1", Licence: c.licence}}}) {
			for _, f := range e.Findings {
				said += f.Message
			}
		}
		if (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("%s with %v and without %v: %q, want %q", c.licence, c.allowed, c.denied, said, c.want)
		}
	}
}
