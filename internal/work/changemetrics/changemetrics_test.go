package changemetrics_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDependencies tells new dependencies from new versions, by what lock
// files and the module cache say.
func TestDependencies(t *testing.T) {
	ctx, dir, cache := t.Context(), t.TempDir(), t.TempDir()
	write(t, cache, map[string]string{
		"example.org/!free/m@v1.0.0/LICENSE": "MIT\n\nPermission is hereby granted, free of charge, to any person obtaining a\ncopy ... or substantial portions of the Software.",
		"example.org/gnu@v2.0.0/COPYING":     "GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007",
	})
	write(t, dir, map[string]string{
		"go.mod":            "module example.org/x\n\ngo 1.25\n\nrequire (\n\texample.org/old v1.0.0\n)\n",
		"package-lock.json": `{"packages": {"": {}, "node_modules/a": {"version": "1.0.0", "license": "GPL-2.0"}}}`,
		"Cargo.lock":        "[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\n",
	})
	if err := git.CreateRepo(ctx, dir, git.CommitIdentity{}, "begin"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"go.mod":            "module example.org/x\n\ngo 1.25\n\nrequire (\n\texample.org/old v1.2.0\n\texample.org/Free/m v1.0.0\n\texample.org/gnu v2.0.0 // indirect\n)\nreplace example.org/a => example.org/b v1.0.0\n",
		"package-lock.json": `{"packages": {"": {}, "node_modules/a": {"version": "1.1.0", "license": "GPL-2.0"}, "node_modules/a/node_modules/@s/b": {"version": "2.0.0", "license": "SSPL-1.0"}}}`,
		"Cargo.lock":        "[[package]]\nname = \"rand\"\nversion = \"0.8.0\"\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.1\"\n",
		"requirements.txt":  "# none\nDjango==4.2\n-r other.txt\n",
	})
	r := git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}
	base, _, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(ctx, "add", "--all"); err != nil {
		t.Fatal(err)
	}
	tree, err := r.RunLine(ctx, "write-tree")
	if err != nil {
		t.Fatal(err)
	}
	m := &changemetrics.ChangeMeasurer{Rules: nexus.DefaultDefinitionOfDone(), Places: stack.PackageSearchPaths{Files: changemetrics.MachineFS{}, Env: func(name string) string { return map[string]string{"GOMODCACHE": cache}[name] }}}
	all, decides, err := m.JudgeChange(ctx, changemetrics.MeasureRequest{Repo: r, Base: base, Tree: tree})
	if err != nil || len(all) != 1 || len(decides) != 0 {
		t.Fatal(all, decides, err)
	}
	e := all[0]
	var found []string
	for _, f := range e.Findings {
		found = append(found, f.File+": "+f.Message)
	}
	want := []string{
		"go.mod: example.org/gnu@v2.0.0 is under the licence GPL-3.0, which done.allowed_licences does not name",
		"package-lock.json: @s/b@2.0.0 is under the licence SSPL-1.0, which done.allowed_licences does not name",
	}
	if d := cmp.Diff(want, found); d != "" || e.Findings[0].Line != 8 {
		t.Error(d, e.Findings)
	}
	if e.State != nexus.Unverifiable || !strings.HasSuffix(e.Why, "rand@0.8.0, django@4.2") {
		t.Errorf("%s: %s", e.State, e.Why)
	}
	m.Rules.Modes[nexus.LicencesBound] = nexus.BoundBlock
	if _, decides, err = m.JudgeChange(ctx, changemetrics.MeasureRequest{Repo: r, Base: base, Tree: tree}); err != nil || len(decides) != 1 || decides[0].State != nexus.Fail {
		t.Error(decides, err)
	}
	var none *changemetrics.ChangeMeasurer
	if all, _, err := none.JudgeChange(ctx, changemetrics.MeasureRequest{}); all != nil || err != nil {
		t.Error(all, err)
	}
}

