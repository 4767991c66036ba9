// Package policy says what an agent may do: allow, ask or deny, with the rule
// and the reason.
//
// It is advice in depth and not the wall: the sandbox is. What it cannot judge
// it does not allow. A run without a person takes ask as a refusal and tells
// the model why.
package policy

import (
	"path"
	"strings"
	"unicode"
)

// Answer is what a rule says.
type Answer string

// The answers, mildest first.
const (
	Allow Answer = "allow"
	Ask   Answer = "ask"
	Deny  Answer = "deny"
)

// Decision is an answer with where it comes from.
type Decision struct {
	Decision Answer `json:"decision"`
	Rule     string `json:"rule"`   // stable name of the rule
	Reason   string `json:"reason"` // for people and models, a clause
}

// Allowed reports whether it may go ahead without a question. The zero
// Decision may not.
func (d Decision) Allowed() bool { return d.Decision == Allow }

// Path judges reading or writing a file of the worktree by its name, which is
// slash-separated and relative to the root. Where the file really lies is for
// the opener to confine.
func Path(name string, write bool) Decision {
	parts := strings.Split(path.Clean(name), "/")
	for i, part := range parts {
		folded := fold(part)
		last := i == len(parts)-1
		switch {
		case folded == ".git" || folded == "git~1":
			return Decision{Deny, "path.git", "git's own files are not touched directly"}
		case write && (agentDirs(folded) || last && agentFiles(folded)):
			return Decision{Deny, "path.agent-config", "configuration of agents and of policy is for people to edit"}
		case last && secretFile(folded):
			return Decision{Ask, "path.secret", "it may hold a secret"}
		}
	}
	return Decision{Allow, "path.worktree", "inside the worktree"}
}

// fold returns the name that a file system which ignores case, trailing dots,
// streams and invisible characters takes a name for.
func fold(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	if t := strings.TrimRight(name, ". "); t != "" {
		return t
	}
	return name
}

func agentDirs(name string) bool {
	switch name {
	case ".nexus", ".claude", ".codex", ".cursor", ".gemini", ".opencode", ".windsurf", ".aider", ".continue":
		return true
	}
	return false
}

func agentFiles(name string) bool {
	switch name {
	case "nexus.toml", ".mcp.json", ".cursorrules", ".windsurfrules", ".aider.conf.yml", "opencode.json", ".ripgreprc", ".gitconfig":
		return true
	}
	return false
}

func secretFile(name string) bool {
	switch name {
	case ".env", ".envrc", ".netrc", ".pgpass", ".git-credentials", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519":
		return true
	}
	if rest, ok := strings.CutPrefix(name, ".env."); ok {
		switch rest {
		case "example", "sample", "template", "dist", "defaults":
			return false
		}
		return true
	}
	return false
}
