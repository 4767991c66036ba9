package worktree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// trap is a way in which a tree makes plain git start a program.
type trap struct {
	name   string
	config string   // of the .git in the tree; MARK is the program
	files  string   // "path=content;..." in the tree
	plant  string   // a shell script run in the tree
	fire   []string // plain git commands, one of which sets it off
}

func hook(name string, fire ...string) trap {
	return trap{
		name: "hook " + name, fire: fire,
		plant: "mkdir -p .git/hooks; cp MARK .git/hooks/" + name,
	}
}

const (
	commit = "commit -qam x"
	change = "!echo more >> a"
)

func traps() []trap {
	attrs := func(a string) string { return ".gitattributes=* " + a + "\n" }
	monitor := "[core]\n\tfsmonitor = MARK\n"
	evil := "mkdir evil; cp -r .git/* evil/; git --git-dir=evil config core.fsmonitor MARK; "
	return []trap{
		hook("pre-commit", change, commit),
		hook("prepare-commit-msg", change, commit),
		hook("commit-msg", change, commit),
		hook("post-commit", change, commit),
		hook("post-checkout", "checkout -qb y"),
		hook("post-index-change", change, "add a"),
		hook("reference-transaction", "update-ref refs/heads/z HEAD"),
		hook("post-merge", "branch side HEAD", change, commit, "checkout -q side", "merge -q -"),
		hook("post-rewrite", change, commit, "commit -q --amend -m y"),
		hook("pre-rebase", change, commit, "rebase -f HEAD~1"),
		{name: "hooksPath", config: "[core]\n\thooksPath = hk\n", plant: "mkdir hk; cp MARK hk/pre-commit", fire: []string{change, commit}},
		{name: "fsmonitor", config: monitor, fire: []string{"status"}},
		{name: "clean", config: "[filter \"f\"]\n\tclean = MARK\n", files: attrs("filter=f"), fire: []string{change, "add -A"}},
		{name: "smudge", config: "[filter \"f\"]\n\tsmudge = MARK\n", files: attrs("filter=f"), fire: []string{"!rm a", "checkout a"}},
		{name: "process", config: "[filter \"f\"]\n\tprocess = MARK\n", files: attrs("filter=f"), fire: []string{change, "add -A"}},
		{name: "required", config: "[filter \"f\"]\n\trequired\n\tclean = MARK\n", files: attrs("filter=f"), fire: []string{change, "add -A"}},
		{name: "info/attributes", config: "[filter \"f\"]\n\tclean = MARK\n", plant: "mkdir -p .git/info; echo '* filter=f' > .git/info/attributes", fire: []string{change, "add -A"}},
		{name: "attributesFile", config: "[filter \"f\"]\n\tclean = MARK\n[core]\n\tattributesFile = at\n", files: "at=* filter=f\n", fire: []string{change, "add -A"}},
		{name: "textconv", config: "[diff \"d\"]\n\ttextconv = MARK\n", files: attrs("diff=d"), fire: []string{change, "diff"}},
		{name: "diff driver", config: "[diff \"d\"]\n\tcommand = MARK\n", files: attrs("diff=d"), fire: []string{change, "diff"}},
		{name: "diff.external", config: "[diff]\n\texternal = MARK\n", fire: []string{change, "diff"}},
		{name: "difftool", config: "[diff]\n\ttool = d\n[difftool \"d\"]\n\tcmd = MARK\n", fire: []string{change, "difftool -y"}},
		{
			name: "merge driver", config: "[merge \"m\"]\n\tdriver = MARK\n", files: attrs("merge=m"),
			fire: []string{"branch side", change, commit, "checkout -q side", "!echo other >> a", commit, "merge -q main"},
		},
		{name: "editor", config: "[core]\n\teditor = MARK\n", fire: []string{change, "commit -a"}},
		{name: "sequence editor", config: "[sequence]\n\teditor = MARK\n", fire: []string{change, commit, "rebase -i HEAD~1"}},
		{name: "alias", config: "[alias]\n\tst = !MARK\n", fire: []string{"st"}},
		{name: "gpg", config: "[commit]\n\tgpgSign\n[gpg]\n\tprogram = MARKBIN\n", fire: []string{change, commit}},
		{name: "gpg ssh", config: "[commit]\n\tgpgSign\n[user]\n\tsigningKey = k\n[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n\tprogram = MARKBIN\n", fire: []string{change, commit}},
		{name: "ssh", config: "[core]\n\tsshCommand = MARK\n[remote \"o\"]\n\turl = ssh://localhost/x\n", fire: []string{"fetch o"}},
		{name: "uploadpack", config: "[remote \"o\"]\n\turl = /nowhere\n\tuploadpack = MARK\n", fire: []string{"fetch o"}},
		{name: "ext", config: "[protocol \"ext\"]\n\tallow = always\n[remote \"o\"]\n\turl = ext::MARK\n", fire: []string{"fetch o"}},
		{name: "proxy", config: "[core]\n\tgitProxy = MARKBIN\n[remote \"o\"]\n\turl = git://localhost/x\n", fire: []string{"fetch o"}},
		{name: "trailer", config: "[trailer \"t\"]\n\tkey = T\n\tcommand = MARK\n", fire: []string{change, commit + " --trailer t=1"}},
		{name: "archive", config: "[tar \"e\"]\n\tcommand = MARK\n", fire: []string{"archive --format=e HEAD"}},
		{name: "include", config: "[include]\n\tpath = ../inc\n", files: "inc=" + monitor, fire: []string{"status"}},
		{name: "config.worktree", config: "[extensions]\n\tworktreeConfig\n", plant: "git config -f .git/config.worktree core.fsmonitor MARK", fire: []string{"status"}},
		{name: "commondir", plant: evil + "echo ../evil > .git/commondir", fire: []string{"status"}},
		{name: "gitfile", plant: evil + "rm -rf .git; echo gitdir: evil > .git", fire: []string{"status"}},
		{name: "symlink", plant: evil + "rm -rf .git; ln -s evil .git", fire: []string{"status"}},
		{
			name: "nested", fire: []string{"status"},
			plant: "git init -q sub; git -C sub commit -q --allow-empty -m s; git add sub; git -C sub config core.fsmonitor MARK",
		},
		{
			name: "submodule", files: ".gitmodules=[submodule \"sub\"]\n\tpath = sub\n\turl = ./.git\n",
			config: "[submodule \"sub\"]\n\turl = ./.git\n\tupdate = !MARK\n\tactive = true\n",
			plant:  "git init -q sub; git -C sub commit -q --allow-empty -m s; git add .gitmodules sub; git commit -qm s; git -C sub commit -q --allow-empty -m t",
			fire:   []string{"-c protocol.file.allow=always submodule update --force"},
		},
		{name: "agent's git", plant: "rm -rf .git; echo 'gitdir: ../git' > .git; git config core.fsmonitor MARK", fire: []string{"status"}},
	}
}