// TestAudit tells what was found from what nobody could tell.
func TestAudit(t *testing.T) {
	m := &changemetrics.ChangeMeasurer{Rules: nexus.DefinitionOfDone{Modes: map[string]nexus.BoundMode{nexus.AuditBound: nexus.BoundBlock}}}
	gates := m.AppendMeasuringGates(nil, nil, false)
	if len(gates) != 1 || gates[0].Name != "audit" {
		t.Fatal(gates)
	}
	const clean = "exit 0"
	for name, c := range map[string]struct {
		file, tool, says string
		want             int
	}{
		"nothing to look at": {"README", "npm", clean, 0},
		"clean":              {"go.mod", "govulncheck", clean, 0},
		"go":                 {"go.mod", "govulncheck", "echo 'Vulnerability #1: GO-1'; exit 3", 3},
		"go offline":         {"go.mod", "govulncheck", "echo 'govulncheck: fetching vulnerabilities: dial tcp: no such host'; exit 1", 4},
		"npm":                {"package-lock.json", "npm", "echo '2 high severity vulnerabilities'; exit 1", 3},
		"npm offline":        {"package-lock.json", "npm", "echo 'npm error audit endpoint returned an error'; exit 1", 4},
		"npm without asking": {"package-lock.json", "npm", "case \"$*\" in *--no-offline*) exit 1 ;; esac; echo 'found 0 vulnerabilities'", 4},
		"rust":               {"Cargo.lock", "cargo", "echo 'error: 1 vulnerability found!'; exit 1", 3},
		"python":             {"requirements.txt", "pip-audit", "echo 'Found 3 known vulnerabilities in 1 package'; exit 1", 3},
		"no tool":            {"requirements.txt", "none", clean, 4},
		"php":                {"composer.lock", "composer", "echo 'Found 2 security vulnerability advisories affecting 1 package:'; exit 1", 3},
		"ruby offline":       {"Gemfile.lock", "bundle-audit", "echo 'Failed updating ruby-advisory-db!'; exit 1", 4},
		"below the root":     {"web/a b/package-lock.json", "npm", "test \"${PWD##*/}\" = 'a b' && echo '2 high severity vulnerabilities'; exit 1", 3},
		"nobody looks":       {"poetry.lock", "pip-audit", clean, 4},
		"what was installed": {"node_modules/a/package-lock.json", "npm", "exit 1", 0},
	} {
		dir, bin := t.TempDir(), t.TempDir()
		write(t, dir, map[string]string{c.file: ""})
		write(t, bin, map[string]string{c.tool: "#!/bin/sh\n" + c.says + "\n"})
		if err := os.Chmod(filepath.Join(bin, c.tool), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), gates[0].Args[0], gates[0].Args[1:]...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin + ":/usr/bin:/bin"}
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != c.want {
			t.Errorf("%s: exit %d, want %d: %s", name, got, c.want, out)
		}
	}
	found := []nexus.Finding{{Message: "GO-1"}}
	for _, c := range []struct {
		e     nexus.GateEvidence
		found int
		why   string
	}{
		{nexus.GateEvidence{Gate: "audit", State: nexus.Pass}, 0, ""},
		{nexus.GateEvidence{Gate: "audit", State: nexus.Pass, Exit: 3, Findings: found}, 0, ""},                                                        // as on the base
		{nexus.GateEvidence{Gate: "audit", State: nexus.Pass, Exit: 4, Findings: []nexus.Finding{{Message: "no such host"}}}, 0, "pass: no such host"}, // as on the base, too
		{nexus.GateEvidence{Gate: "audit", State: nexus.Fail, Exit: 3, Findings: found}, 1, ""},
		{nexus.GateEvidence{Gate: "audit", State: nexus.Fail, Exit: 4, Findings: []nexus.Finding{{Message: "no such host"}}}, 0, "fail: no such host"},
		{nexus.GateEvidence{Gate: "audit", State: nexus.Timeout, Exit: -1, Why: "did not end"}, 0, "timeout: did not end"},
	} {
		rest, taken := m.ExtractMeasurements(gates, []nexus.GateEvidence{{Gate: "build"}, c.e}, nil)
		if len(rest) != 1 || taken.Audit == nil || len(taken.Audit.Found) != c.found || taken.Audit.Why != c.why {
			t.Errorf("%+v: %+v", c.e, taken.Audit)
		}
	}
}

