// Package git runs git, and makes sure that git runs no other program: no hooks, no prompts, no
// signing, no configuration from outside the repository, and arguments as a list, never a shell
// line.
//
// A tree of somebody else can make plain git start programs: filters, drivers and monitors named
// in a .git directory, hooks, aliases. So a [Repo] names its git directory, work tree and index;
// git never searches for them.
//
// A [PrivateClone] is a private copy of the user's repository, in which Nexus makes all its commits. It
// shares no object file with that repository that the garbage collection of either could delete.
// Of the user's checkouts, only their own git directory is changed, only by [PrivateClone.PublishBranch],
// [PrivateClone.LandOnUserBranch] and [PrivateClone.EditNotes], and without running a hook.
//
// Submodules are read only from the user's fetched copies; others are missing. Notes are written
// with plumbing commands: the ref moves by compare and swap, and the notes of others remain.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Repo is a git directory with its work tree and index. It is a value; copy it to use the same git
// directory with another tree.
type Repo struct {
	Dir   string   // git directory, absolute
	Work  string   // work tree, absolute; empty for none
	Index string   // index file, absolute; empty for the one in Dir
	Env   []string // additional environment, such as GIT_AUTHOR_NAME=...

	Memory *CommandCache // cache of commands in Dir; nil for none
	LFS    LFSStore      // LFS content for trees that are written from it; zero leaves pointers

	common  string       // directory that all work trees share, absolute; empty: not asked for yet
	objects *ObjectStore // answers about objects without a process for each; nil for none
}

// ExitError is the error of a git command that exited with a failure.
type ExitError struct {
	Args   []string
	Status int
	Stderr string
	Output string // its standard output
}

// Error returns the command and git's error output.
func (e *ExitError) Error() string {
	said := strings.TrimSpace(e.Stderr)
	if said == "" {
		said = fmt.Sprintf("exit status %d", e.Status)
	}
	verb := "git"
	if len(e.Args) > 0 {
		verb += " " + e.Args[0]
	}
	return verb + ": " + said
}

// maxOutput limits git's output; a command that prints more fails.
const maxOutput = 256 << 20

// maxErrors limits the stored part of git's error output.
const maxErrors = 64 << 10

// pipeDelay is the time that the pipes of a finished git may stay open. A command that is being
// started at that moment inherits them, on a busy machine for seconds.
const pipeDelay = time.Minute

// Run runs git and returns its standard output unchanged.
func (r Repo) Run(ctx context.Context, args ...string) (string, error) {
	return r.RunWithInput(ctx, nil, args...)
}

// RunWithInput is [Repo.Run] with a standard input; nil is empty.
func (r Repo) RunWithInput(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	if said, ok := r.Memory.cachedOutput(args); ok && stdin == nil {
		return said, nil
	}
	out := &cappedBuffer{max: maxOutput}
	if err := r.runStreaming(ctx, stdin, out, args); err != nil {
		if x, ok := errors.AsType[*ExitError](err); ok {
			x.Output = out.String()
		}
		return "", err
	}
	if out.cut {
		return "", fmt.Errorf("git %s: more than %d bytes of output", args[0], maxOutput)
	}
	if stdin == nil {
		r.Memory.storeOutput(args, out.String())
	}
	return out.String(), nil
}

// RunWithLimit is [Repo.Run] that returns at most limit bytes of the output, and reports whether there
// were more.
func (r Repo) RunWithLimit(ctx context.Context, limit int, args ...string) (out string, cut bool, err error) {
	if said, ok := r.Memory.cachedOutput(args); ok && len(said) <= limit {
		return said, false, nil
	}
	b := &cappedBuffer{max: limit}
	if err = r.runStreaming(ctx, nil, b, args); err == nil && !b.cut {
		r.Memory.storeOutput(args, b.String())
	}
	return b.String(), b.cut, err
}

// RunLine is [Repo.Run] without the newline at the end of the output.
func (r Repo) RunLine(ctx context.Context, args ...string) (string, error) {
	out, err := r.Run(ctx, args...)
	return strings.TrimSuffix(out, "\n"), err
}

