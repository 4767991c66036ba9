// Package pathkind classifies a path by its name alone: in the worktree, in the system's
// directories, outside, or a place of secrets. A caller that opens the path must check for
// links.
package pathkind

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Kind is the kind of a path's location.
type Kind int

// Values of Kind.
const (
	Tree    Kind = iota // the worktree
	Tmp                 // the private /tmp, and harmless devices
	System              // readable by everybody
	Outside             // owned by somebody else
	Device              // a device with effects outside, or of the machine
)

// LocatePath returns the kind of a clean absolute path, for the worktree in dir, and its name
// there.
func LocatePath(p, dir string) (Kind, string) {
	if IsBelow([]string{dir}, p) {
		return Tree, path.Clean("." + strings.TrimPrefix(p, path.Clean(dir)))
	}
	return locateOutsideWorktree(p), p
}

// locateOutsideWorktree returns the kind of a clean absolute path outside the worktree.
func locateOutsideWorktree(p string) Kind {
	in := func(dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
	switch p {
	case "/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/urandom", "/dev/random", "/dev/full":
		return Tmp
	}
	switch {
	case strings.HasPrefix(p, "/tmp/"), in("/dev/fd"):
		return Tmp
	case in("/dev"):
		return Device
	case slices.ContainsFunc([]string{"/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc/os-release", "/etc/hosts", "/proc/cpuinfo", "/proc/meminfo", "/proc/version"}, in):
		return System
	}
	return Outside
}

// IsBelow reports whether a clean absolute path is one of the directories, or inside one.
func IsBelow(dirs []string, p string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return path.IsAbs(dir) && path.Clean(dir) != "/" && (p == path.Clean(dir) || strings.HasPrefix(p, path.Clean(dir)+"/"))
	})
}

// IsCredentialFile reports whether a path has the name of a well-known file with credentials, at
// any location.
func IsCredentialFile(p string) bool {
	for _, part := range []string{
		".ssh/", ".aws/", ".gnupg", ".kube/", ".docker/config", ".netrc", ".pgpass", ".git-credentials", ".config/gcloud", ".config/gh", ".npmrc", ".pypirc",
		"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", ".bash_history", ".claude.json", "credentials.toml",
		"/environ", "docker.sock", "/.vault-token", "/proc/self/mem", "/run/secrets",
	} {
		if strings.Contains(p+"/", part) {
			return true
		}
	}
	return false
}

// ProtectionReason is the reason why a file of the worktree is protected.
type ProtectionReason int

// Values of Protection.
const (
	Free        ProtectionReason = iota
	Git                          // git's own
	AgentConfig                  // it configures agents or the policy; may be read
	MaySecret                    // it may hold a secret
)

// ProtectionOf returns the protection of a file of the worktree, by its slash-separated name
// there.
func ProtectionOf(name string, write bool) ProtectionReason {
	parts := strings.Split(path.Clean(name), "/")
	for i, part := range parts {
		folded, last := NormalizeFileName(part), i == len(parts)-1
		switch {
		case folded == ".git" || folded == "git~1":
			return Git
		case write && (isAgentDir(folded) || last && isAgentFile(folded)):
			return AgentConfig
		case last && isSecretFile(folded) && (!looksLikeSecretStore(folded) || !IsTestDataFile(name)), last && i > 0 && folded == "config.json" && NormalizeFileName(parts[i-1]) == ".docker":
			return MaySecret
		}
	}
	return Free
}

// MatchesShowPattern reports whether one of the patterns matches a file of the tree, or a directory that
// contains it.
func MatchesShowPattern(patterns []string, name string) bool {
	for at := path.Clean(name); at != "." && at != "/"; at = path.Dir(at) {
		for _, p := range patterns {
			if ok, _ := path.Match(p, at); ok {
				return true
			}
		}
	}
	return false
}

