// Package gitleaks compares the secrets that the program finds with those
// that gitleaks finds.
package gitleaks

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/lucasjones/reggen"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
)

// detector is that of gitleaks, as the program would use it.
var detector = sync.OnceValues(func() (*detect.Detector, error) {
	d, err := detect.NewDetectorDefaultConfig()
	if err == nil {
		d.IgnoreGitleaksAllow, d.MaxDecodeDepth = true, 2
	}
	return d, err
})

// found is what both sides say.
type found struct {
	Line, Column int
	Rule         string
}

// compare searches a file that is added, and returns what was found in it.
func compare(t *testing.T, name, text string) []found {
	t.Helper()
	text = strings.TrimSuffix(strings.NewReplacer("\r", "", "\x00", "").Replace(text), "\n") + "\n"
	n := strings.Count(text, "\n")
	patch := fmt.Sprintf("--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n+%s", name, n, strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+")) + "\n"
	leaks, err := finder.FindAdded(t.Context(), patch)
	if err != nil {
		t.Fatal(err)
	}
	var ours, theirs []found
	for _, l := range leaks {
		ours = append(ours, found{l.Line, l.Column, l.Rule})
	}
	d, err := detector()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Detect(detect.Fragment{Raw: text, FilePath: name}) { //nolint:staticcheck // its successor comes with the next major version
		if f.StartLine < n && f.Secret != "" { // a name of a file is no secret
			theirs = append(theirs, found{f.StartLine + 1, max(1, f.StartColumn), f.RuleID})
		}
	}
	slices.SortStableFunc(theirs, func(x, y found) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column), cmp.Compare(x.Rule, y.Rule))
	})
	theirs = slices.CompactFunc(theirs, func(x, y found) bool { return x.Line == y.Line })
	if diff := gocmp.Diff(theirs, ours); diff != "" {
		t.Errorf("%s: gitleaks finds (-), ours finds (+):\n%s\n%.2000s", name, diff, text)
	}
	return ours
}

var finder leak.SecretLeakFinder

// TestLeaksOfEveryRule searches texts made from the pattern of each rule, in
// ways in which a secret may stand in a file, plain and encoded.
func TestLeaksOfEveryRule(t *testing.T) {
	d, err := detector()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewSource(1))
	names := []string{"a.go", "deploy/values.yaml", "a.bb", "web/index.min.js", "go.sum", "nuget.config", "x.p12", "doc/a.md", "terraform.tf"}
	hit := map[string]bool{}
	some := 0
	for _, id := range d.Config.OrderedRules {
		r := d.Config.Rules[id]
		if r.Regex == nil {
			continue
		}
		g, err := reggen.NewGenerator(strings.NewReplacer(`\z`, `$`).Replace(r.Regex.String()))
		if err != nil {
			continue // it has what cannot be made up
		}
		g.SetSeed(1)
		for i := range 5 {
			secret := strings.Map(printable, g.Generate(8+i*6))
			forms := []string{
				secret, fmt.Sprintf("%s = %q", strings.Join(r.Keywords, " "), secret), "key: " + secret + "\nother: 1\n\n" + secret,
				"token := \"" + base64.StdEncoding.EncodeToString([]byte(secret)) + "\"",
				"x = " + hex.EncodeToString([]byte(secret)), "u=" + url.QueryEscape("a="+secret),
				base64.StdEncoding.EncodeToString([]byte("p: " + base64.StdEncoding.EncodeToString([]byte(secret)))),
				"LICENSE = \"" + secret + "\"", "RUN --mount=type=secret,id=" + secret, "\n\n" + secret + "\nexample " + secret,
			}
			for _, form := range forms {
				for _, f := range compare(t, names[random.Intn(len(names))], form) {
					some++
					hit[f.Rule] = true
				}
			}
		}
		if t.Failed() {
			return
		}
	}
	if t.Logf("%d findings of %d rules", some, len(hit)); len(hit) < 150 {
		t.Errorf("only %d rules found something", len(hit))
	}
}

func printable(r rune) rune {
	if r == '\n' || r >= ' ' && r < 0x7f {
		return r
	}
	return 'x'
}

// TestLeaksOfCode searches the project's own files, some as if one line were
// several, which hold things that look like secrets.
func TestLeaksOfCode(t *testing.T) {
	for _, dir := range []string{"../../sys/secret", "../../decide/policy", "../../sys/llm", "../../../docs"} {
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(path) == ".toml" {
				return err
			}
			data, err := os.ReadFile(path)
			if err == nil && len(data) < 100<<10 {
				compare(t, filepath.Base(path), string(data))
				compare(t, "a.txt", strings.ReplaceAll(string(data), "\"", "\n"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzLeaks searches any text.
func FuzzLeaks(f *testing.F) {
	f.Add("a.go", "password = \"Zx81kQ0vX7mT4bN1cW9z\"")
	f.Add("a.yaml", "kind: Secret\ndata:\n  x: aGVsbG8gd29ybGQgaGVsbG8=\n---\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		if strings.ContainsAny(name, "\n\t\"\x00\r") || name == "" || strings.HasPrefix(name, "b/") {
			return
		}
		compare(t, name, text)
	})
}