func (r Repo) runStreaming(ctx context.Context, stdin io.Reader, out io.Writer, args []string) error {
	cmd := r.newGitCommand(ctx, args)
	said := &cappedBuffer{max: maxErrors}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, out, said
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", args[0], context.Cause(ctx))
	}
	if x, ok := errors.AsType[*exec.ExitError](err); ok {
		return &ExitError{Args: args, Status: x.ExitCode(), Stderr: said.String()}
	}
	if errors.Is(err, exec.ErrNotFound) {
		return gitMissingError(err)
	}
	return fmt.Errorf("git %s: %w", args[0], err)
}

func (r Repo) newGitCommand(ctx context.Context, args []string) *exec.Cmd {
	all := hardenedOptions()
	dir := "/"
	if r.Dir != "" {
		all = append(all, "--git-dir="+r.Dir)
		dir = r.Dir
	}
	if r.Work != "" {
		all = append(all, "--work-tree="+r.Work)
		dir = r.Work
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir = dir
	cmd.Env = append(hardenedEnv(), r.Env...)
	if r.Index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+r.Index)
	}
	setProcessGroup(cmd)
	cmd.WaitDelay = pipeDelay
	return cmd
}

// hardenedOptions returns the options before every verb. They override the repository's own
// configuration.
func hardenedOptions() []string {
	var args []string
	for _, c := range []string{
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
		"core.excludesFile=/dev/null", "core.pager=cat", "core.editor=false", "core.askPass=",
		"core.checkStat=minimal", "core.trustctime=false", "core.quotePath=false", "core.logAllRefUpdates=false",
		"core.sshCommand=false", "core.alternateRefsCommand=true", "core.splitIndex=false",
		"credential.helper=", "commit.gpgSign=false", "tag.gpgSign=false", "gpg.program=false",
		"gpg.ssh.program=false", "gpg.x509.program=false", "merge.verifySignatures=false", "merge.autoStash=false",
		"diff.ignoreSubmodules=all", "submodule.recurse=false", "fetch.recurseSubmodules=false",
		"status.submoduleSummary=false", "gc.auto=0", "maintenance.auto=false", "gc.autoDetach=false",
		"protocol.allow=never", "protocol.file.allow=always", "advice.detachedHead=false",
	} {
		args = append(args, "-c", c)
	}
	return append(args, "--no-pager", "--no-replace-objects", "--no-optional-locks")
}

// hardenedEnv returns the environment for git. It has only the paths of programs and temporary files,
// so that no GIT_DIR, GIT_TRACE or GIT_EXTERNAL_DIFF of the caller has an effect.
func hardenedEnv() []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_EDITOR=false",
		"GIT_SEQUENCE_EDITOR=false", "GIT_PAGER=cat", "GIT_ALLOW_PROTOCOL=file", "GIT_NO_LAZY_FETCH=1",
		"GIT_DEFAULT_REF_FORMAT=files", "GIT_MERGE_AUTOEDIT=no",
		"HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent", "LC_ALL=C", "TZ=UTC",
	}
	env = append(env, CommitIdentity{}.gitEnviron()...)
	for _, k := range []string{"PATH", "TMPDIR"} {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	return env
}

// envWithUserConfig returns [hardenedEnv] with access to the user's own configuration.
func envWithUserConfig() []string {
	env := slices.DeleteFunc(hardenedEnv(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_CONFIG_") || strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_")
	})
	for _, k := range []string{"HOME", "XDG_CONFIG_HOME", "SUDO_UID"} {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	return env
}

func gitMissingError(err error) error {
	return &nexus.Error{
		Code: nexus.CodeNoGit, Message: "git is not installed",
		Hint: "Install git 2.38 or newer.", Cause: err,
	}
}

// cappedBuffer stores the first max bytes and discards the rest, so that a command with too much output
// still ends by itself.
type cappedBuffer struct {
	buf bytes.Buffer // not embedded: its ReadFrom would store everything
	max int
	cut bool
}

// Write never fails.
func (c *cappedBuffer) Write(p []byte) (int, error) {
	room := max(c.max-c.buf.Len(), 0)
	if len(p) > room {
		c.cut = true
		c.buf.Write(p[:room])
		return len(p), nil
	}
	return c.buf.Write(p)
}

func (c *cappedBuffer) String() string { return c.buf.String() }