// IsTestDataFile reports whether a file is in a directory of test data: keys there are obviously
// invented.
func IsTestDataFile(name string) bool {
	dir, _ := path.Split(path.Clean(name))
	for part := range strings.SplitSeq(strings.ToLower(dir), "/") {
		switch part {
		case "testdata", "fixtures", "fixture", "__fixtures__", "test", "tests", "__tests__", "spec", "specs", "testing", "test-fixtures", "test_data", "test-data", "mocks", "__mocks__", "examples", "example", "samples", "testutil", "e2e":
			return true
		}
	}
	return false
}

// IsExampleFile reports whether a file's name marks it as an example of such a file.
func IsExampleFile(name string) bool {
	for part := range strings.FieldsFuncSeq(strings.ToLower(path.Base(name)), func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
		switch part {
		case "example", "examples", "sample", "template", "tmpl", "dist", "defaults", "schema", "fake", "dummy", "mock":
			return true
		}
	}
	return false
}

// NormalizeFileName returns the name as a file system reads it that ignores case, trailing dots, streams
// and invisible characters.
func NormalizeFileName(name string) string {
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

func isAgentDir(name string) bool {
	switch name {
	case ".nexus", ".claude", ".codex", ".cursor", ".gemini", ".opencode", ".windsurf", ".aider", ".continue",
		// editors run its content when a person opens the tree
		".vscode", ".idea", ".zed", ".fleet", ".vs", ".devcontainer":
		return true
	}
	return false
}

func isAgentFile(name string) bool {
	switch name {
	case "nexus.toml", ".mcp.json", ".cursorrules", ".windsurfrules", ".aider.conf.yml", "opencode.json", ".ripgreprc", ".gitconfig",
		".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el", ".devcontainer.json":
		return true
	}
	return strings.HasSuffix(name, ".code-workspace") || strings.HasSuffix(name, ".sublime-project")
}

// looksLikeSecretStore reports whether a data file has a name or an extension of files with secrets.
// Certificates (.pem, .crt) are public, and so are source files about secrets
// (credentials.go).
func looksLikeSecretStore(name string) bool {
	stem, ending := name, ""
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		stem, ending = name[:i], name[i+1:]
	}
	switch ending {
	case "key", "p12", "pfx", "p8", "jks", "keystore", "kdbx", "ppk", "tfvars", "tfstate", "agekey", "kubeconfig":
		return !IsExampleFile(name)
	case "json", "yaml", "yml", "toml", "ini", "cfg", "conf", "properties", "xml", "txt", "csv", "":
		if strings.HasSuffix(stem, ".example") || strings.HasSuffix(stem, ".sample") || strings.HasSuffix(stem, ".template") || strings.HasSuffix(stem, ".schema") {
			return false
		}
		stem, _, _ = strings.Cut(strings.TrimPrefix(stem, "."), ".") // secrets.production.yml
		stem = strings.NewReplacer("_", "-", " ", "-").Replace(stem)
		switch stem {
		case "credentials", "credential", "secrets", "secret", "service-account", "serviceaccount", "service-account-key", "client-secret", "client-secrets", "passwords", "apikeys", "api-keys", "private-key", "kubeconfig":
			return true
		}
		return strings.HasPrefix(stem, "service-account-") || strings.HasPrefix(stem, "client-secret-") || strings.Contains(stem, "firebase-adminsdk") || strings.HasSuffix(stem, "-credentials")
	}
	return false
}

func isSecretFile(name string) bool {
	switch name {
	case ".env", ".envrc", ".netrc", "_netrc", ".pgpass", ".git-credentials", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
		".npmrc", ".pypirc", ".htpasswd", ".dockercfg", ".vault-token", ".boto", ".s3cfg", ".my.cnf", "master.key", "terraform.tfstate", "terraform.tfstate.backup":
		return true
	}
	if looksLikeSecretStore(name) {
		return true
	}
	if rest, ok := strings.CutPrefix(name, ".env."); ok {
		switch rest[strings.LastIndexByte(rest, '.')+1:] {
		case "example", "sample", "template", "dist", "defaults":
			return false
		}
		return true
	}
	return false
}