// plain runs plain git, or a shell line after "!", as the agent would.
func plain(t *testing.T, dir, line string) string {
	t.Helper()
	args := append([]string{"git"}, strings.Fields(line)...)
	if script, ok := strings.CutPrefix(line, "!"); ok {
		args = []string{"sh", "-c", script}
	}
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b")
	out, _ := cmd.CombinedOutput() // what matters is the mark
	return string(out)
}

// set plants a trap in a tree, as an agent would.
func (tp trap) set(t *testing.T, tr *worktree.AttemptTree, mark string) {
	t.Helper()
	marked := func(s string) string {
		return strings.NewReplacer("MARKBIN", mark, "MARK", mark).Replace(s)
	}
	os.Remove(filepath.Join(tr.Dir, ".git"))
	gittest.RunGit(t, tr.Dir, "init", "-q", "-b", "main")
	for f := range strings.SplitSeq(tp.files, ";") {
		if name, text, ok := strings.Cut(f, "="); ok {
			gittest.WriteFiles(t, tr.Dir, map[string]string{name: marked(text)})
		}
	}
	gittest.RunGit(t, tr.Dir, "add", "-A")
	gittest.RunGit(t, tr.Dir, "commit", "-q", "--allow-empty", "-m", "agent")
	if out := plain(t, tr.Dir, "!"+marked(tp.plant)); out != "" {
		t.Log(out)
	}
	config := filepath.Join(tr.Dir, ".git", "config")
	if f, err := os.OpenFile(config, os.O_APPEND|os.O_WRONLY, 0); err == nil {
		f.WriteString(marked(tp.config))
		f.Close()
	}
	data, _ := os.ReadFile(config)
	if tp.config != "" { // the agent's git directory is as hostile
		os.WriteFile(filepath.Join(tr.Git, "config"), data, 0o600)
	}
}