// TestTakenAway lets a change take files away in every shape that git knows,
// and holds that each is named, whatever its size.
func TestTakenAway(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	short := "one\ntwo\nthree\nfour\nfive\nsix\n"
	write(t, dir, map[string]string{
		"lib/deleted.go": short, "lib/emptied.go": short, "lib/stub.go": short, "lib/aside.go": short + "aside\n", "lib/moved.go": short + "moved\n",
		"lib/link.go": short, "dir/a.txt": short + "a\n", "dir/b.txt": short + "b\n", "logo.png": "\x89PNG\x00\n\n\n\n\n\n", "edited.go": short, "one.txt": "1\n", "dir/empty.txt": "",
	})
	if err := git.CreateRepo(ctx, dir, git.CommitIdentity{}, "begin"); err != nil {
		t.Fatal(err)
	}
	r := git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}
	base, _, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lib/deleted.go", "lib/link.go", "dir/a.txt", "dir/b.txt", "dir/empty.txt"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"lib/aside.go": "lib/aside.go.txt", "lib/moved.go": "lib/there.go"} {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("emptied.go", filepath.Join(dir, "lib/link.go")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"lib/emptied.go": "", "lib/stub.go": "package lib\n", "logo.png": "", "edited.go": "one\n2\n3\n4\n5\n6\n", "one.txt": "2\n", "lib/new.go": ""})
	if _, err := r.Run(ctx, "add", "--all"); err != nil {
		t.Fatal(err)
	}
	tree, err := r.RunLine(ctx, "write-tree")
	if err != nil {
		t.Fatal(err)
	}
	rules := nexus.DefaultDefinitionOfDone()
	rules.Modes = map[string]nexus.BoundMode{nexus.DeletionBound: nexus.BoundBlock}
	_, decides, err := (&changemetrics.ChangeMeasurer{Rules: rules}).JudgeChange(ctx, changemetrics.MeasureRequest{Repo: r, Base: base, Tree: tree, Task: &definitionofdone.TaskWording{Checks: []string{"go test ./lib/..."}}})
	if err != nil || len(decides) != 1 {
		t.Fatal(decides, err)
	}
	var found []string
	for _, f := range decides[0].Findings {
		found = append(found, f.Name)
	}
	slices.Sort(found)
	want := []string{"dir/a.txt", "dir/b.txt", "dir/empty.txt", "lib/aside.go", "lib/deleted.go", "lib/emptied.go", "lib/link.go", "lib/stub.go", "logo.png"}
	if d := cmp.Diff(want, found); d != "" || decides[0].State != nexus.Fail {
		t.Errorf("%s: -want +got\n%s", decides[0].State, d)
	}
}

// TestUnnamed asks about data that nothing names: no file by name or directory, no word of the task, no like of it
// beside it.
func TestUnnamed(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	write(t, dir, map[string]string{"load.py": "open('prices.csv')\nglob('icons/*')\n", "img/a.png": "\x00", "go.mod": "module m\n"})
	if err := git.CreateRepo(ctx, dir, git.CommitIdentity{}, "begin"); err != nil {
		t.Fatal(err)
	}
	r := git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}
	base, _, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"prices.csv": "1\n", "icons/b.png": "\x00", "img/c.png": "\x00", "plan.csv": "1\n", "asked.csv": "1\n", "new.go": "package m\n", "notes.md": "x\n", "testdata/d.csv": "1\n",
		"out.csv": "out.csv\n", "deep/er/e.dat": "1\n", "f.sqlite": "\x00",
	})
	if _, err := r.Run(ctx, "add", "--all"); err != nil {
		t.Fatal(err)
	}
	tree, err := r.RunLine(ctx, "write-tree")
	if err != nil {
		t.Fatal(err)
	}
	rules := nexus.DefaultDefinitionOfDone()
	rules.Modes = map[string]nexus.BoundMode{nexus.BuiltBound: nexus.BoundBlock}
	change := changemetrics.MeasureRequest{Repo: r, Base: base, Tree: tree, Files: []string{"plan.csv"}, Task: &definitionofdone.TaskWording{Texts: []string{"Write asked.csv"}}}
	_, decides, err := (&changemetrics.ChangeMeasurer{Rules: rules}).JudgeChange(ctx, change)
	if err != nil || len(decides) != 1 {
		t.Fatal(decides, err)
	}
	var found []string
	for _, f := range decides[0].Findings {
		found = append(found, f.Name)
	}
	slices.Sort(found)
	if d := cmp.Diff([]string{"deep/er/e.dat", "f.sqlite", "out.csv"}, found); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	change.Run = true
	if _, decides, err := (&changemetrics.ChangeMeasurer{Rules: rules}).JudgeChange(ctx, change); err != nil || len(decides) > 0 {
		t.Error(decides, err)
	}
}

// TestUnread names the lock files of the audit that nobody looks into.
func TestUnread(t *testing.T) {
	want := strings.Fields("yarn.lock bun.lock poetry.lock uv.lock pdm.lock Pipfile.lock pom.xml gradle.lockfile packages.lock.json")
	if diff := cmp.Diff(want, changemetrics.UnauditedLockFiles()); diff != "" {
		t.Error(diff)
	}
}
