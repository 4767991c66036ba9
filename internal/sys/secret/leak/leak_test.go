package leak

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// made puts a key together that nobody has, so that no scanner finds one here.
func made(parts ...string) string { return strings.Join(parts, "") }

func TestAdded(t *testing.T) {
	github := made("ghp", "_R8sJ2kQ0vX7mT4bN1cW9zL6pD3", "fH5gYaUeIo")
	aws := made("AKIA", "IMNOJVGFDXXXE4OA")
	key := made("-----BEGIN RSA ", "PRIVATE KEY-----\n+", strings.Repeat("MIIEowIBAAKCAQEA7bq8Zk3Vn1s0\n+", 6), "-----END RSA PRIVATE KEY-----")
	moved := made("glpat-", "Zx81kQ0vX7mT4bN1cW9z")
	patch := strings.Join([]string{
		"diff --git a/a.go b/a.go", "index 1..2 100644", "--- a/a.go", "+++ b/a.go",
		"@@ -1,2 +1,4 @@ func x", " package a", "+var token = \"" + github + "\" // gitleaks:allow", "+++ not.a.file", " var x = 1",
		"@@ -10 +12 @@", "-old = \"" + moved + "\"", "+id := \"" + aws + "\"",
		"diff --git a/b b/b", "--- /dev/null", "+++ \"b/dir/\\303\\274 b.pem\"\t", "@@ -0,0 +1,8 @@", "+" + key,
		"diff --git a/c b/c", "--- a/c", "+++ b/c", "@@ -1 +1,2 @@", "-a", "\\ No newline at end of file", "+moved = \"" + moved + "\"", "+harmless = 12", "",
	}, "\n")
	var f SecretLeakFinder
	leaks, err := f.FindAdded(t.Context(), patch)
	if err != nil {
		t.Fatal(err)
	}
	for i := range leaks {
		if leaks[i].Kind == "" || strings.Contains(leaks[i].Kind, ",") {
			t.Errorf("says %q", leaks[i].Kind)
		}
		leaks[i].Kind, leaks[i].Column = "", 0
	}
	want := []LeakedSecret{{File: "a.go", Line: 2, Rule: "github-pat"}, {File: "a.go", Line: 12, Rule: "aws-access-token"}, {File: "dir/\u00fc b.pem", Line: 1, Rule: "private-key"}}
	if d := cmp.Diff(want, leaks); d != "" {
		t.Error(d)
	}
	if again, err := f.FindAdded(t.Context(), "no patch at all\n@@ -1 +1 @@\n+x"); err != nil || len(again) != 0 {
		t.Errorf("%v, %v", again, err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough"))
	if _, err := f.FindAdded(ctx, patch); err == nil || err.Error() != "enough" {
		t.Errorf("stopped: %v", err)
	}
}

// TestAllowed holds what is no leak though a rule finds it: what the lists of
// all rules and of one rule allow, and what a better rule found at the place.
func TestAllowed(t *testing.T) {
	github := made("ghp", "_R8sJ2kQ0vX7mT4bN1cW9zL6pD3", "fH5gYaUeIo")
	part := made("R8sJ2kQ0vX7", "mT4bN1cW9zL6pD3")
	for name, c := range map[string]struct {
		file, text string
		want       []string // line and rule
	}{
		"a better rule, on the line": {"a.go", "token := \"" + github + "\"", []string{"1 github-pat"}},
		"and elsewhere":              {"a.go", "token := \"" + github + "\"\npassword := \"" + part + "\"", []string{"1 github-pat", "2 generic-api-key"}},
		"a file for all rules":       {"web/package-lock.json", "token := \"" + github + "\"", nil},
		"a word for all rules":       {"a.go", "api_key := \"" + made("014df517-39d1-4453-", "b7b3-9930c563627c") + "\"", nil},
		"almost that word":           {"a.go", "api_key := \"" + made("014df517-39d1-4453-", "b7b3-9930c563627d") + "\"", []string{"1 generic-api-key"}},
		"a pattern for all rules":    {"a.go", "api_key = $" + made("QWERTZ", "UIOPASDFGHJK") + "_L", nil},
		"a pattern of one":           {"a.go", "api_key = \"" + made("qWeRtZuIoPaS", "dFgHjKlYxCvB") + "\"", nil},
		"what stands before it":      {"a.go", "public_key_token = \"" + part + "\"", nil},
		"a file of one rule":         {"x/@octokit/auth-token/README.md", github, nil},
		"what nobody drew":           {"a.go", made("ghp_", strings.Repeat("ab", 18)), nil},
		"a file and a line of one":   {"a.bb", "SRC_token = \"" + part + "\"", nil},
		"the file alone":             {"a.bb", "my_token = \"" + part + "\"", []string{"1 generic-api-key"}},
		"the line alone":             {"a.go", "SRC_token = \"" + part + "\"", []string{"1 generic-api-key"}},
	} {
		lines := strings.Count(c.text, "\n") + 1
		patch := fmt.Sprintf("--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n+%s\n", c.file, lines, strings.ReplaceAll(c.text, "\n", "\n+"))
		var f SecretLeakFinder
		leaks, err := f.FindAdded(t.Context(), patch)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range leaks {
			got = append(got, fmt.Sprint(l.Line, " ", l.Rule))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+++ c\n")
	f.Add("+++ \"b/\\x\n@@ -0,0 +99999999999999999999 @@\n+")
	f.Add("@@ -1 +1 @@\n+a")
	f.Fuzz(func(t *testing.T, patch string) {
		files, gone := readPatchLines(patch)
		for _, file := range files {
			if strings.Count(file.text.String(), "\n") < len(file.lines) {
				t.Errorf("%d numbers for %q", len(file.lines), file.text.String())
			}
		}
		if len(gone) > len(patch)+1 {
			t.Errorf("%q has more than %q", gone, patch)
		}
	})
}

func BenchmarkAdded(b *testing.B) {
	var patch strings.Builder
	patch.WriteString("+++ b/a.go\n@@ -0,0 +1,20000 @@\n")
	for range 20_000 {
		patch.WriteString("+\tif err := s.record(ctx, nexus.GateJudged{Evidence: e, Cached: cached}); err != nil {\n")
	}
	var f SecretLeakFinder
	if _, err := f.FindAdded(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(patch.Len()))
	for b.Loop() {
		if _, err := f.FindAdded(b.Context(), patch.String()); err != nil {
			b.Fatal(err)
		}
	}
}