// TestTraps shows that each trap sets off plain git, and that none is set off
// by anything that a store does with the tree.
func TestTraps(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n", "b": "b\n"})
	base := gittest.RunGit(t, user, "rev-parse", "HEAD")
	s := open(t, user, worktree.FillAny)
	if n := len(traps()); n < 40 {
		t.Fatalf("only %d traps", n)
	}
	for i, tp := range traps() {
		t.Run(tp.name, func(t *testing.T) {
			id := nexus.AttemptID(fmt.Sprintf("T%d", i))
			tr := must[*worktree.AttemptTree](t)(s.AddTree(t.Context(), "r", id, base))
			state := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(tr.Dir))))
			seen := filepath.Join(state, "seen")
			mark := testenv.WriteProgram(t, filepath.Join(state, "mark"), "#!/bin/sh\ntouch "+seen+"\n")
			tp.set(t, tr, mark)
			os.Remove(seen)
			out := ""
			for _, line := range tp.fire {
				out += plain(t, tr.Dir, line)
			}
			if _, err := os.Stat(seen); err != nil {
				t.Fatalf("the trap does not work with plain git:\n%s", out)
			}
			// Planted again, fresh, so that what plain git did does not disarm it.
			os.RemoveAll(filepath.Join(tr.Dir, ".git"))
			os.RemoveAll(filepath.Join(tr.Dir, "sub"))
			os.RemoveAll(filepath.Join(tr.Dir, "evil"))
			tp.set(t, tr, mark)
			os.Remove(seen)
			everything(t, s, tr, base)
			if _, err := os.Stat(seen); err == nil {
				t.Error("the trap went off")
			}
		})
	}
}

// everything does all that is ever done with a tree.
func everything(t *testing.T, s *worktree.Store, tr *worktree.AttemptTree, base string) {
	t.Helper()
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	gittest.WriteFiles(t, tr.Dir, map[string]string{"a": "theirs\n", "new": "n\n"})
	one, _, err := tr.Snapshot(ctx, "one")
	ok(err)
	gittest.WriteFiles(t, tr.Dir, map[string]string{"a": "again\n"})
	two, _, err := tr.Snapshot(ctx, "two")
	ok(err)
	_, err = tr.Diff(ctx, base, two)
	ok(err)
	_, err = tr.ChangedFiles(ctx, base, two)
	ok(err)
	_, err = s.Merge(ctx, base, one, two)
	ok(err)
	ok(tr.Restore(ctx, one))
	ok(tr.Restore(ctx, base))
	ok(tr.Restore(ctx, two))
	again, err := s.AddTree(ctx, tr.Run, tr.ID, base)
	ok(err)
	_, _, err = again.Snapshot(ctx, "three")
	ok(err)
	ok(again.Remove(ctx))
	back, err := s.AddTree(ctx, tr.Run, tr.ID, base)
	ok(err)
	branch := "nexus/" + strings.ReplaceAll(string(tr.ID), ".", "-")
	ok(s.PublishBranch(ctx, branch, two))
	_, err = s.RemoveTrees(ctx, func(_ nexus.RunID, id nexus.AttemptID) bool { return id == back.ID }, false)
	ok(err)
}
