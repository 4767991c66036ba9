package humaninput

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestCriticalFor(t *testing.T) {
	for file, want := range map[string]string{
		"go.sum": "installed", "web/package-lock.json": "installed", "requirements-dev.txt": "installed", "Cargo.lock": "installed",
		"package.json": "scripts", "a/b/.husky/pre-commit": "scripts", "build.rs": "scripts", ".npmrc": "come from", ".cargo/config.toml": "come from",
		".github/workflows/ci.yml": "CI", ".GitHub/Workflows/CI.yml": "CI", ".gitlab-ci.yml": "CI", "Jenkinsfile": "CI", "Dockerfile": "shipped", "deploy/app.dockerfile": "shipped",
		".gitignore": "git", "sub/.gitattributes": "git", "docs/CODEOWNERS": "git", ".vscode/tasks.json": "editor", "AGENTS.md": "agents", "sub/.claude/settings.json": "agents",
		".mcp.json": "agents", "nexus.toml": "agents", ".cursor/rules/x.mdc": "agents", ".env.production": "secret", "certs/server.key": "secret",
		"main.go": "", "patterns.": "", "internal/package.go": "", "docs/github/workflows.md": "", "src/env.ts": "", "gitignore": "", "a.github/workflows/x": "", "workflows/ci.yml": "", "README.md": "",
	} {
		if got := criticalFileReason(file); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestCriticalFiles(t *testing.T) {
	files := []string{"main.go", "go.sum"}
	for range 12 {
		files = append(files, ".github/workflows/ci.yml")
	}
	found := CriticalFiles(files)
	if len(found) != 13 || found[0].File != "go.sum" || found[0].Severity != nexus.Suggestion {
		t.Errorf("%d found, first %+v", len(found), found[0])
	}
	if line := FindingFilesText(found); !strings.HasPrefix(line, "go.sum, .github") || !strings.HasSuffix(line, "and more") {
		t.Error(line)
	}
	if got := FindingFilesText(found[:10]); strings.HasSuffix(got, "and more") {
		t.Errorf("ten: %s", got)
	}
	e, ok := CriticalFileEvidence(files[:2], "t")
	if !ok || e.State != nexus.Pass || e.Gate != CriticalGate || e.Tree != "t" || e.Why != "it touches go.sum" || len(e.Findings) != 1 {
		t.Errorf("%+v, %v", e, ok)
	}
	if _, ok := CriticalFileEvidence(files[:1], "t"); ok {
		t.Error("evidence of nothing")
	}
	if CriticalFiles(nil) != nil || FindingFilesText(nil) != "" {
		t.Error("nothing touched")
	}
}

func FuzzCriticalFor(f *testing.F) {
	f.Add(".github/workflows/ci.yml")
	f.Add("a/../../[x")
	f.Fuzz(func(t *testing.T, file string) {
		if criticalFileReason(file) != criticalFileReason("./"+strings.TrimPrefix(file, "/")) && !strings.HasPrefix(file, "/") {
			t.Errorf("%q", file)
		}
	})
}
